//! What can be wished on the command line?

use std::time::Duration;

use clap::{Args, Subcommand};
use evercrawl_query::OverrideRequest;

use crate::args::Common;
use crate::units;

/// What the user wishes of a crawl, whether it runs or not.
#[derive(Debug, Subcommand)]
pub(crate) enum Override {
    /// Visit a URL at least so often, whatever the policy thinks; without a URL, list the pins
    Pin(Pin),
    /// Make pages that match a pattern count more, or less; without one, list the boosts
    Boost(Boost),
    /// Ask a host for nothing until it is resumed; without one, list the paused hosts
    Pause(Pause),
    /// Crawl a host like any other, though it is taken for a mirror or for spam; without one, list such hosts
    Trust(Trust),
    /// Neither fetch nor follow pages that match a pattern; without one, list the exclusions
    Exclude(Exclude),
    /// End what was wished for a URL, a pattern or a host
    Resume(Resume),
    /// Everything that is wished: pins, boosts, pauses, hosts trusted, exclusions
    #[command(alias = "wishes")]
    Overrides(About),
}

impl Override {
    /// What is asked of the crawl.
    pub(super) fn request(&self) -> OverrideRequest {
        let remove = |what: &str, kind: &str| OverrideRequest::Remove {
            what: what.to_owned(),
            kind: Some(kind.to_owned()),
        };
        let list = |kind: &str| OverrideRequest::List { kind: Some(kind.to_owned()) };
        match self {
            Override::Pin(Pin { url: Some(url), remove: true, .. }) => remove(url, "pin"),
            Override::Pin(Pin { url: Some(url), every, .. }) => OverrideRequest::Pin {
                url: url.clone(),
                every_seconds: every.map(|every| every.as_secs_f64()),
            },
            Override::Pin(_) => list("pin"),
            Override::Boost(Boost { pattern: Some(pattern), remove: true, .. }) => {
                remove(pattern, "boost")
            }
            Override::Boost(Boost { pattern: Some(pattern), times, .. }) => {
                OverrideRequest::Boost { pattern: pattern.clone(), times: *times }
            }
            Override::Boost(_) => list("boost"),
            Override::Pause(Pause { host: Some(host), .. }) => {
                OverrideRequest::Pause { host: host.clone() }
            }
            Override::Pause(_) => list("pause"),
            Override::Trust(Trust { host: Some(host), .. }) => {
                OverrideRequest::Trust { host: host.clone() }
            }
            Override::Trust(_) => list("trust"),
            Override::Exclude(Exclude { pattern: Some(pattern), remove: true, .. }) => {
                remove(pattern, "exclude")
            }
            Override::Exclude(Exclude { pattern: Some(pattern), dry_run, force, .. }) => {
                let (dry_run, force) = (*dry_run, *force);
                OverrideRequest::Exclude { pattern: pattern.clone(), dry_run, force }
            }
            Override::Exclude(_) => list("exclude"),
            Override::Resume(args) => {
                OverrideRequest::Remove { what: args.what.clone(), kind: None }
            }
            Override::Overrides(_) => OverrideRequest::List { kind: None },
        }
    }

    /// Where the data is, and how to show the answer.
    pub(super) fn about(&self) -> &About {
        match self {
            Override::Pin(args) => &args.about,
            Override::Boost(args) => &args.about,
            Override::Pause(args) => &args.about,
            Override::Trust(args) => &args.about,
            Override::Exclude(args) => &args.about,
            Override::Resume(args) => &args.about,
            Override::Overrides(about) => about,
        }
    }
}

/// What all these verbs take.
#[derive(Debug, Args)]
pub(crate) struct About {
    #[command(flatten)]
    pub(super) common: Common,
    /// JSON Lines instead of words
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    /// The URL; one that is not known becomes a seed, if it is in scope
    pub(super) url: Option<String>,
    /// The longest time from one visit to the next: from 1s to 365d
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) every: Option<Duration>,
    /// End the pin
    #[arg(long, requires = "url", conflicts_with = "every")]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Boost {
    /// A regular expression that matches anywhere in a URL, as for `crawl --include`
    pub(super) pattern: Option<String>,
    /// What the weight of a page is multiplied by: x0.01 to x1000
    #[arg(value_name = "xN", value_parser = units::factor)]
    pub(super) times: Option<f32>,
    /// End the boost
    #[arg(long, requires = "pattern", conflicts_with = "times")]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// The host, with its port where that is not the usual one
    pub(super) host: Option<String>,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The host, with its port where that is not the usual one
    pub(super) host: Option<String>,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Exclude {
    /// A regular expression that matches anywhere in a URL, as for `crawl --exclude`
    pub(super) pattern: Option<String>,
    /// Only count the known pages that match, and show some
    #[arg(long, requires = "pattern")]
    pub(super) dry_run: bool,
    /// Even when no known page would be left
    #[arg(long)]
    pub(super) force: bool,
    /// End the exclusion: pages come back to where they were
    #[arg(long, requires = "pattern", conflicts_with_all = ["dry_run", "force"])]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// What was given to `pause`, `trust`, `exclude`, `pin` or `boost`
    #[arg(value_name = "HOST|PATTERN|URL")]
    pub(super) what: String,
    #[command(flatten)]
    pub(super) about: About,
}
