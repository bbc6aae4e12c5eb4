//! How often does this page change, and how sure are we?
