//! What can a condition ask for, and what is it on this page?

use std::cell::OnceCell;

use evercrawl_regions::{Availability, PageFields};

use crate::folded::Folded;
use crate::passages::WordChanges;
use crate::phrases::PhraseUse;
use crate::units::show_duration;
use crate::works::Copied;

/// What a condition can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Change,
    Score,
    WordsAdded,
    WordsRemoved,
    Contains,
    Appears,
    Price,
    PriceBefore,
    PriceChange,
    Currency,
    Availability,
    Status,
    Title,
    Url,
    Host,
    UnchangedFor,
    GoneFor,
    Refused,
    Phrase,
    CopiedWords,
}

/// What a field is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Count,
    Share,
    Duration,
    Text,
    Code(&'static [&'static str]),
    Flag,
}

impl FieldKind {
    pub(crate) fn described(self) -> &'static str {
        match self {
            FieldKind::Count => "a number",
            FieldKind::Share => "a share, such as 5%",
            FieldKind::Duration => "a duration, such as 14d",
            FieldKind::Text => "a text, such as \"Terms\"",
            FieldKind::Code(_) => "one of some words",
            FieldKind::Flag => "true or not",
        }
    }
}

const CHANGES: &[&str] = &["new", "changed", "near", "gone", "same", "moved"];
const AVAILABILITIES: &[&str] =
    &["in_stock", "in_store", "preorder", "backorder", "out_of_stock", "discontinued"];

const FIELDS: [(&str, Field, FieldKind); 20] = [
    ("change", Field::Change, FieldKind::Code(CHANGES)),
    ("score", Field::Score, FieldKind::Share),
    ("words_added", Field::WordsAdded, FieldKind::Count),
    ("words_removed", Field::WordsRemoved, FieldKind::Count),
    ("contains", Field::Contains, FieldKind::Flag),
    ("appears", Field::Appears, FieldKind::Flag),
    ("price", Field::Price, FieldKind::Count),
    ("price_before", Field::PriceBefore, FieldKind::Count),
    ("price_change", Field::PriceChange, FieldKind::Share),
    ("currency", Field::Currency, FieldKind::Text),
    ("availability", Field::Availability, FieldKind::Code(AVAILABILITIES)),
    ("status", Field::Status, FieldKind::Count),
    ("title", Field::Title, FieldKind::Text),
    ("url", Field::Url, FieldKind::Text),
    ("host", Field::Host, FieldKind::Text),
    ("unchanged_for", Field::UnchangedFor, FieldKind::Duration),
    ("gone_for", Field::GoneFor, FieldKind::Duration),
    ("refused", Field::Refused, FieldKind::Flag),
    ("phrase", Field::Phrase, FieldKind::Flag),
    ("copied_words", Field::CopiedWords, FieldKind::Count),
];

impl Field {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        if let Some((_, field, _)) = FIELDS.iter().find(|(has, ..)| *has == name) {
            return Ok(*field);
        }
        let nearest = crate::nearest::nearest(name, FIELDS.iter().map(|(name, ..)| *name));
        let hint = nearest.map_or_else(Self::listed, |name| format!("did you mean `{name}`?"));
        Err(format!("`{name}` is not a field; {hint}"))
    }

    pub(crate) fn listed() -> String {
        let names: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
        format!("fields are {}, disappears", names.join(", "))
    }

    fn entry(self) -> Option<&'static (&'static str, Field, FieldKind)> {
        FIELDS.iter().find(|(_, field, _)| *field == self)
    }

    pub(crate) fn name(self) -> &'static str {
        self.entry().map_or("", |(name, ..)| name)
    }

    pub(crate) fn kind(self) -> FieldKind {
        self.entry().map_or(FieldKind::Flag, |(.., kind)| *kind)
    }

    /// Whether it tells of something that happened, rather than of how things stand.
    pub(crate) fn is_event(self) -> bool {
        matches!(
            self,
            Field::Change
                | Field::Score
                | Field::WordsAdded
                | Field::WordsRemoved
                | Field::Appears
                | Field::PriceChange
                | Field::PriceBefore
        )
    }

    /// Whether it tells for how long something has been so.
    pub(crate) fn is_lasting(self) -> bool {
        matches!(self, Field::UnchangedFor | Field::GoneFor)
    }
}

/// What is known of a page and of its change.
#[derive(Default)]
pub(crate) struct Facts<'a> {
    pub(crate) url: &'a str,
    pub(crate) host: &'a str,
    pub(crate) change: &'a str,
    pub(crate) status: Option<u16>,
    pub(crate) refused: bool,
    pub(crate) unchanged_for: Option<f64>,
    pub(crate) gone_for: Option<f64>,
    pub(crate) words: Option<WordChanges>,
    pub(crate) fields: PageFields,
    pub(crate) fields_before: PageFields,
    pub(crate) text: Option<String>,
    pub(crate) text_before: Option<String>,
    pub(crate) phrase: Option<PhraseUse>,
    pub(crate) copied: Option<Copied>,
    pub(crate) folded: OnceCell<Option<String>>,
    pub(crate) folded_before: OnceCell<Option<String>>,
}

impl Facts<'_> {
    pub(crate) fn now_says(&self, folded: &str) -> Option<bool> {
        let now =
            self.folded.get_or_init(|| self.text.as_deref().map(|text| Folded::of(text).text));
        now.as_ref().map(|text| text.contains(folded))
    }

    pub(crate) fn before_said(&self, folded: &str) -> Option<bool> {
        let before = self
            .folded_before
            .get_or_init(|| self.text_before.as_deref().map(|text| Folded::of(text).text));
        before.as_ref().map(|text| text.contains(folded))
    }

    pub(crate) fn is_there(&self, field: Field) -> bool {
        match field {
            Field::Change => matches!(self.change, "changed" | "near" | "gone"),
            Field::Refused => self.refused,
            Field::Phrase => self.phrase.is_some(),
            _ => {
                self.number(field).is_some_and(|number| number != 0.0) || self.text(field).is_some()
            }
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "counts of words are far below what a number holds"
    )]
    pub(crate) fn number(&self, field: Field) -> Option<f64> {
        let price = |fields: &PageFields| fields.price.as_ref().map(|price| price.amount);
        let (now, before) = (price(&self.fields), price(&self.fields_before));
        match field {
            Field::Score => self.words.as_ref().map(WordChanges::score),
            Field::WordsAdded => self.words.as_ref().map(|words| words.added as f64),
            Field::WordsRemoved => self.words.as_ref().map(|words| words.removed as f64),
            Field::Price => now,
            Field::PriceBefore => before,
            Field::PriceChange => {
                let (now, before) = (now?, before.filter(|before| *before > 0.0)?);
                Some((now - before) / before)
            }
            Field::Status => self.status.map(f64::from),
            Field::UnchangedFor => self.unchanged_for,
            Field::GoneFor => self.gone_for,
            Field::CopiedWords => {
                Some(self.copied.as_ref().map_or(0.0, |copied| copied.words as f64))
            }
            _ => None,
        }
    }

    pub(crate) fn text(&self, field: Field) -> Option<String> {
        match field {
            Field::Change => Some(self.change.to_owned()),
            Field::Currency => self.fields.price.as_ref()?.currency.clone(),
            Field::Availability => self.fields.availability.map(|is| is.code().to_owned()),
            Field::Title => self.fields.title.clone(),
            Field::Url => Some(self.url.to_owned()),
            Field::Host => Some(self.host.to_owned()),
            _ => None,
        }
    }

    /// What a field is, as people are told; with what it was, where that differs.
    pub(crate) fn shown(&self, field: Field) -> Option<String> {
        let changed = |before: Option<String>, now: Option<String>| match (before, now) {
            (Some(before), Some(now)) if before != now => Some(format!("{before} → {now}")),
            (_, now) => now,
        };
        let availability = |is: Availability| is.code().replace('_', " ");
        match field {
            Field::Price | Field::PriceBefore | Field::Currency => changed(
                self.fields_before.price.as_ref().map(ToString::to_string),
                self.fields.price.as_ref().map(ToString::to_string),
            ),
            Field::Availability => changed(
                self.fields_before.availability.map(availability),
                self.fields.availability.map(availability),
            ),
            Field::Title => changed(self.fields_before.title.clone(), self.fields.title.clone()),
            Field::PriceChange => {
                self.number(field).map(|share| format!("{:+.0} %", share * 100.0))
            }
            Field::Score => self.number(field).map(|share| format!("{:.0} %", share * 100.0)),
            Field::UnchangedFor | Field::GoneFor => self.number(field).map(show_duration),
            Field::Refused => self.refused.then(|| "yes".to_owned()),
            Field::Phrase => self.phrase.as_ref().map(|found| found.phrase.clone()),
            Field::CopiedWords => {
                self.copied.as_ref().map(|copied| format!("{} of {}", copied.words, copied.work))
            }
            Field::Contains | Field::Appears | Field::Url | Field::Host => None,
            Field::Change => self.text(field),
            Field::Status | Field::WordsAdded | Field::WordsRemoved => {
                self.number(field).map(|number| format!("{number}"))
            }
        }
    }
}
