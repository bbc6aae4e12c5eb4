//! What is known beside the pages' rows, and what does that say of a page? What the user set, which hosts are mirrors
//! or taken for spam, what pages of a host matter.

use std::collections::HashMap;
use std::sync::Arc;

use evercrawl_model::{HostKey, PageKey, Refusal};
use evercrawl_state::{PageRow, Store, View};

use crate::EngineError;
use crate::importance::MeanHostImportance;
use crate::mirrors::{Mirrors, find_stand_in};
use crate::overrides::Overrides;
use crate::suspicion::{SpamConfig, Suspects};
use crate::unmasked::Unmasked;

/// What is known beside the pages' rows.
pub(super) struct Insight {
    /// What the user set.
    pub(super) overrides: Arc<Overrides>,
    /// Which hosts are like others.
    pub(super) mirrors: Mirrors,
    /// The hosts that are taken for spam, as far as something is done about it.
    pub(super) suspects: Arc<Suspects>,
    /// What pages of each host matter on average, by the latest ranking.
    pub(super) usual: MeanHostImportance,
    /// Sets of tags that were asked about.
    pub(super) tags: TagsOfInterest,
    /// Pages on which nothing is masked as noise.
    pub(super) unmasked: Unmasked,
    /// Whether what a mirror and its original both have is fetched from the original alone.
    pub(super) holds_mirrors: bool,
}

impl Insight {
    /// What the state says.
    pub(super) fn read<S: Store>(
        view: &View<S>,
        spam: &SpamConfig,
        holds_mirrors: bool,
        tags_of_interest: &[String],
        noise_off: &[String],
    ) -> Result<Self, EngineError> {
        Ok(Insight {
            overrides: Arc::new(Overrides::read(view)?),
            mirrors: Mirrors::read(view)?,
            suspects: Arc::new(Suspects::read(view, spam)?),
            usual: MeanHostImportance::default(),
            tags: TagsOfInterest::new(tags_of_interest),
            unmasked: Unmasked::new(noise_off)?,
            holds_mirrors,
        })
    }

    /// Why a page is not to be fetched for now, if so.
    pub(super) fn refusal<S: Store>(
        &self,
        view: &View<S>,
        page: PageKey,
        row: &PageRow,
    ) -> Result<Option<Refusal>, EngineError> {
        if self.overrides.is_excluded(&row.url) {
            return Ok(Some(Refusal::Excluded));
        }
        if self.overrides.is_trusted(page.host) || self.overrides.pin_interval(page).is_some() {
            return Ok(None);
        }
        // What the user gave is fetched, whatever its host is taken for.
        if self.suspects.excludes(page.host) && !row.seed {
            return Ok(Some(Refusal::Spam));
        }
        Ok(self.waits_for_original(view, page, row)?.then_some(Refusal::Mirror))
    }

    /// Whether the original of its host, or another mirror of that, has a page too, and can be asked for it.
    fn waits_for_original<S: Store>(
        &self,
        view: &View<S>,
        page: PageKey,
        row: &PageRow,
    ) -> Result<bool, EngineError> {
        let may_be_asked = |host: HostKey| !self.overrides.is_paused(host);
        let original = self.mirrors.original_of(page.host).filter(|_| self.holds_mirrors);
        if !original.is_some_and(may_be_asked) {
            return Ok(false);
        }
        Ok(find_stand_in(view, &self.mirrors, page, row, may_be_asked)?.is_some())
    }
}

/// Which sets of tags have one that the user is interested in.
#[derive(Debug, Default)]
pub(super) struct TagsOfInterest {
    wanted: Vec<String>,
    /// Sets that were read, and whether one of theirs is wanted.
    known: HashMap<u32, bool>,
}

impl TagsOfInterest {
    fn new(wanted: &[String]) -> Self {
        TagsOfInterest { wanted: wanted.to_vec(), known: HashMap::new() }
    }

    /// Whether the set of this number has such a tag.
    pub(super) fn has<S: Store>(&mut self, view: &View<S>, set: u32) -> Result<bool, EngineError> {
        if set == 0 || self.wanted.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.known.get(&set) {
            return Ok(*known);
        }
        let is_wanted = |tags: &String| {
            tags.split_whitespace().any(|tag| self.wanted.iter().any(|wanted| wanted == tag))
        };
        let sets = view.tag_sets()?;
        self.known = sets.iter().map(|(number, tags)| (*number, is_wanted(tags))).collect();
        Ok(self.known.get(&set).copied().unwrap_or(false))
    }
}
