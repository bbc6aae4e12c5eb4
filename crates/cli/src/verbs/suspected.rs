//! What does it mean for a page that its host is taken for spam, and how is it undone?

use evercrawl_engine::overrides::Overrides;
use evercrawl_engine::suspicion::{SuspectAction, Suspects};
use evercrawl_model::{HostKey, PageKey, Refusal, Suspicion};
use evercrawl_state::{PageRow, PageStatus};

use super::Opened;
use crate::crawl_config;

/// A host that was taken for spam.
pub(crate) struct Suspected {
    suspicion: Suspicion,
    name: String,
    /// What is done about it, if anything.
    action: SuspectAction,
}

/// What becomes of a page of such a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lot {
    /// It is visited like any other.
    Visited,
    /// It is not, or was not.
    PutAside,
    /// It will not be when its turn comes.
    ToBePutAside,
    /// It was not, and is again once a crawl runs.
    Returns,
}

impl Suspected {
    /// What is kept of a host.
    pub(crate) fn read(opened: &Opened, host: HostKey) -> anyhow::Result<Option<Self>> {
        let Some(suspicion) = opened.state.suspicion(host)? else { return Ok(None) };
        let config = crawl_config::spam(&opened.settings)?;
        let acts = Suspects::read(&opened.state, &config)?.contains(host);
        let action = if acts { config.action } else { SuspectAction::Report };
        let name = opened.state.host(host)?.map_or_else(String::new, |row| row.authority);
        Ok(Some(Suspected { suspicion, name, action }))
    }

    /// What it is taken for, what is done about it, and how to undo that.
    pub(crate) fn words(&self) -> String {
        let done = match self.action {
            SuspectAction::Lower => "it counts less and is asked rarely",
            SuspectAction::Exclude => "its pages are left out, but for seeds and what is pinned",
            SuspectAction::Report => "nothing is done about it",
        };
        let undo = match self.action {
            SuspectAction::Report => String::new(),
            _ => format!("; `evercrawl trust {}` undoes that", self.name),
        };
        let Suspicion { probability, evidence, at } = &self.suspicion;
        format!("{:.0} % likely by {at}: {evidence}; {done}{undo}", 100.0 * probability)
    }

    /// When a page is visited next, where that is not `usual`: what would be said of it otherwise.
    pub(crate) fn next(
        &self,
        page: PageKey,
        row: &PageRow,
        overrides: &Overrides,
        usual: &str,
    ) -> Option<String> {
        let name = &self.name;
        let until = format!("not fetched while {name} is taken for spam");
        match lot(self.action, row, overrides.pin_interval(page).is_some()) {
            Lot::Visited => None,
            Lot::PutAside => Some(format!(
                "{until}: it is put aside, and what was archived of it stays; `evercrawl trust {name}` puts it back \
                 to where it was"
            )),
            Lot::ToBePutAside => Some(format!(
                "{until}: it is put aside once its turn comes ({usual}); `evercrawl trust {name}` lets it be fetched \
                 then"
            )),
            Lot::Returns => Some("comes back to where it was once a crawl runs".to_owned()),
        }
    }
}

fn lot(action: SuspectAction, row: &PageRow, pinned: bool) -> Lot {
    let left_out = action == SuspectAction::Exclude && !row.seed && !pinned;
    match row.status {
        PageStatus::Refused(Refusal::Spam) if left_out => Lot::PutAside,
        PageStatus::Refused(Refusal::Spam) => Lot::Returns,
        _ if left_out && row.place.is_some() => Lot::ToBePutAside,
        _ => Lot::Visited,
    }
}
