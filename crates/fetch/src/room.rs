//! How much of large bodies is held at once? So much and no more: memory must not grow with connections
//! times size.
//!
//! The first piece of every body is free. Beyond it a body takes room before more of it is read, and
//! keeps it as long as its bytes live. While there is none, whoever sends it is held up by TCP.

use std::sync::Arc;

use bytes::Bytes;
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
pub(crate) struct Room(Arc<Semaphore>);

/// The part of it that one body has.
#[derive(Debug, Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

impl Room {
    pub(crate) fn new() -> Self {
        Room(Arc::new(Semaphore::new(UNITS)))
    }

    /// Waits for room for so many bytes more, or a good part of them; false when there is none in time.
    pub(crate) async fn widen(&self, share: &mut Share, bytes: usize, deadline: Instant) -> bool {
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

impl Share {
    /// Bytes that a body with this share may have.
    pub(crate) fn allows(&self) -> usize {
        UNIT + self.0.as_ref().map_or(0, |permit| permit.num_permits() * UNIT)
    }

    /// The same bytes; the room is free again once nobody holds them any more.
    pub(crate) fn keep_for(self, bytes: Bytes) -> Bytes {
        if self.0.is_none() { bytes } else { Bytes::from_owner(Held { bytes, _share: self }) }
    }
}

struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(1)
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_kept_as_long_as_any_part_of_the_bytes() {
        let room = Room::new();
        let mut share = Share::default();
        assert_eq!(share.allows(), UNIT);
        for _ in 0..UNITS / MOST {
            assert!(room.widen(&mut share, usize::MAX, soon()).await);
        }
        assert_eq!(share.allows(), UNIT * (UNITS + 1));
        let mut other = Share::default();
        assert!(!room.widen(&mut other, 1, soon()).await);
        let whole = share.keep_for(Bytes::from_static(b"large"));
        let part = whole.slice(1..3);
        drop(whole);
        assert!(!room.widen(&mut other, 1, soon()).await);
        assert_eq!(part, "ar");
        drop(part);
        assert!(room.widen(&mut other, 1, soon()).await);
        assert_eq!(other.allows(), 2 * UNIT);
    }
}
