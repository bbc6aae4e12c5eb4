//! Which hosts only pretend to be of use, as far as was looked?

use evercrawl_model::{HostKey, Suspicion};

use crate::StateError;
use crate::apply::Applied;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::View;

pub(crate) const FORMAT: u8 = 1;

impl<S: Store> View<S> {
    /// What a host is taken for, where anything speaks against it.
    pub fn suspicion(&self, host: HostKey) -> Result<Option<Suspicion>, StateError> {
        let row = self.layers.get(Space::Hosts, &keys::suspicion(host))?;
        row.map(|row| decode(&row)).transpose()
    }

    /// Every host that something speaks against.
    pub fn suspicions(
        &self,
    ) -> impl Iterator<Item = Result<(HostKey, Suspicion), StateError>> + '_ {
        self.layers.scan(Space::Hosts, keys::SUSPICIONS, keys::SUSPICIONS_END).map(|row| {
            let (key, row) = row?;
            let host = HostKey::from_bytes(&key[1..]).ok_or_else(|| keys::bad("suspicion"))?;
            Ok((host, decode(&row)?))
        })
    }
}

impl<S: Store> State<S> {
    pub(crate) fn suspicion_changed(
        &mut self,
        host: HostKey,
        suspicion: Option<&Suspicion>,
    ) -> Applied {
        let key = keys::suspicion(host);
        match suspicion {
            Some(suspicion) => self.view.layers.put(Space::Hosts, &key, &encode(suspicion)),
            None => self.view.layers.remove(Space::Hosts, &key),
        }
        Applied::default()
    }
}

fn encode(suspicion: &Suspicion) -> Vec<u8> {
    let mut out = Writer::new(FORMAT);
    out.float(suspicion.probability);
    out.text(&suspicion.evidence);
    out.time(suspicion.at);
    out.finish()
}

pub(crate) fn decode(row: &[u8]) -> Result<Suspicion, StateError> {
    let mut row = Reader::new(row, FORMAT)?;
    Ok(Suspicion { probability: row.float()?, evidence: row.text()?.to_owned(), at: row.time()? })
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Time;

    use super::*;

    #[test]
    fn suspicions_round_trip() {
        let (evidence, at) = ("parked: for sale".to_owned(), Time::from_secs(7));
        let suspicion = Suspicion { probability: 0.97, evidence, at };
        assert_eq!(decode(&encode(&suspicion)).unwrap(), suspicion);
        assert!(decode(&encode(&suspicion)[..8]).is_err());
    }
}
