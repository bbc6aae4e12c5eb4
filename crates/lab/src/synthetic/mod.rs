//! What would a web be like that is made to order? A world from a page of TOML.
//!
//! | module | question |
//! |---|---|
//! | `read` | what does the file say, and where does it say nonsense? |
//! | `spec` | what does the description of a world say? |
//! | `layout` | which page lies where, and links to what? |
//! | `build` | which pages, hosts and links are there? |
//! | `processes` | when does each page change? |
//! | `lines` | what is stored per page? |
//! | `gaps` | how are changes spread over time? |
//! | `season` | when is there most to do? |
//! | `batches` | which pages change together? |
//! | `spread` | how do pages differ? |
//! | `summary` | what is a world like, in one line? |
//! | `shipped` | which worlds come with the program? |

mod batches;
mod build;
mod gaps;
mod layout;
mod lines;
mod processes;
mod read;
mod season;
mod shipped;
mod spec;
mod spread;
mod summary;
#[cfg(test)]
mod tests;

pub use gaps::GapDistribution;
pub use processes::Processes;
pub use season::Season;
pub use shipped::{SHIPPED, Shipped};
pub use spec::{Batch, BatchScope, Fading, HostKind, PageClass, StateTurn, Wandering, WorldSpec};
pub use spread::{SpreadShape, ValueSpread};
pub use summary::WorldSummary;
