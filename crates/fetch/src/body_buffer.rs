//! How much of a body was received, how much may be received, and until when?

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use crate::body::{Body, Pieces};
use crate::body_memory::BodyMemory;
use crate::config::FetchLimits;
use crate::deadlines::Deadlines;

/// A body may come in as many pieces as if each had this many bytes, and a few more: a piece costs time
/// however small it is, and a megabyte in chunks of a byte would keep all other hosts waiting.
const LEAST_PIECE: usize = 256;
const FEW_PIECES: usize = 64;

/// How long a body may start slowly before a least rate counts.
const RATE_GRACE: Duration = Duration::from_secs(10);

/// A body as it comes in: within its cap, and in time.
pub(crate) struct BodyBuffer {
    came: Pieces,
    expected: usize,
    cap: usize,
    /// How many pieces may still come.
    pieces: usize,
    idle: Duration,
    min_rate: Option<u32>,
    started: Instant,
}

impl BodyBuffer {
    /// A body that announces `expected` bytes, or at least that many.
    pub(crate) fn new(expected: u64, limits: &FetchLimits) -> Self {
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        BodyBuffer {
            came: Pieces::default(),
            expected: expected.min(limits.body_bytes),
            cap: limits.body_bytes,
            pieces: limits.body_bytes / LEAST_PIECE + FEW_PIECES,
            idle: limits.idle,
            min_rate: limits.min_rate,
            started: Instant::now(),
        }
    }

    /// Takes as much of `data` as the limit allows; returns whether that was all.
    pub(crate) fn add(&mut self, mut data: Bytes) -> bool {
        let room = self.cap - self.came.len();
        let fits = data.len() <= room && self.pieces > 0;
        data.truncate(if self.pieces > 0 { room } else { 0 });
        self.pieces = self.pieces.saturating_sub(1);
        self.came.add(data);
        fits
    }

    /// Waits for memory if the body has become large; false when there is none in time.
    pub(crate) async fn wait_for_memory(&mut self, room: &BodyMemory, patience: Deadlines) -> bool {
        let (length, share) = (self.came.len(), self.came.share());
        let allowed = share.available();
        if length <= allowed {
            return true;
        }
        let missing = self.expected.max(length) - allowed;
        room.extend_share(share, missing, patience.until(self.idle)).await
    }

    /// Until when more must have come. A least rate is a moment too: what is here already would have
    /// taken until then at that rate, and one spell of idleness is forgiven.
    pub(crate) fn deadline(&self, patience: Deadlines) -> Instant {
        let idle = patience.until(self.idle);
        let Some(rate) = self.min_rate else { return idle };
        let seconds = u32::try_from(self.came.len()).unwrap_or(u32::MAX) / rate.max(1);
        let at_this_rate = Duration::from_secs(seconds.into());
        idle.min(self.started + self.idle.min(RATE_GRACE) + at_this_rate)
    }

    /// What came.
    pub(crate) fn into_body(self) -> Body {
        self.came.into_body()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(cap: usize, pieces: &[&'static str]) -> (Body, bool) {
        let limits = FetchLimits { body_bytes: cap, ..FetchLimits::default() };
        let mut gathered = BodyBuffer::new(u64::MAX, &limits);
        let all = pieces.iter().all(|piece| gathered.add(Bytes::from_static(piece.as_bytes())));
        (gathered.into_body(), all)
    }

    #[test]
    fn pieces_add_up_to_their_cap() {
        for (cap, pieces, body, all) in [
            (9, &[][..], "", true),
            (9, &["abc"], "abc", true),
            (9, &["abc", "", "def", "ghi"], "abcdefghi", true),
            (9, &["", "abc"], "abc", true),
            (8, &["abc", "def", "ghi"], "abcdefgh", false),
            (3, &["abc", "d"], "abc", false),
            (2, &["abc"], "ab", false),
            (0, &["a"], "", false),
        ] {
            let (came, all_came) = gather(cap, pieces);
            assert_eq!(came, body, "{cap} {pieces:?}");
            assert_eq!(all_came, all, "{cap} {pieces:?}");
        }
    }

    #[test]
    fn pieces_may_be_small_but_not_many() {
        let limits = FetchLimits { body_bytes: 100 * LEAST_PIECE, ..FetchLimits::default() };
        let mut gathered = BodyBuffer::new(0, &limits);
        let taken = (0..10_000).take_while(|_| gathered.add(Bytes::from_static(b"x"))).count();
        assert_eq!((taken, gathered.into_body().len()), (164, 164));
    }

    #[tokio::test(start_paused = true)]
    async fn a_least_rate_is_a_deadline_that_bytes_put_off() {
        let second = Duration::from_secs(1);
        let limits =
            FetchLimits { idle: 20 * second, min_rate: Some(100), ..FetchLimits::default() };
        let patience = Deadlines::new(1000 * second);
        let start = Instant::now();
        let mut gathered = BodyBuffer::new(0, &limits);
        assert_eq!(gathered.deadline(patience), start + 10 * second);
        assert!(gathered.add(Bytes::from(vec![0; 500])));
        assert_eq!(gathered.deadline(patience), start + 15 * second);
        assert!(gathered.add(Bytes::from(vec![0; 5000])));
        assert_eq!(gathered.deadline(patience), start + 20 * second, "but no idleness that long");
    }
}
