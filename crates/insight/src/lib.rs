//! What does the crawl learn besides its visits? From links, archived pages and comparisons of hosts.
//!
//! Nothing here fetches or changes the state: these are readers of what was committed, whose results
//! come back to the walk as events.
//!
//! - [`importance`]: which pages matter, by links?
//! - [`suspicion`]: which hosts are spam, and what is done about them?
//! - [`mirrors`]: which hosts are copies of others?

pub mod importance;
pub mod mirrors;
pub mod suspicion;
