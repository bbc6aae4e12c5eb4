//! Does a page run to its end, and does nothing escape?
