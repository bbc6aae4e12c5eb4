//! Is this content the same, near, or changed, and by how much?
//!
//! Bytes are told apart by their [`Digest`], texts by their [`Fingerprint`]; [`compare_content`] puts both
//! together for two visits of a page.
//!
//! ```
//! use evercrawl_compare::{ContentSummary, Digest, Fingerprint, Similarity, compare_content};
//!
//! let seen = |page: &str, text: &str| ContentSummary {
//!     digest: Digest::of_bytes(page.as_bytes()),
//!     fingerprint: Fingerprint::of_text(text),
//!     text_len: text.len() as u32,
//! };
//! let before = seen("<p>One text", "One text");
//! let now = seen("<P>One text</P>", "One text");
//! assert_eq!(compare_content(None, &before).similarity, Similarity::First);
//! assert_eq!(compare_content(Some(&before), &now).similarity, Similarity::Near);
//! ```

mod digest;
mod fingerprint;
mod judge;
mod not_found_page;
mod outline;
mod page_memory;
mod place;
mod shape;
mod similarity;
mod site_memory;
mod sketch;
mod soft404;
mod tally;
mod template_memory;
mod time_of_visit;
mod words;

pub use digest::{Digest, NotADigest};
pub use fingerprint::{Fingerprint, NEAR};
pub use judge::{Findings, SecondLook, VisitText};
pub use not_found_page::NotFoundPage;
pub use outline::Outline;
pub use page_memory::PageMemory;
pub use place::LinePlace;
pub use similarity::{Comparison, ContentSummary, Similarity, compare_content};
pub use site_memory::SiteMemory;
pub use soft404::Soft404Profile;
pub use template_memory::{NoiseReason, Observation, TemplateMemory};
