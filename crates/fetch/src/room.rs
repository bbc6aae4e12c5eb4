//! How many large bodies are held at once? A few: memory must not grow with connections times size.
//!
//! A body that has become large waits for a place before more of it is read, and keeps the place as long
//! as its bytes live. Whoever sends it meanwhile waits too, held up by TCP.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// A body of more bytes than this is large.
pub const LARGE_BODY: usize = 1024 * 1024;

/// Large bodies held at once.
const PLACES: usize = 8;

/// Places for large bodies, shared by all who fetch.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

/// The place of one large body.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Room {
    pub(crate) fn new() -> Self {
        Room(Arc::new(Semaphore::new(PLACES)))
    }

    /// Waits for a place; `None` when none is free in time.
    pub(crate) async fn enter(&self, deadline: Instant) -> Option<Place> {
        let permit = timeout_at(deadline, self.0.clone().acquire_owned()).await.ok()?;
        permit.ok().map(|permit| Place { _permit: permit })
    }
}

impl Place {
    /// The same bytes; the place is free again once nobody holds them any more.
    pub(crate) fn keep_for(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Held { bytes, _place: self })
    }
}

struct Held {
    bytes: Bytes,
    _place: Place,
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

    #[tokio::test(start_paused = true)]
    async fn a_place_is_kept_as_long_as_any_part_of_the_bytes() {
        let room = Room::new();
        let soon = || Instant::now() + Duration::from_secs(1);
        let mut held = Vec::new();
        for _ in 0..PLACES {
            let place = room.enter(soon()).await.unwrap();
            held.push(place.keep_for(Bytes::from_static(b"large")));
        }
        assert!(room.enter(soon()).await.is_none());
        let part = held.pop().unwrap().slice(1..3);
        assert!(room.enter(soon()).await.is_none());
        assert_eq!(part, "ar");
        drop(part);
        assert!(room.enter(soon()).await.is_some());
    }
}
