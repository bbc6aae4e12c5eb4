//! What does a person see of a crawl in a browser? Views in, pages of HTML out.
//!
//! One function a screen. It takes the views that the verbs print with `--json` and returns a whole page; it reads no
//! file, asks nobody, and knows the time only as it is told. All text that comes from elsewhere is escaped, and what
//! cannot be seen in it is shown ([`words::visible`]). Pages work without scripts; the one script only renews parts of
//! them and moves by keys. There are no inline styles and scripts, so that a strict policy of content holds.
//!
//! - [`frame`]: what is around every screen?
//! - [`overview`]: is all well, and how fresh is it?
//! - [`changes`]: what is new for me?
//! - [`page`]: what do we know of a page, what comes next, and why?
//! - [`diff`]: which words changed?
//! - [`sites`]: which server holds us up?
//! - [`queue`]: what comes, and what should not?
//! - [`budget`]: is it spent well?
//! - [`refusals`]: why is it not crawled?
//! - [`archive`]: can I trust it, and hand it over?
//! - [`settings`]: what holds, and who said so?
//! - [`analytics`]: what do all the figures say? Also as a report in one file.
//! - [`entrance`]: the first minute, signing in, problems.
//! - [`period`]: how far back do curves go?
//! - [`assets`]: which files are screens made of?

pub mod analytics;
pub mod archive;
pub mod assets;
pub mod budget;
pub mod changes;
mod codes;
pub mod diff;
pub mod entrance;
pub mod frame;
pub mod overview;
pub mod page;
mod parts;
pub mod period;
pub mod queue;
pub mod refusals;
pub mod settings;
pub mod sites;
mod steps;
pub mod words;
