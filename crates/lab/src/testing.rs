//! Small worlds to try the lab on.

use evercrawl_policy::{ChangeTimes, Days};

use crate::synthetic::Processes;
use crate::world::{ChangeTruth, HostFacts, LabWorld, PageFact, Span};

/// Pages with given changes, scored from 0 on.
pub(crate) fn listed(pages: Vec<PageFact>, changes: &[(u32, Days)], to: Days) -> LabWorld {
    let truth = ChangeTruth::Listed(ChangeTimes::new(pages.len(), changes));
    world(pages, truth, Span { since: 0.0, begin: 0.0, from: 0.0, to })
}

/// Pages that change at random at the given rates.
pub(crate) fn poisson(seed: u64, rates: &[f64], from: Days, to: Days) -> LabWorld {
    let truth = ChangeTruth::Drawn(Processes::poisson(seed, rates, (0.0, to)));
    world(vec![PageFact::PLAIN; rates.len()], truth, Span { since: 0.0, begin: 0.0, from, to })
}

fn world(pages: Vec<PageFact>, truth: ChangeTruth, span: Span) -> LabWorld {
    LabWorld {
        name: "small".to_owned(),
        pages,
        hosts: vec![HostFacts::plain("host")],
        truth,
        server: None,
        span,
        urls: Vec::new(),
        past: Vec::new(),
    }
}
