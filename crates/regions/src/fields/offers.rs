//! What does the main thing of a page cost, and can it be had? Of all that nodes declare, the first thing with an
//! offer that does not stand in a list of other things.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::node::{is_of, local, property, text, values};
use super::{Availability, PageFields, Price};

/// How deep nodes are followed, and how many.
const DEEPEST: usize = 12;
const MOST_NODES: usize = 50_000;

/// Properties that name other things than the one that the page is about.
const OTHERS: [&str; 9] = [
    "isRelatedTo",
    "isSimilarTo",
    "isAccessoryOrSparePartFor",
    "itemListElement",
    "review",
    "breadcrumb",
    "isConsumableFor",
    "hasOfferCatalog",
    "recommendations",
];

/// Reads what nodes declare.
pub(super) fn read(nodes: &[Value]) -> PageFields {
    let mut finder = Finder::default();
    for node in nodes {
        finder.note_ids(node, 0);
    }
    for node in nodes {
        finder.visit(node, true, 0);
    }
    let offers = finder.main.or(finder.other).unwrap_or_default();
    let (price, availability) = sum_up(offers);
    PageFields { title: finder.title, published: finder.published, price, availability }
}

/// One offer.
#[derive(Clone, Debug)]
struct Offer {
    price: Option<Price>,
    availability: Option<Availability>,
}

/// The lowest price of what can be had best.
fn sum_up(offers: Vec<Offer>) -> (Option<Price>, Option<Availability>) {
    let best = offers.iter().filter_map(|offer| offer.availability).min();
    let lowest = |among: &mut dyn Iterator<Item = &Offer>| {
        among.filter_map(|offer| offer.price.clone()).min_by(|a, b| a.amount.total_cmp(&b.amount))
    };
    let price = lowest(&mut offers.iter().filter(|offer| offer.availability == best))
        .or_else(|| lowest(&mut offers.iter()));
    (price, best)
}

#[derive(Default)]
struct Finder<'a> {
    ids: HashMap<&'a str, &'a Map<String, Value>>,
    /// The offers of the first thing that the page is about, and of the first one in a list.
    main: Option<Vec<Offer>>,
    other: Option<Vec<Offer>>,
    title: Option<String>,
    published: Option<String>,
    visited: usize,
}

impl<'a> Finder<'a> {
    /// Remembers the nodes that others may refer to.
    fn note_ids(&mut self, value: &'a Value, depth: usize) {
        match value {
            Value::Array(list) if depth < DEEPEST => {
                list.iter().for_each(|one| self.note_ids(one, depth + 1))
            }
            Value::Object(node) if depth < DEEPEST => {
                if let Some(id) = node.get("@id").and_then(Value::as_str).filter(|_| node.len() > 1)
                {
                    self.ids.entry(id).or_insert(node);
                }
                node.values().for_each(|one| self.note_ids(one, depth + 1));
            }
            _ => {}
        }
    }

    fn visit(&mut self, value: &'a Value, is_main: bool, depth: usize) {
        self.visited += 1;
        if depth > DEEPEST || self.visited > MOST_NODES {
            return;
        }
        match value {
            Value::Array(list) => list.iter().for_each(|one| self.visit(one, is_main, depth + 1)),
            Value::Object(node) => self.visit_node(node, is_main, depth),
            _ => {}
        }
    }

    fn visit_node(&mut self, node: &'a Map<String, Value>, is_main: bool, depth: usize) {
        if is_main {
            let published =
                property(node, "datePublished").or_else(|| property(node, "uploadDate"));
            self.published = self.published.take().or_else(|| text(published));
            self.title = self.title.take().or_else(|| text(property(node, "headline")));
        }
        let known = if is_main { &self.main } else { &self.other };
        if known.is_none() {
            let offers = self.offers_of_thing(node, depth);
            if offers.iter().any(|offer| offer.price.is_some() || offer.availability.is_some()) {
                let found = if is_main { &mut self.main } else { &mut self.other };
                *found = Some(offers);
            }
        }
        for (name, value) in node {
            let is_main = is_main && !OTHERS.contains(&local(name));
            self.visit(value, is_main, depth + 1);
        }
    }

    /// The offers of a thing, of its variants, or of an offer that stands by itself.
    fn offers_of_thing(&self, node: &'a Map<String, Value>, depth: usize) -> Vec<Offer> {
        let mut offers = Vec::new();
        if is_of(node, is_offer) {
            self.offer(node, None, depth, &mut offers);
            return offers;
        }
        for name in ["offers", "offer"] {
            self.offers(property(node, name), None, depth, &mut offers);
        }
        for variant in values(property(node, "hasVariant")) {
            if let Some(variant) = self.node(variant).filter(|_| depth < DEEPEST) {
                self.offers(property(variant, "offers"), None, depth + 1, &mut offers);
            }
        }
        offers
    }

    fn offers(
        &self,
        value: Option<&'a Value>,
        currency: Option<&str>,
        depth: usize,
        into: &mut Vec<Offer>,
    ) {
        for value in values(value) {
            if let Some(node) = self.node(value) {
                self.offer(node, currency, depth + 1, into);
            }
        }
    }

    fn offer(
        &self,
        node: &'a Map<String, Value>,
        currency: Option<&str>,
        depth: usize,
        into: &mut Vec<Offer>,
    ) {
        if depth > DEEPEST || into.len() >= 10_000 {
            return;
        }
        let own =
            text(property(node, "priceCurrency")).or_else(|| text(property(node, "currency")));
        let currency = own.as_deref().or(currency);
        let availability =
            text(property(node, "availability")).and_then(|text| Availability::read(&text));
        let inner = into.len();
        self.offers(property(node, "offers"), currency, depth, into);
        let inner_price = into[inner..].iter().any(|offer| offer.price.is_some());
        let price = self.price(node, currency);
        if !inner_price || into[inner..].iter().all(|offer| offer.availability.is_none()) {
            into.push(Offer { price, availability });
        }
    }

    /// The price of an offer: its own, the lowest of several, or what specifies it.
    fn price(&self, node: &'a Map<String, Value>, currency: Option<&str>) -> Option<Price> {
        let amount = |node: &Map<String, Value>, name| {
            let said = values(property(node, name)).iter();
            let said = said.filter_map(|value| Price::declared(&text(Some(value))?, currency));
            said.min_by(|a, b| a.amount.total_cmp(&b.amount))
        };
        let own = ["price", "lowPrice", "minPrice"].iter().find_map(|name| amount(node, name));
        own.or_else(|| self.specified(node, currency)).or_else(|| amount(node, "highPrice"))
    }

    fn specified(&self, node: &'a Map<String, Value>, currency: Option<&str>) -> Option<Price> {
        let all =
            values(property(node, "priceSpecification")).iter().filter_map(|one| self.node(one));
        let all: Vec<_> = all.collect();
        let kind = |one: &Map<String, Value>| {
            text(property(one, "priceType")).map(|kind| local(&kind).to_owned())
        };
        // What it cost before, or should cost, is not what it costs.
        let is_former = |one: &Map<String, Value>| {
            kind(one).is_some_and(|kind| {
                [
                    "ListPrice",
                    "StrikethroughPrice",
                    "MSRP",
                    "SRP",
                    "RegularPrice",
                    "MinimumAdvertisedPrice",
                ]
                .contains(&&*kind)
            }) || is_of(one, |kind| {
                kind == "DeliveryChargeSpecification" || kind == "PaymentChargeSpecification"
            })
        };
        let now = all
            .iter()
            .filter(|one| !is_former(one))
            .find_map(|one| self.of_specification(one, currency));
        now.or_else(|| all.iter().find_map(|one| self.of_specification(one, currency)))
    }

    fn of_specification(&self, node: &Map<String, Value>, currency: Option<&str>) -> Option<Price> {
        let own = text(property(node, "priceCurrency"));
        let said =
            ["price", "minPrice", "value"].iter().find_map(|name| text(property(node, name)))?;
        Price::declared(&said, own.as_deref().or(currency))
    }

    /// A node, or the one that is referred to.
    fn node(&self, value: &'a Value) -> Option<&'a Map<String, Value>> {
        let node = value.as_object()?;
        let referred = node.get("@id").and_then(Value::as_str).filter(|_| node.len() == 1);
        Some(referred.and_then(|id| self.ids.get(id).copied()).unwrap_or(node))
    }
}

fn is_offer(kind: &str) -> bool {
    matches!(kind, "Offer" | "AggregateOffer" | "OfferForPurchase" | "OfferForLease" | "Demand")
}
