//! Which elements does a CSS selector choose? Read once, and matched against a page in time linear in both.
//!
//! A selector is matched from the front: each element knows which beginnings of the selector end at it, at its parent,
//! at some element around it and at the siblings before it. So no selector and no page makes it look back.

mod matching;
mod nth;
mod read;

use std::fmt;
use std::str::FromStr;

pub(crate) use matching::matches;
use nth::Nth;

/// Why a text is no selector that is understood here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{selector}` is not a selector that can be used: {why}")]
pub struct BadSelector {
    selector: String,
    why: String,
}

/// A list of CSS selectors, such as `main .price, #stock`: what any of them chooses.
///
/// Understood are types, `*`, `#id`, `.class`, attributes with all operators, the four combinators, `:nth-child()` and
/// its kin, `:not()`, `:is()`, `:where()` and `:has()` with one simple selector, `:root`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    text: String,
    pub(crate) list: Vec<Complex>,
}

impl FromStr for Selector {
    type Err = BadSelector;

    fn from_str(text: &str) -> Result<Self, BadSelector> {
        let list = read::read(text);
        let list = list.map_err(|why| BadSelector { selector: text.to_owned(), why })?;
        Ok(Selector { text: text.to_owned(), list })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Compound selectors with what stands between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complex {
    /// Each with how it is joined to the one before it.
    pub(crate) parts: Vec<(Combinator, Vec<Simple>)>,
}

/// How two elements stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combinator {
    /// The second is somewhere in the first.
    Descendant,
    /// The second is a child of the first.
    Child,
    /// The second follows the first at once.
    Next,
    /// The second follows the first.
    Later,
}

/// One condition on an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Simple {
    Type(String),
    Id(String),
    Class(String),
    Attribute { name: String, test: Test, value: String, any_case: bool },
    Root,
    Place { nth: Nth, of_name: bool, from_end: bool },
    Only { of_name: bool },
    Not(Vec<Complex>),
    Is(Vec<Complex>),
    Has(Vec<(Combinator, Complex)>),
}

/// How the value of an attribute is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    There,
    Equals,
    Word,
    Dash,
    Begins,
    Ends,
    Contains,
}
