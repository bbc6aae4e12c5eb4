//! What do `og:`, `product:` and other metadata say?

use super::{Availability, PageFields, Price};
use crate::tree::PageTree;

/// Reads the metadata of a page.
pub(super) fn read(tree: &PageTree<'_>) -> PageFields {
    let metas: Vec<(String, &str)> = tree
        .elements
        .iter()
        .filter(|element| &*element.name == "meta")
        .filter_map(|element| {
            let name = element.attribute("property").or_else(|| element.attribute("name"))?;
            let content = element.attribute("content")?.trim();
            (!content.is_empty()).then(|| (name.trim().to_ascii_lowercase(), content))
        })
        .collect();
    let first = |names: &[&str]| {
        names.iter().find_map(|name| Some(metas.iter().find(|(has, _)| has == name)?.1))
    };
    let currency = first(&[
        "product:sale_price:currency",
        "product:price:currency",
        "og:price:currency",
        "twitter:currency",
    ]);
    let amount = first(&["product:sale_price:amount", "product:price:amount", "og:price:amount"]);
    let labelled = |label: &str, data: &str| {
        let is_price = first(&[label]).is_some_and(|label| label.to_lowercase().contains("price"));
        first(&[data]).filter(|_| is_price)
    };
    let amount = amount
        .or_else(|| labelled("twitter:label1", "twitter:data1"))
        .or_else(|| labelled("twitter:label2", "twitter:data2"));
    let available = first(&["product:availability", "og:availability"]);
    let published = first(&[
        "article:published_time",
        "og:article:published_time",
        "datepublished",
        "date",
        "dc.date.issued",
        "dc.date",
        "dcterms.date",
        "pubdate",
    ]);
    PageFields {
        title: first(&["og:title", "twitter:title"]).map(str::to_owned),
        published: published.map(str::to_owned),
        price: amount.and_then(|amount| Price::declared(amount, currency)),
        availability: available.and_then(Availability::read),
    }
}
