//! Which addresses stand as plain strings where no markup names them: in scripts, JSON, comments and text?
//!
//! Most strings are no addresses, so they are judged strictly ([`judge`]): what could as well be a MIME type, a version,
//! a pattern, a template or a piece that a program puts together is left out.

mod json;
mod judge;
mod script;
mod text;

pub(crate) use json::{JsonString, read_json};
pub(crate) use judge::{Context, is_address, looks_like_media};
pub(crate) use script::{ScriptBase, read_script};
pub(crate) use text::read_text;
