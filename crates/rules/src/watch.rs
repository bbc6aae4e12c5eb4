//! What does one `[watch.NAME]` watch, and for what?

use evercrawl_regions::Region;
use regex::Regex;

use crate::condition::Condition;
use crate::facts::Field;
use crate::phrases::Phrases;
use crate::works::Works;

/// A rule of the user's.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Its name.
    pub name: String,
    pub(crate) of: Chosen,
    pub(crate) except: Chosen,
    pub(crate) region: Option<Region>,
    pub(crate) region_css: Option<String>,
    /// When to tell.
    pub when: Condition,
    /// Seconds after which a second visit has to agree.
    pub confirm: Option<f64>,
    /// The file of phrases.
    pub phrases: Option<String>,
    /// The folder, or file, of works.
    pub works: Option<String>,
}

/// Pages by tag, host and URL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) tags: Vec<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) urls: Vec<Regex>,
}

impl Chosen {
    pub(crate) fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.hosts.is_empty() && self.urls.is_empty()
    }
}

/// What the files that a watch names hold.
#[derive(Clone, Debug, Default)]
pub struct Materials {
    /// Its phrases.
    pub phrases: Option<Phrases>,
    /// Its works.
    pub works: Option<Works>,
}

impl Watch {
    /// Whether it looks at what learned noise would hide: what the user declared is never noise.
    pub fn looks_beneath_noise(&self) -> bool {
        let declares = |field: &Field| {
            matches!(
                field,
                Field::Price
                    | Field::PriceChange
                    | Field::PriceBefore
                    | Field::Availability
                    | Field::Phrase
                    | Field::CopiedWords
                    | Field::Contains
                    | Field::Appears
                    | Field::Title
            )
        };
        self.region.is_some() || self.when.fields().iter().any(declares)
    }

    /// Whether it waits for time to pass, so that visits that find nothing are of interest.
    pub fn waits(&self) -> bool {
        self.when.fields().into_iter().any(Field::is_lasting)
    }

    /// Whether it has to be told which words changed.
    pub fn asks_for_words(&self) -> bool {
        let of_words =
            [Field::Change, Field::Score, Field::WordsAdded, Field::WordsRemoved, Field::Appears];
        self.region.is_none() && self.when.fields().iter().any(|field| of_words.contains(field))
    }

    /// Whether it looks at the status of every answer.
    pub fn asks_for_status(&self) -> bool {
        self.when.fields().contains(&Field::Status)
    }
}
