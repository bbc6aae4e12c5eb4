//! What does it mean for a page that its host is taken for spam?

use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::overrides::Overrides;
use evercrawl_insight::suspicion::{SuspectAction, Suspects};
use evercrawl_model::{HostKey, PageKey, Refusal, Suspicion};
use evercrawl_state::{PageRow, PageStatus, Store};
use serde::{Deserialize, Serialize};

use super::{Inputs, SpamStep, Step, Verdict};
use crate::code::At;
use crate::source::{QueryError, Source};

/// What is done about a host that is taken for spam.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpamAction {
    /// Nothing.
    Report,
    /// It counts less, and is asked rarely.
    Lower,
    /// Its pages are left out, except seeds and pinned pages.
    Exclude,
}

impl From<SuspectAction> for SpamAction {
    fn from(action: SuspectAction) -> Self {
        match action {
            SuspectAction::Report => SpamAction::Report,
            SuspectAction::Lower => SpamAction::Lower,
            SuspectAction::Exclude => SpamAction::Exclude,
        }
    }
}

/// What becomes of a page whose host is taken for spam, where it is not visited like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpamEffect {
    /// It was put aside.
    PutAside,
    /// It will be put aside when it comes up.
    ToBePutAside,
    /// It was put aside, and comes back once a crawl runs.
    Returns,
}

/// A host that is taken for spam.
pub(super) struct Suspected {
    suspicion: Suspicion,
    name: String,
    action: SuspectAction,
}

impl Suspected {
    /// What is kept of a host, and what is done about it.
    pub(super) fn read<S: Store>(
        source: &Source<'_, S>,
        config: &WalkConfig,
        host: HostKey,
    ) -> Result<Option<Self>, QueryError> {
        let Some(suspicion) = source.state.suspicion(host)? else { return Ok(None) };
        let spam = &config.plan.spam;
        let acts = Suspects::read(source.state, spam)?.contains(host);
        let action = if acts { spam.action } else { SuspectAction::Report };
        Ok(Some(Suspected { suspicion, name: source.host_name(host)?, action }))
    }

    /// What becomes of a page of the host; `None` where it is visited like any other.
    pub(super) fn effect(
        &self,
        page: PageKey,
        row: &PageRow,
        overrides: &Overrides,
    ) -> Option<SpamEffect> {
        let pinned = overrides.pin_interval(page).is_some();
        let left_out = self.action == SuspectAction::Exclude && !row.seed && !pinned;
        match row.status {
            PageStatus::Refused(Refusal::Spam) if left_out => Some(SpamEffect::PutAside),
            PageStatus::Refused(Refusal::Spam) => Some(SpamEffect::Returns),
            _ if left_out && row.place.is_some() => Some(SpamEffect::ToBePutAside),
            _ => None,
        }
    }

    pub(super) fn step(self) -> Step {
        let verdict = match self.action {
            SuspectAction::Exclude => Verdict::Refuse,
            SuspectAction::Report | SuspectAction::Lower => Verdict::Info,
        };
        let Suspicion { probability, evidence, at } = self.suspicion;
        let step = SpamStep {
            host: self.name,
            probability: probability.into(),
            seen: At(at),
            evidence,
            action: self.action.into(),
        };
        Step::new(Inputs::Spam(step), verdict)
    }
}
