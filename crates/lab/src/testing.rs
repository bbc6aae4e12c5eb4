//! Small worlds to try the lab on.

use evercrawl_policy::{ChangeTimes, Days};

use crate::synthetic::Processes;
use crate::world::{Fact, HostFacts, Span, Truth, World};

/// Pages that change when they are told to, scored from 0 on.
pub(crate) fn listed(pages: Vec<Fact>, changes: &[(u32, Days)], to: Days) -> World {
    let truth = Truth::Listed(ChangeTimes::new(pages.len(), changes));
    world(pages, truth, Span { since: 0.0, begin: 0.0, from: 0.0, to })
}

/// Pages that change at random at the given rates.
pub(crate) fn poisson(seed: u64, rates: &[f64], from: Days, to: Days) -> World {
    let truth = Truth::Drawn(Processes::poisson(seed, rates, (0.0, to)));
    world(vec![Fact::PLAIN; rates.len()], truth, Span { since: 0.0, begin: 0.0, from, to })
}

fn world(pages: Vec<Fact>, truth: Truth, span: Span) -> World {
    World {
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
