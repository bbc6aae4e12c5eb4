//! Bytes to links, text, title, sitemap and feed entries.

pub mod charset;
pub mod decode;
pub mod html;
