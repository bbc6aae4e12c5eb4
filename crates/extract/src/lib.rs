//! Bytes to links, text, title, sitemap and feed entries.
