//! Which overrides can be set on the command line?

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use evercrawl_query::OverrideRequest;

use crate::args::Common;
use crate::units;

const OVERRIDES_EXAMPLES: &str = "Examples:
  evercrawl overrides --data web                 list all
  evercrawl overrides rm /news/ --data web       remove what was set for /news/";

/// The verbs that set, list and remove overrides.
#[derive(Debug, Subcommand)]
pub(crate) enum Override {
    /// Visit a URL at a fixed interval, or list the pins
    #[command(after_help = "Example: evercrawl pin https://example.org/ --every 1h --data web")]
    Pin(Pin),
    /// Change the weight of matching pages, or list the boosts
    #[command(after_help = "Example: evercrawl boost /news/ --weight 5 --data web")]
    Boost(Boost),
    /// Stop requests to a host until it is resumed, or list the pauses
    Pause(Pause),
    /// Never treat a host as spam or a mirror, or list trusted hosts
    Trust(Trust),
    /// Stop fetching matching pages, or list the exclusions
    #[command(after_help = "Example: evercrawl exclude '/private/' --dry-run --data web")]
    Exclude(Exclude),
    /// Show the noise learned for a page, or forget it
    #[command(after_help = "Example: evercrawl noise https://example.org/ --forget --data web")]
    Noise(Noise),
    /// Resume a paused host, or remove another override
    Resume(Resume),
    /// List all overrides, or remove one
    ///
    /// An override is a pin, boost, pause, trust or exclusion.
    #[command(alias = "wishes", after_help = OVERRIDES_EXAMPLES)]
    Overrides(Overrides),
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
            Override::Boost(Boost { pattern: Some(pattern), weight, times, .. }) => {
                OverrideRequest::Boost { pattern: pattern.clone(), times: weight.or(*times) }
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
            Override::Noise(args) => {
                OverrideRequest::Noise { url: args.url.clone(), forget: args.forget }
            }
            Override::Resume(args) => {
                OverrideRequest::Remove { what: args.what.clone(), kind: None }
            }
            Override::Overrides(Overrides { action: Action::Rm, what: Some(what), .. }) => {
                OverrideRequest::Remove { what: what.clone(), kind: None }
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
            Override::Noise(args) => &args.about,
            Override::Resume(args) => &args.about,
            Override::Overrides(args) => &args.about,
        }
    }
}

/// What all these verbs take.
#[derive(Debug, Args)]
pub(crate) struct About {
    #[command(flatten)]
    pub(super) common: Common,
    /// Print JSON Lines
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    /// The URL; an unknown one in scope becomes a seed
    pub(super) url: Option<String>,
    /// Maximum time between two visits, from 1s to 365d
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) every: Option<Duration>,
    /// Remove the pin
    #[arg(long, requires = "url", conflicts_with = "every")]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Noise {
    /// The page
    pub(super) url: String,
    /// Forget what was learned, on all pages with URLs like it: the next differences count until they are learned again
    #[arg(long)]
    pub(super) forget: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Boost {
    /// Regular expression, matched anywhere in a URL, as in `crawl --include`
    pub(super) pattern: Option<String>,
    /// Factor for the weight of each page, from 0.01 to 1000
    #[arg(long, value_name = "N", value_parser = units::factor, requires = "pattern")]
    pub(super) weight: Option<f32>,
    /// The same without the flag, as in `boost /news/ x5`
    #[arg(value_name = "xN", value_parser = units::factor, hide = true, conflicts_with = "weight")]
    pub(super) times: Option<f32>,
    /// Remove the boost
    #[arg(long, requires = "pattern", conflicts_with_all = ["weight", "times"])]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// Host name, with the port if it is not the default one
    pub(super) host: Option<String>,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Host name, with the port if it is not the default one
    pub(super) host: Option<String>,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Exclude {
    /// Regular expression, matched anywhere in a URL, as in `crawl --exclude`
    pub(super) pattern: Option<String>,
    /// Only count the known pages that match, and show examples
    #[arg(long, requires = "pattern")]
    pub(super) dry_run: bool,
    /// Exclude even if no known page would be left
    #[arg(long)]
    pub(super) force: bool,
    /// Remove the exclusion; excluded pages return to their earlier state
    #[arg(long, requires = "pattern", conflicts_with_all = ["dry_run", "force"])]
    pub(super) remove: bool,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The host, pattern or URL given to `pause`, `trust`, `exclude`, `pin` or `boost`
    #[arg(value_name = "HOST|PATTERN|URL")]
    pub(super) what: String,
    #[command(flatten)]
    pub(super) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct Overrides {
    /// What to do
    #[arg(value_enum, default_value_t = Action::List)]
    pub(super) action: Action,
    /// What to remove: a host, pattern or URL given to another verb
    #[arg(value_name = "HOST|PATTERN|URL", required_if_eq("action", "rm"))]
    pub(super) what: Option<String>,
    #[command(flatten)]
    pub(super) about: About,
}

/// What `overrides` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// List all overrides
    List,
    /// Remove the overrides of one host, pattern or URL
    #[value(alias = "remove")]
    Rm,
}
