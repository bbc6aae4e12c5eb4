//! Which passages of a page tick? Those whose times, numbers and codes differ again and again while
//! their other words stay.

use crate::arrival::Arrival;
use crate::outline::Outline;

/// Passages that tick, or may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickingPassages {
    /// The latest to tick last.
    clocks: Vec<TickingPassage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TickingPassage {
    shape: u32,
    /// The passage of this shape that was seen last.
    shows: u32,
    /// At how many visits it had ticked.
    ticks: u8,
    /// How many visits found it as it was, since.
    still: u8,
}

impl TickingPassage {
    fn is_sure(&self) -> bool {
        self.ticks >= SURE_AFTER
    }
}

impl TickingPassages {
    /// The most that are remembered.
    pub(crate) const CAPACITY: usize = 6;
    /// The most bytes they take.
    pub(crate) const LONGEST: usize = Self::CAPACITY * TickingPassage::LEN;

    /// Whether passages of a shape tick.
    pub(crate) fn is_ticking(&self, shape: u32) -> bool {
        self.clocks.iter().any(|clock| clock.shape == shape && clock.is_sure())
    }

    /// Whether passages of a shape may tick: one of them did, lately.
    pub(crate) fn may_be_ticking(&self, shape: u32) -> bool {
        self.clocks.iter().any(|clock| clock.shape == shape)
    }

    /// Whether a clock showed this passage at the last visit; `sure` leaves out those that may be none.
    pub(crate) fn has_shown(&self, id: u32, sure: bool) -> bool {
        self.clocks.iter().any(|clock| clock.shows == id && (clock.is_sure() || !sure))
    }

    /// What all clocks showed.
    pub(crate) fn shown_passages(&self) -> impl Iterator<Item = u32> + '_ {
        self.clocks.iter().map(|clock| clock.shows)
    }

    pub(crate) fn learn(&mut self, arrivals: &[Arrival<'_>], outline: &Outline) {
        self.count_still(arrivals, outline);
        for arrival in arrivals.iter().filter(|arrival| arrival.shape.passing) {
            let (shape, shows) = (arrival.shape.id, arrival.passage.id);
            let known = self.clocks.iter().position(|clock| clock.shape == shape);
            let before = known.map(|at| self.clocks.remove(at));
            // Where several passages have the shape, it still ticks once a visit.
            let ticks = match before {
                Some(clock) if outline.contains(clock.shows) => clock.ticks,
                Some(clock) => clock.ticks + 1,
                None => 1,
            };
            if self.clocks.len() >= Self::CAPACITY {
                let unsure = self.clocks.iter().position(|clock| !clock.is_sure());
                self.clocks.remove(unsure.unwrap_or(0));
            }
            self.clocks.push(TickingPassage {
                shape,
                shows,
                ticks: ticks.min(SURE_AFTER),
                still: 0,
            });
        }
    }

    /// Forgets a clock that stands still: at once if it hardly ticked, else after some visits.
    fn count_still(&mut self, arrivals: &[Arrival<'_>], outline: &Outline) {
        self.clocks.retain_mut(|clock| {
            let ticked = arrivals.iter().any(|arrival| arrival.shape.id == clock.shape);
            if !ticked && outline.contains(clock.shows) {
                clock.still += 1;
            }
            clock.still < if clock.is_sure() { STOPPED_AFTER } else { 1 }
        });
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.clocks.iter().flat_map(|clock| clock.to_bytes()));
    }

    /// Reads `count` clocks, and returns what follows them.
    pub(crate) fn read(bytes: &[u8], count: usize) -> Option<(Self, &[u8])> {
        let (clocks, rest) = bytes.split_at_checked(count * TickingPassage::LEN)?;
        let clocks = clocks.as_chunks().0.iter().map(TickingPassage::from_bytes).collect();
        Some((TickingPassages { clocks }, rest))
    }

    /// How many tick for sure.
    pub(crate) fn sure_count(&self) -> usize {
        self.clocks.iter().filter(|clock| clock.is_sure()).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.clocks.len()
    }
}

/// A passage that ticked at this many visits in a row is noise when it ticks again.
const SURE_AFTER: u8 = 2;
/// A passage that stayed the same for this many visits is an ordinary one.
const STOPPED_AFTER: u8 = 4;

impl TickingPassage {
    const LEN: usize = 7;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let [a, b, c, _] = self.shape.to_le_bytes();
        let [d, e, f, _] = self.shows.to_le_bytes();
        [a, b, c, d, e, f, self.still << 4 | self.ticks]
    }

    fn from_bytes(&[a, b, c, d, e, f, counts]: &[u8; Self::LEN]) -> Self {
        TickingPassage {
            shape: u32::from_le_bytes([a, b, c, 0]),
            shows: u32::from_le_bytes([d, e, f, 0]),
            ticks: counts & 0b1111,
            still: counts >> 4 & 0b111,
        }
    }
}
