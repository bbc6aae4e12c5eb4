//! What does a user want to be told of, and is this change such a thing?
//!
//! [`Rules`] are read from TOML, with all mistakes told at once where they stand. A [`Watch`] judges an
//! [`Observation`] of a page, with the versions before and after where there are some, and gives a [`Finding`] with
//! the passage that shows it. Nothing is fetched, read or remembered here.

mod condition;
mod facts;
mod folded;
mod judge;
mod nearest;
mod passages;
mod phrases;
mod settings;
mod units;
mod watch;
mod works;

pub use condition::{BadCondition, Condition};
pub use judge::{Finding, Observation, PageVersion};
pub use passages::{WordChanges, word_changes};
pub use phrases::Phrases;
pub use settings::{BadRules, ChannelRule, Quiet, Rules};
pub use units::{duration as read_duration, show_duration};
pub use watch::{Materials, Watch};
pub use works::Works;
