//! The walk itself: due, fetch, extract, compare, archive, commit, next due.
