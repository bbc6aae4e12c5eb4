//! What is a page, a host, a visit, an outcome, an event? Plain values, nothing else.
//!
//! Every other crate speaks in these types. They know nothing of disks, sockets or clocks: a
//! [`Time`] is handed in by whoever owns one.

mod claim;
mod event;
mod importance;
mod key;
mod life;
mod likeness;
mod overrides;
mod page;
mod retention;
mod suspicion;
mod time;
mod visit;

pub use claim::{LinkEvidence, Measure};
pub use event::{Discovery, Event, HostUpdate, Next, PolicyNotes, RobotsCopy, Shape, Visited};
pub use importance::Importance;
pub use key::{HostKey, Keyer, PageKey};
pub use life::{Life, LifeChange, Notice};
pub use likeness::Likeness;
pub use overrides::Override;
pub use page::{Band, Kind, Refusal, Validators};
pub use retention::{Dropped, Rewritten, VisitsDropped};
pub use suspicion::Suspicion;
pub use time::{ParseTimeError, Time};
pub use visit::{Change, Outcome, RecordAt, Score, Visit};
