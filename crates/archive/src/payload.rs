//! Where does a payload lie, so that it need not be copied to be packed? In memory with room before it for what a record
//! says of it.

/// Room for the fields of a record and the head of a response, which hardly ever have more.
const ROOM: usize = 8 << 10;

/// Memory beyond this is given back after use: one huge page must not keep it for the rest of the crawl.
const KEEP: usize = 4 << 20;

/// What ends a record.
pub(crate) const END: &[u8] = b"\r\n\r\n";

/// The payload of one exchange after another, in the same memory.
#[derive(Debug, Default)]
pub struct Payload {
    /// The room, then the payload; or nothing at all.
    memory: Vec<u8>,
}

impl Payload {
    /// Puts pieces together, in the place of what was here.
    pub fn gather<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]> + Clone) {
        let length: usize = pieces.clone().map(<[u8]>::len).sum();
        self.clear();
        self.memory.reserve(ROOM + length + END.len());
        self.memory.resize(ROOM, 0);
        pieces.for_each(|piece| self.memory.extend_from_slice(piece));
    }

    /// The payload.
    pub fn as_bytes(&self) -> &[u8] {
        self.memory.get(ROOM..).unwrap_or_default()
    }

    /// Forgets the payload.
    pub fn clear(&mut self) {
        match self.memory.capacity() > KEEP {
            true => self.memory = Vec::new(),
            false => self.memory.clear(),
        }
    }

    /// Has `pack` take the record that `heads` begin and the payload ends.
    pub(crate) fn with_heads<T>(&mut self, heads: &[u8], pack: impl FnOnce(&[u8]) -> T) -> T {
        let (Some(start), false) = (ROOM.checked_sub(heads.len()), self.memory.is_empty()) else {
            return pack(&[heads, self.as_bytes(), END].concat());
        };
        self.memory[start..ROOM].copy_from_slice(heads);
        self.memory.extend_from_slice(END);
        let packed = pack(&self.memory[start..]);
        self.memory.truncate(self.memory.len() - END.len());
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_before_the_payload_however_long_they_are() {
        let mut payload = Payload::default();
        assert_eq!(payload.with_heads(b"none", <[u8]>::to_vec), b"none\r\n\r\n");
        for (pieces, length) in [(&["ab", "", "c"][..], 9), (&["d"], ROOM), (&["e", "f"], ROOM + 1)]
        {
            payload.gather(pieces.iter().map(|piece| piece.as_bytes()));
            let (heads, whole) = ("h".repeat(length), pieces.concat());
            for _ in 0..2 {
                assert_eq!(payload.as_bytes(), whole.as_bytes());
                let record = payload.with_heads(heads.as_bytes(), <[u8]>::to_vec);
                assert_eq!(record, format!("{heads}{whole}\r\n\r\n").as_bytes());
            }
        }
        payload.clear();
        assert!(payload.as_bytes().is_empty());
    }

    #[test]
    fn huge_payloads_do_not_keep_their_memory() {
        let mut payload = Payload::default();
        payload.gather([&vec![7; KEEP][..]].into_iter());
        assert_eq!(payload.as_bytes().len(), KEEP);
        payload.clear();
        assert_eq!(payload.memory.capacity(), 0);
    }
}
