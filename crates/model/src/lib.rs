//! What is a page, a host, a visit, an outcome, an event? Plain values, nothing else.
//!
//! All other crates use these types. They know nothing of disks, sockets or clocks: a [`Time`] is passed in by the
//! caller.

mod cause;
mod event;
mod importance;
mod key;
mod life;
mod likeness;
mod link_evidence;
mod overrides;
mod page;
mod retention;
mod suspicion;
mod time;
mod visit;

pub use cause::Cause;
pub use event::{
    Discovery, Event, HostUpdate, NextVisit, PolicyNotes, RobotsCopy, UrlShape, Visited,
};
pub use importance::Importance;
pub use key::{HostKey, Keyer, PageKey};
pub use life::{LifeChange, LifeState, LogNotice};
pub use likeness::HostLikeness;
pub use link_evidence::{LinkEvidence, Measure};
pub use overrides::Override;
pub use page::{Band, PageKind, Refusal, Validators};
pub use retention::{Dropped, Rewritten, VisitsDropped};
pub use suspicion::Suspicion;
pub use time::{ParseTimeError, Time};
pub use visit::{Change, Outcome, RecordAt, Score, Visit, VisitNoise};
