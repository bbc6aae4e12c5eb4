//! What would a web be like that is made to order? A world from a page of TOML.
//!
//! | module | question |
//! |---|---|
//! | `read` | what does the file say, and where does it say nonsense? |
//! | `spec` | what is said of the world? |
//! | `layout` | which page lies where, and links to what? |
//! | `build` | which pages, hosts and links are there? |
//! | `processes` | when does each page change? |
//! | `gaps` | how are changes spread over time? |
//! | `season` | when is there most to do? |
//! | `batches` | which pages change together? |
//! | `spread` | how do pages differ? |
//! | `dice` | where do draws come from? |

mod batches;
mod build;
mod dice;
mod gaps;
mod layout;
mod processes;
mod read;
mod season;
mod spec;
mod spread;

pub use gaps::Gaps;
pub use processes::Processes;
pub use season::Season;
pub use spec::{Batch, Class, Fading, HostKind, Scope, Spec, Turn, Wandering};
pub use spread::{Shape, Spread};
