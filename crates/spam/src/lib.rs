//! Which pages and sites are spam, and by which signs?
//!
//! Every detector gives [`Sign`]s: what it suspects, how surely, and why, in words for people. A
//! [`SpamVerdict`] combines signs. Nothing here decides what is done about it.
//!
//! ```
//! use evercrawl_spam::{PageFeatures, SpamVerdict, page_signs};
//!
//! let page = "<title>pills</title><p>".to_owned() + &"cheap pills online, ".repeat(200);
//! let verdict = SpamVerdict::new(page_signs("http://a.example/", &PageFeatures::of_html(&page)));
//! assert!(verdict.probability > 0.9 && verdict.signs[0].evidence.contains("cheap pills online"));
//! ```
//!
//! # Layout
//!
//! | module | question |
//! |---|---|
//! | `sign` | how sure is one detector, and how sure are several together? |
//! | `page_features` | what does a reader see of a page, what is hidden, and where is the reader sent? |
//! | `phrases` | how repetitive is a text? |
//! | `page` | which signs does one page show? |
//! | `site` | which signs do the pages of a site show together? |
//! | `doors` | where do the pages of a site send their visitors, instead of showing content? |
//! | `farm` | which sites link to each other without use for readers? |
//! | `circle` | which small groups of sites link to each other page by page, without use for readers? |
//! | `network` | which sites stand out by their neighbours? |
//! | `mirrors` | which hosts hold the same pages? |

mod circle;
mod doors;
mod farm;
mod mirrors;
mod network;
mod page;
mod page_features;
mod phrases;
mod sign;
mod site;

pub use circle::circles;
pub use doors::DoorwayEvidence;
pub use farm::{Farms, farms};
pub use mirrors::{HostSample, Mirror, mirrors};
pub use network::SiteNetwork;
pub use page::page_signs;
pub use page_features::PageFeatures;
pub use sign::{Sign, SignKind, SpamVerdict};
pub use site::SiteFeatures;
