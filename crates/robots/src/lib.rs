//! May we fetch this? RFC 9309, meta robots, X-Robots-Tag.
