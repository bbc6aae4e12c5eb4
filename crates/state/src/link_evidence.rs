//! What do links say about each page, and about all together? Small rows beside the pages' own, since they change with
//! every link that is found.

use evercrawl_model::{Band, LinkEvidence, Measure, PageKey};

use crate::StateError;
use crate::apply::Applied;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::state::State;
use crate::store::{Slice, Space, Store};
use crate::view::View;

pub(crate) const FORMAT: u8 = 1;
const NO_BAND: u8 = 0xff;

/// What all link evidence of a measure has in common; the numbers mean something to the engine alone.
pub type LinkEvidenceTotal = [f64; 4];

impl<S: Store> View<S> {
    /// What links say about a page under a measure, where anything is known.
    pub fn link_evidence(
        &self,
        measure: Measure,
        page: PageKey,
    ) -> Result<Option<LinkEvidence>, StateError> {
        let row = self.layers.get(Space::Links, &keys::link_evidence(measure, page))?;
        row.map(|row| decode(&row)).transpose()
    }

    /// Every page with link evidence under a measure.
    pub fn all_link_evidence(
        &self,
        measure: Measure,
    ) -> impl Iterator<Item = Result<(PageKey, LinkEvidence), StateError>> + '_ {
        let rows =
            self.layers.scan(Space::Links, &[keys::LINK_EVIDENCE], &[keys::LINK_EVIDENCE + 1]);
        let claim = move |row: Result<(Slice, Slice), StateError>| {
            let (key, row) = row?;
            let page = PageKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("claim"))?;
            Ok((key.last() == Some(&measure.number())).then_some((page, decode(&row)?)))
        };
        rows.filter_map(move |row| claim(row).transpose())
    }

    /// What all link evidence of a measure has in common; zeros before there are any.
    pub fn link_evidence_total(&self, measure: Measure) -> Result<LinkEvidenceTotal, StateError> {
        let row = self.layers.get(Space::Meta, &keys::link_evidence_total(measure))?;
        row.map_or(Ok(LinkEvidenceTotal::default()), |row| {
            let mut row = Reader::new(&row, FORMAT)?;
            let mut total = LinkEvidenceTotal::default();
            for number in &mut total {
                *number = f64::from_le_bytes(row.array()?);
            }
            Ok(total)
        })
    }
}

impl<S: Store> State<S> {
    /// Writes claims down; those that are `None` are no more.
    pub(crate) fn link_evidence_changed(
        &mut self,
        measure: Measure,
        claims: &[(PageKey, Option<LinkEvidence>)],
        total: &LinkEvidenceTotal,
    ) -> Applied {
        for (page, claim) in claims {
            let key = keys::link_evidence(measure, *page);
            match claim {
                Some(claim) => self.view.layers.put(Space::Links, &key, &encode(claim)),
                None => self.view.layers.remove(Space::Links, &key),
            }
        }
        let mut row = Writer::new(FORMAT);
        total.iter().for_each(|number| row.fixed(&number.to_le_bytes()));
        self.view.layers.put(Space::Meta, &keys::link_evidence_total(measure), &row.finish());
        Applied::default()
    }
}

/// Zeros at the end take no room.
fn encode(claim: &LinkEvidence) -> Vec<u8> {
    let mut out = Writer::new(FORMAT);
    out.byte(claim.band.map_or(NO_BAND, Band::number));
    let used = claim.numbers.iter().rposition(|number| *number != 0.0).map_or(0, |last| last + 1);
    claim.numbers[..used].iter().for_each(|number| out.fixed(&number.to_le_bytes()));
    out.finish()
}

pub(crate) fn decode(row: &[u8]) -> Result<LinkEvidence, StateError> {
    let mut row = Reader::new(row, FORMAT)?;
    let band = Some(row.byte()?).filter(|number| *number != NO_BAND).map(Band::new);
    let mut claim = LinkEvidence { band, ..LinkEvidence::default() };
    for number in &mut claim.numbers {
        if !row.is_empty() {
            *number = f64::from_le_bytes(row.array()?);
        }
    }
    Ok(claim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_round_trip_and_take_little_room() {
        for (band, numbers, length) in [
            (Some(Band::new(5)), [3.0, 0.0, 0.0], 10),
            (None, [-0.25, 1e-9, 7.5], 26),
            (Some(Band::FIRST), [0.0; 3], 2),
        ] {
            let claim = LinkEvidence { band, numbers };
            assert_eq!(decode(&encode(&claim)).unwrap(), claim);
            assert_eq!(encode(&claim).len(), length);
        }
        assert!(decode(&[FORMAT, 1, 2]).is_err());
    }
}
