//! How much of large bodies is held at once? So much and no more: memory must not grow with connections
//! times size.
//!
//! The first piece of every body is free. Beyond it a body takes room before more of it is read, and
//! keeps it as long as its bytes live. While there is none, TCP holds the sender up.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// What room is counted in, and how much every body has for nothing: 1 MiB.
pub(crate) const UNIT: usize = 1024 * 1024;

/// Units for all large bodies together.
const UNITS: usize = 256;

/// The most that one body takes at a time; it may come again.
const MOST: usize = UNITS / 4;

/// Room for large bodies, shared by all who fetch.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory(Arc<Semaphore>);

/// The part of it that one body has.
#[derive(Debug, Default)]
pub(crate) struct MemoryShare(Option<OwnedSemaphorePermit>);

impl BodyMemory {
    pub(crate) fn new() -> Self {
        BodyMemory(Arc::new(Semaphore::new(UNITS)))
    }

    /// Waits for memory for `bytes` more, or a good part of them; false when there is none in time.
    pub(crate) async fn extend_share(
        &self,
        share: &mut MemoryShare,
        bytes: usize,
        deadline: Instant,
    ) -> bool {
        let units = bytes.div_ceil(UNIT).clamp(1, MOST) as u32;
        let more = timeout_at(deadline, self.0.clone().acquire_many_owned(units)).await;
        let Ok(Ok(more)) = more else { return false };
        match &mut share.0 {
            Some(permit) => permit.merge(more),
            None => share.0 = Some(more),
        }
        true
    }
}

impl MemoryShare {
    /// Bytes that a body with this share may have.
    pub(crate) fn available(&self) -> usize {
        UNIT + self.0.as_ref().map_or(0, |permit| permit.num_permits() * UNIT)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::body::Pieces;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(1)
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_kept_as_long_as_anybody_holds_the_body() {
        let room = BodyMemory::new();
        let mut pieces = Pieces::default();
        assert_eq!(pieces.share().available(), UNIT);
        for _ in 0..UNITS / MOST {
            assert!(room.extend_share(pieces.share(), usize::MAX, soon()).await);
        }
        assert_eq!(pieces.share().available(), UNIT * (UNITS + 1));
        let mut other = MemoryShare::default();
        assert!(!room.extend_share(&mut other, 1, soon()).await);
        pieces.add("large".into());
        let body = pieces.into_body();
        let same = body.clone();
        drop(body);
        assert!(!room.extend_share(&mut other, 1, soon()).await);
        assert_eq!(same, "large");
        drop(same);
        assert!(room.extend_share(&mut other, 1, soon()).await);
        assert_eq!(other.available(), 2 * UNIT);
    }
}
