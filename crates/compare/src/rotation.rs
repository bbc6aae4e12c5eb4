//! Which passages of a page rotate? Advertisements, quotations of the day, lists of other pages.
//!
//! On a page that shows other words at nearly every visit, a passage that was there before and comes
//! back is no news. Where a good part of what comes to a place came back, that place takes turns, and
//! what it shows for the first time is no news either. A newspaper's front page shows other words at
//! every visit too, but nothing comes back.

use crate::arrival::Arrival;
use crate::outline::{self, Outline, next_hash};

/// Recent passages, and the places where passages rotate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RotatingPassages {
    /// One bit per visit, the latest lowest: whether words appeared.
    visits_with_arrivals: u8,
    /// Passages that appeared or disappeared, the latest last.
    recent: Vec<u32>,
    /// Places where passages appeared, the latest last.
    places: Vec<RotatingPlace>,
}

/// What follows a passage that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RotatingPlace {
    /// The passage that stays.
    after: u32,
    /// How far from it passages returned.
    length: u8,
    /// One bit per visit, the latest lowest: whether a passage appeared.
    visits: u8,
    /// How many passages appeared recently.
    arrived: u8,
    /// How many of them had been there before.
    returned: u8,
}

/// The position of a passage: after which one that stays, and how far from it.
type Spot = (u32, u8);

impl RotatingPassages {
    /// The most passages that are remembered.
    pub(crate) const CAPACITY: usize = 12;
    /// The most places that are remembered.
    pub(crate) const MOST_PLACES: usize = 3;
    /// The most bytes they take.
    pub(crate) const LONGEST: usize =
        1 + 3 * Self::CAPACITY + RotatingPlace::LEN * Self::MOST_PLACES;

    /// Whether passages that come back are no news.
    pub(crate) fn has_rotation(&self) -> bool {
        is_frequent(self.visits_with_arrivals)
    }

    /// Whether a passage appeared or disappeared recently.
    pub(crate) fn is_recent(&self, id: u32) -> bool {
        self.recent.contains(&id)
    }

    /// Whether a passage that appeared only rotates.
    pub(crate) fn is_rotation(&self, arrival: &Arrival<'_>) -> bool {
        self.has_rotation() && self.is_recent(arrival.passage.id)
            || self.is_shared_spot(arrival.spot)
    }

    /// Whether passages rotate at a position.
    pub(crate) fn is_shared_spot(&self, (after, distance): Spot) -> bool {
        let shared = |place: &RotatingPlace| {
            place.after == after && place.length >= distance && place.is_shared()
        };
        self.places.iter().any(shared)
    }

    /// Records whether words appeared at this visit, and where.
    pub(crate) fn record_arrivals<'a>(&mut self, arrivals: impl Iterator<Item = &'a Arrival<'a>>) {
        self.visits_with_arrivals <<= 1;
        self.places.iter_mut().for_each(|place| place.visits <<= 1);
        for arrival in arrivals {
            self.visits_with_arrivals |= 1;
            let returned = self.is_recent(arrival.passage.id);
            self.place_at(arrival.spot).record_arrival(arrival.spot.1, returned);
        }
        self.places.retain(|place| place.visits != 0);
    }

    /// The place of a spot, as the latest one.
    fn place_at(&mut self, (after, _): Spot) -> &mut RotatingPlace {
        let known = self.places.iter().position(|place| place.after == after);
        let place = known.map(|at| self.places.remove(at));
        if self.places.len() >= Self::MOST_PLACES {
            let unsure = self.places.iter().position(|place| !place.is_shared());
            self.places.remove(unsure.unwrap_or(0));
        }
        self.places.push(place.unwrap_or(RotatingPlace {
            after,
            length: 0,
            visits: 0,
            arrived: 0,
            returned: 0,
        }));
        let last = self.places.len() - 1;
        &mut self.places[last]
    }

    /// Remembers a passage that appeared or disappeared.
    pub(crate) fn remember(&mut self, id: u32) {
        self.recent.retain(|&known| known != id);
        if self.recent.len() >= Self::CAPACITY {
            self.recent.remove(0);
        }
        self.recent.push(id);
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.visits_with_arrivals);
        out.extend(self.places.iter().flat_map(|place| place.to_bytes()));
        for id in &self.recent {
            out.extend_from_slice(&id.to_le_bytes()[..3]);
        }
    }

    /// Reads what [`write`](Self::write) wrote, `places` of them.
    pub(crate) fn read(bytes: &[u8], places: usize) -> Option<Self> {
        let (&restless, rest) = bytes.split_first()?;
        let (places, rest) = rest.split_at_checked(places * RotatingPlace::LEN)?;
        let places = places.as_chunks().0.iter().map(RotatingPlace::from_bytes).collect();
        let id = |&[a, b, c]: &[u8; 3]| u32::from_le_bytes([a, b, c, 0]);
        let recent = rest.as_chunks().0.iter().take(Self::CAPACITY).map(id).collect();
        Some(RotatingPassages { visits_with_arrivals: restless, recent, places })
    }

    /// How many places are shared.
    pub(crate) fn shared_places(&self) -> usize {
        self.places.iter().filter(|place| place.is_shared()).count()
    }

    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }
}

/// Finds the position of a passage; `stays` says which passages stay.
pub(crate) fn spot(outline: &Outline, number: usize, stays: impl Fn(u32) -> bool) -> Spot {
    let before = outline.passages().get(..number).unwrap_or_default().iter().rev();
    let mut distance = 1u8;
    for passage in before {
        if stays(passage.id) {
            return (passage.id, distance);
        }
        distance = distance.saturating_add(1);
    }
    (0, distance)
}

/// What a spot is known by on the pages of a site, where the same passages stay.
pub(crate) fn id_of((after, distance): Spot) -> u32 {
    outline::id_of(next_hash(u64::from(after), u64::from(distance)))
}

impl RotatingPlace {
    const LEN: usize = 6;

    /// Whether passages rotate here.
    fn is_shared(&self) -> bool {
        is_frequent(self.visits) && self.returned > 0 && 3 * self.returned >= self.arrived
    }

    fn record_arrival(&mut self, distance: u8, returned: bool) {
        self.visits |= 1;
        self.arrived += 1;
        if returned {
            self.returned += 1;
            self.length = self.length.max(distance);
        }
        if self.arrived >= 16 {
            self.arrived /= 2;
            self.returned /= 2;
        }
    }

    fn to_bytes(self) -> [u8; Self::LEN] {
        let [a, b, c, _] = self.after.to_le_bytes();
        [a, b, c, self.length, self.visits, self.arrived << 4 | self.returned]
    }

    fn from_bytes(&[a, b, c, length, visits, counts]: &[u8; Self::LEN]) -> Self {
        let after = u32::from_le_bytes([a, b, c, 0]);
        RotatingPlace { after, length, visits, arrived: counts >> 4, returned: counts & 0b1111 }
    }
}

/// Whether something happened at three of the last four visits, or of the four before them.
fn is_frequent(visits: u8) -> bool {
    (visits & 0b1111).count_ones() >= 3 || (visits >> 4).count_ones() >= 3 && visits & 0b1111 != 0
}
