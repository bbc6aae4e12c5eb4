//! Which hosts hold the same pages as another, as far as was compared?

use evercrawl_model::{HostKey, HostLikeness};

use crate::StateError;
use crate::apply::Applied;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::View;

pub(crate) const FORMAT: u8 = 1;

impl<S: Store> View<S> {
    /// What comparing a host with another has shown, where its pages were met elsewhere.
    pub fn likeness(&self, host: HostKey) -> Result<Option<HostLikeness>, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::likeness(host))?;
        row.map(|row| decode(&row)).transpose()
    }

    /// Every host that was compared with another.
    pub fn likenesses(
        &self,
    ) -> impl Iterator<Item = Result<(HostKey, HostLikeness), StateError>> + '_ {
        self.layers.scan(Space::Hosts, keys::LIKENESSES, keys::LIKENESSES_END).map(|row| {
            let (key, row) = row?;
            let host = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("likeness"))?;
            Ok((host, decode(&row)?))
        })
    }
}

impl<S: Store> State<S> {
    pub(crate) fn likeness_changed(&mut self, host: HostKey, likeness: &HostLikeness) -> Applied {
        self.view.layers.put(Space::Hosts, &keys::likeness(host), &encode(likeness));
        Applied::default()
    }
}

fn encode(likeness: &HostLikeness) -> Vec<u8> {
    let mut out = Writer::new(FORMAT);
    out.fixed(&likeness.compared_with.to_bytes());
    out.number(likeness.alike_pages.into());
    out.number(likeness.compared_pages.into());
    out.byte(likeness.is_mirror.into());
    out.time(likeness.since);
    out.finish()
}

pub(crate) fn decode(row: &[u8]) -> Result<HostLikeness, StateError> {
    let mut row = Reader::new(row, FORMAT)?;
    Ok(HostLikeness {
        compared_with: row.host()?,
        alike_pages: row.small()?,
        compared_pages: row.small()?,
        is_mirror: row.byte()? != 0,
        since: row.time()?,
    })
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Time;

    use super::*;

    #[test]
    fn likenesses_round_trip() {
        let of = HostKey { shard: 3, host: 1 << 60 };
        let (alike, since) = (16, Time::from_secs(7));
        let likeness = HostLikeness {
            compared_with: of,
            alike_pages: alike,
            compared_pages: 300,
            is_mirror: true,
            since,
        };
        assert_eq!(decode(&encode(&likeness)).unwrap(), likeness);
        assert!(decode(&encode(&likeness)[..8]).is_err());
    }
}
