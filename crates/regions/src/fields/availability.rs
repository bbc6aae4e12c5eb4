//! Can a thing be had? One word for what schema.org and shops call it.

use std::fmt;

/// Whether a thing can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Availability {
    /// At once, be it the last one.
    InStock,
    /// In a shop only.
    InStore,
    /// Later, ordered before it is out.
    Preorder,
    /// Later, once it is there again or was made.
    Backorder,
    /// Not now.
    OutOfStock,
    /// Never again.
    Discontinued,
}

impl Availability {
    /// All of them.
    pub const ALL: [Availability; 6] = [
        Availability::InStock,
        Availability::InStore,
        Availability::Preorder,
        Availability::Backorder,
        Availability::OutOfStock,
        Availability::Discontinued,
    ];

    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            Availability::InStock => "in_stock",
            Availability::InStore => "in_store",
            Availability::Preorder => "preorder",
            Availability::Backorder => "backorder",
            Availability::OutOfStock => "out_of_stock",
            Availability::Discontinued => "discontinued",
        }
    }

    /// What `https://schema.org/InStock`, `in stock` and the like mean.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let last =
            text.trim().trim_end_matches('/').rsplit(['/', '#', ':']).next().unwrap_or_default();
        let bare: String =
            last.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        Some(match bare.as_str() {
            "instock"
            | "limitedavailability"
            | "onlineonly"
            | "available"
            | "limited"
            | "lowstock"
            | "inventory"
            | "availablefororder"
            | "auflager"
            | "lieferbar"
            | "sofortlieferbar"
            | "enstock"
            | "disponible"
            | "disponibile" => Availability::InStock,
            "instoreonly" | "instore" => Availability::InStore,
            "preorder" | "presale" => Availability::Preorder,
            "backorder" | "madetoorder" | "pending" => Availability::Backorder,
            "outofstock" | "soldout" | "reserved" | "oos" | "unavailable" | "notavailable"
            | "ausverkauft" | "nichtlieferbar" | "rupturedestock" | "agotado" => {
                Availability::OutOfStock
            }
            "discontinued" => Availability::Discontinued,
            _ => return None,
        })
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_mean_the_same() {
        for (text, want) in [
            ("https://schema.org/InStock", Some(Availability::InStock)),
            ("http://schema.org/LimitedAvailability ", Some(Availability::InStock)),
            ("schema:SoldOut", Some(Availability::OutOfStock)),
            ("in stock", Some(Availability::InStock)),
            ("Out-of-Stock", Some(Availability::OutOfStock)),
            ("PreOrder", Some(Availability::Preorder)),
            ("discontinued/", Some(Availability::Discontinued)),
            ("perhaps", None),
            ("", None),
        ] {
            assert_eq!(Availability::read(text), want, "{text}");
        }
        for one in Availability::ALL {
            assert_eq!(Availability::read(one.code()), Some(one));
        }
    }
}
