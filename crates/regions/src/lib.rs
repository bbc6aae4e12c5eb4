//! Which parts of a page did somebody declare, and what do they say?
//!
//! A [`Region`] is a CSS selector, and others for what is left out of it. Its text has the form of the text that
//! `extract` gives of a whole page, so both can be compared in the same way.
//!
//! ```
//! use evercrawl_regions::Region;
//!
//! let region = Region::new("main", &[".clock"]).unwrap();
//! let page = "<nav>Home</nav><main><p>Soup <b>2 €</b><p class=clock>12:04<p>Bread</main>";
//! assert_eq!(region.read(page).unwrap().text, "Soup 2 €\nBread");
//! assert_eq!(region.read("<p>Nothing"), None);
//! ```
//!
//! [`PageFields`] is what a page declares to machines: title, date, price, availability.
//!
//! ```
//! use evercrawl_regions::PageFields;
//!
//! let page = r#"<script type=application/ld+json>{"@type": "Product", "offers":
//!     {"price": "2.50", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}</script>"#;
//! let fields = PageFields::read(page);
//! assert_eq!(fields.price.unwrap().to_string(), "2.50 EUR");
//! assert_eq!(fields.availability.unwrap().code(), "in_stock");
//! ```

mod fields;
mod implied;
mod region;
mod selector;
mod tree;

pub use fields::{Availability, PageFields, Price};
pub use region::{Region, RegionContent};
pub use selector::{BadSelector, Selector};
pub use tree::PageTree;
