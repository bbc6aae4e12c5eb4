//! How does a host answer for addresses that cannot exist?

use crate::not_found_page::NotFoundPage;

/// What a host does with an address that cannot exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soft404Profile {
    /// The page that it shows; `None` when it answers with an error status.
    pub shows: Option<NotFoundPage>,
    /// Where it leads, by a hash.
    pub leads_to: Option<u64>,
}

impl Soft404Profile {
    /// A host that answers with an error status.
    pub const HONEST: Soft404Profile = Soft404Profile { shows: None, leads_to: None };

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let leads_to = self.leads_to.map_or([0; 8], u64::to_le_bytes);
        let shows = self.shows.as_ref().map(NotFoundPage::to_bytes).unwrap_or_default();
        [&leads_to[..], &shows].concat().into()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (leads_to, shows) = bytes.split_at_checked(8).unwrap_or_default();
        let leads_to = leads_to.try_into().map_or(0, u64::from_le_bytes);
        let shows = (!shows.is_empty()).then(|| NotFoundPage::from_bytes(shows));
        Soft404Profile { shows, leads_to: Some(leads_to).filter(|hash| *hash != 0) }
    }
}
