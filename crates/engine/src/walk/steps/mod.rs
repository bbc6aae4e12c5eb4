//! The steps that a visit's completion takes, each by itself. [`completion`](super::completion) has their order.
//!
//! - [`host_pace`]: when may the host be asked again?
//! - [`link_evidence`]: what do the page's links say about the pages that they lead to?
//! - [`found_links`]: which URLs does the page lead to, and how much do they matter?
//! - [`next_visit`]: when is the page visited again?
//! - [`soft_404`]: how does the host answer for what does not exist?
//! - [`moved`]: where has the page gone?
//! - [`mirrors`]: which other hosts have the same page?

pub(super) mod found_links;
pub(super) mod host_pace;
pub(super) mod link_evidence;
pub(super) mod mirrors;
pub(super) mod moved;
pub(super) mod next_visit;
pub(super) mod soft_404;
#[cfg(test)]
pub(super) mod test_visit;
