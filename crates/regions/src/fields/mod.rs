//! What does a page declare about itself: title, date, price, availability?
//!
//! JSON-LD, microdata and RDFa are brought into one form, nodes with properties ([`node`]), and read by one reader
//! ([`offers`]), in this order; then come `og:` and `product:` metadata.

mod amount;
mod availability;
mod json_ld;
mod markup;
mod meta;
mod node;
mod offers;

pub use amount::Price;
pub use availability::Availability;

use evercrawl_extract::{Extractor, HtmlOptions};

use crate::tree::PageTree;

/// What a page declares about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageFields {
    /// Its title.
    pub title: Option<String>,
    /// When it was published, as it says.
    pub published: Option<String>,
    /// What its main thing costs: the lowest price of those that can be had.
    pub price: Option<Price>,
    /// Whether it can be had.
    pub availability: Option<Availability>,
}

impl PageFields {
    /// Reads the fields of a page.
    pub fn read(html: &str) -> Self {
        Self::read_in(&PageTree::read(html))
    }

    /// The same, of a page whose elements were read.
    pub fn read_in(tree: &PageTree<'_>) -> Self {
        let meta = meta::read(tree);
        let mut fields = PageFields::default();
        for nodes in [json_ld::read(tree), markup::microdata(tree), markup::rdfa(tree)] {
            fields.fill_in(offers::read(&nodes));
        }
        fields.fill_in(meta);
        fields.title = title(tree).or(fields.title);
        fields
    }

    /// Takes what is missing from what was declared in another way.
    fn fill_in(&mut self, other: PageFields) {
        self.title = self.title.take().or(other.title);
        self.published = self.published.take().or(other.published);
        self.availability = self.availability.or(other.availability);
        match (&mut self.price, other.price) {
            (None, price) => self.price = price,
            (Some(own), Some(other)) if own.currency.is_none() => own.currency = other.currency,
            _ => {}
        }
    }
}

/// What stands in the `<title>`, as the text of the page is told.
fn title(tree: &PageTree<'_>) -> Option<String> {
    let id = tree.elements.iter().position(|element| {
        let is_heads = element.parent.is_some_and(|parent| &*tree.elements[parent].name == "head");
        &*element.name == "title" && is_heads
    })?;
    let options = HtmlOptions::default();
    Extractor::new().extract_html(tree.source(id), &options).title.clone()
}
