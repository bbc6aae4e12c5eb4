//! What does the user wish, and which pages were put aside, for that or for another reason?
//!
//! A page that is put aside leaves the queues, so that it is not skipped again and again. Where
//! it was is kept beside it, so that it can return there when the reason holds no more.

use std::time::Duration;

use evercrawl_model::{Band, HostKey, LifeChange, Override, PageKey, Refusal, Time};

use crate::StateError;
use crate::apply::{Applied, counted_as};
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::rows::{self, PageRow, PageStatus, Place};
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::View;

pub(crate) const OVERRIDE: u8 = 1;
pub(crate) const ASIDE: u8 = 1;

impl<S: Store> View<S> {
    /// What the user set, by kind, and since when.
    pub fn overrides(&self) -> Result<Vec<(Override, Time)>, StateError> {
        let rows = self.layers.scan(Space::Meta, keys::OVERRIDES, keys::OVERRIDES_END);
        rows.map(|row| decode_override(&row?.1)).collect()
    }

    /// Pages that were put aside and come after `key`; all where it is `None`.
    pub fn aside_after(
        &self,
        key: Option<PageKey>,
    ) -> impl Iterator<Item = Result<PageKey, StateError>> + '_ {
        let from = key.map_or(keys::ASIDE.to_vec(), |key| keys::after(keys::aside(key).as_slice()));
        self.layers.scan(Space::Meta, &from, keys::ASIDE_END).map(|row| {
            PageKey::from_bytes(&row?.0[keys::ASIDE.len()..]).ok_or_else(|| keys::bad("aside"))
        })
    }
}

impl<S: Store> State<S> {
    pub(crate) fn override_set(&mut self, user_override: &Override, at: Time) -> Applied {
        self.view.layers.put(
            Space::Meta,
            &keys::user_override(user_override),
            &encode_override(user_override, at),
        );
        Applied::default()
    }

    pub(crate) fn override_removed(&mut self, user_override: &Override) -> Applied {
        self.view.layers.remove(Space::Meta, &keys::user_override(user_override));
        Applied::default()
    }

    pub(crate) fn put_aside(
        &mut self,
        page: PageKey,
        reason: Refusal,
        at: Time,
    ) -> Result<Applied, StateError> {
        let aside = PageStatus::Refused(reason);
        let Some(mut row) = self.view.page(page)?.filter(|row| row.status != aside) else {
            return Ok(Applied::default());
        };
        // One that is aside for another reason was where it is kept to have been.
        if !is_aside(&row) {
            let mut kept = Writer::new(ASIDE);
            rows::encode_status(&mut kept, row.status);
            rows::encode_place(&mut kept, row.place);
            self.view.layers.put(Space::Meta, &keys::aside(page), &kept.finish());
        }
        self.count_refused(reason, 1, Some(&row.url));
        let counted_before = counted_as(&row);
        row.status = aside;
        self.log_life_change(page, LifeChange::between(counted_before.1, row.life()), reason, at);
        self.settle(page, row, counted_before, None)
    }

    pub(crate) fn put_back(&mut self, page: PageKey, at: Time) -> Result<Applied, StateError> {
        let key = keys::aside(page);
        let kept = self.view.layers.get(Space::Meta, &key)?;
        self.view.layers.remove(Space::Meta, &key);
        // A page that was in flight when it was put aside has found another place since.
        let row = self.view.page(page)?.filter(is_aside);
        let (Some(kept), Some(mut row)) = (kept, row) else { return Ok(Applied::default()) };
        let mut kept = Reader::new(&kept, ASIDE)?;
        let (status, place) = (rows::decode_status(&mut kept)?, rows::decode_place(&mut kept)?);
        let counted_before = counted_as(&row);
        row.status = status;
        if let PageStatus::Refused(reason) = counted_before.0 {
            self.log_life_change(
                page,
                LifeChange::between(counted_before.1, row.life()),
                reason,
                at,
            );
        }
        let applied = self.settle(page, row, counted_before, place)?;
        let Some(Place::New(band, _)) = place else { return Ok(applied) };
        let front = Some(self.wake_for(page.host, band, at)?);
        Ok(Applied { front, ..applied })
    }

    /// A host has a page to be visited for the first time: it is found among the front queues.
    pub(crate) fn wake_for(
        &mut self,
        key: HostKey,
        band: Band,
        at: Time,
    ) -> Result<(HostKey, Band, Time), StateError> {
        let before = self.host_mut(key)?.front.unwrap_or((band, at));
        let (band, wake) = (before.0.min(band), before.1.min(at));
        self.move_front(key, Some((band, wake)))?;
        Ok((key, band, wake))
    }
}

fn is_aside(row: &PageRow) -> bool {
    matches!(row.status, PageStatus::Refused(reason) if reason.puts_aside())
}

fn encode_override(user_override: &Override, since: Time) -> Vec<u8> {
    let mut out = Writer::new(OVERRIDE);
    out.time(since);
    out.byte(keys::override_letter(user_override));
    out.text(user_override.subject());
    match user_override {
        Override::Pin { page, every, .. } => {
            out.page(*page);
            out.number(u64::try_from(every.as_millis()).unwrap_or(u64::MAX));
        }
        Override::Boost { times, .. } => out.float(*times),
        Override::Pause { host, .. } | Override::Trust { host, .. } => out.fixed(&host.to_bytes()),
        Override::Exclude { .. } => {}
    }
    out.finish()
}

fn decode_override(row: &[u8]) -> Result<(Override, Time), StateError> {
    let mut row = Reader::new(row, OVERRIDE)?;
    let (since, letter, subject) = (row.time()?, row.byte()?, row.text()?.to_owned());
    let user_override = match letter {
        b'p' => {
            let page = row.page()?;
            Override::Pin { page, url: subject, every: Duration::from_millis(row.number()?) }
        }
        b'b' => Override::Boost { pattern: subject, times: row.float()? },
        b'h' => Override::Pause { host: row.host()?, authority: subject },
        b't' => Override::Trust { host: row.host()?, authority: subject },
        b'x' => Override::Exclude { pattern: subject },
        _ => return Err(StateError::Corrupt(format!("unknown kind of override {letter}"))),
    };
    Ok((user_override, since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_round_trip() {
        let host = HostKey { shard: 1, host: 2 };
        let (page, at) = (PageKey { host, url: 3 }, Time::from_secs(9));
        let every = Duration::from_millis(1500);
        for user_override in [
            Override::Pin { page, url: "http://a.org/".to_owned(), every },
            Override::Boost { pattern: "/news/".to_owned(), times: 0.25 },
            Override::Pause { host, authority: "a.org:81".to_owned() },
            Override::Trust { host, authority: "a.org".to_owned() },
            Override::Exclude { pattern: String::new() },
        ] {
            assert_eq!(
                decode_override(&encode_override(&user_override, at)).unwrap(),
                (user_override.clone(), at)
            );
            assert!(decode_override(&encode_override(&user_override, at)[..3]).is_err());
        }
    }
}
