//! In which format is each kind of row written?
//!
//! A batch says it of its rows, so that an earlier version refuses what it would misread.

use crate::rows::{HOST, PAGE, ROBOTS, SOFT_404, VISIT};
use crate::{
    counters, imported, likeness, link_evidence, links, meta, overrides, position, retention,
};
use crate::{reading, spending, suspicion};

/// The formats in their order. A new kind of row comes at the end.
pub(crate) const ROW_FORMATS: [u8; 20] = [
    PAGE,
    VISIT,
    HOST,
    ROBOTS,
    SOFT_404,
    counters::FORMAT,
    spending::FORMAT,
    meta::SETTINGS_FORMAT,
    meta::FILE_FORMAT,
    links::LINKS,
    links::ANCHORS,
    link_evidence::FORMAT,
    likeness::FORMAT,
    suspicion::FORMAT,
    overrides::OVERRIDE,
    overrides::ASIDE,
    retention::DROPPED,
    position::FORMAT,
    reading::FIRST_SEEN,
    imported::FORMAT,
];
