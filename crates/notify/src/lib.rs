//! What did the user's rules find, and did the message arrive?
//!
//! [`Follower`] reads rows of the log and finds hits of the user's rules. Hits are written to the [`Outbox`] and synced
//! before the cursor in the log moves, so that no crash loses one. [`Sender`] brings them to their [`Channel`]s at least
//! once: what is sent is written down before it is sent, so that a repetition has the same delivery id.
//!
//! The clock, chance and secrets are passed in.

mod answer;
mod channels;
mod error;
mod follower;
mod journal;
mod message;
mod outbox;
mod quiet;
mod sender;
mod versions;

pub use answer::Verdict;
pub use channels::{Channel, SecretReader};
pub use error::NotifyError;
pub use follower::{Asker, Follower, Progress, load_materials};
pub use message::Message;
pub use outbox::{Decision, Delivery, DeliveryState, Hit, Outbox};
pub use sender::{Sender, Sent};
