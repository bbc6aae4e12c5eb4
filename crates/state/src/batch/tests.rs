use proptest::prelude::*;

use super::*;

type Change = (usize, Vec<u8>, Option<Vec<u8>>);

fn overlay(changes: &[Change]) -> Overlay {
    let mut overlay = Overlay::default();
    for (space, key, value) in changes {
        match value {
            Some(value) => overlay.put(Space::CRAWL[*space], key, value),
            None => overlay.remove(Space::CRAWL[*space], key),
        }
    }
    overlay
}

fn any_changes() -> impl Strategy<Value = Vec<Change>> {
    let bytes = |most| proptest::collection::vec(0u8..4, 0..most);
    let change = (0usize..8, bytes(9), proptest::option::of(bytes(30)));
    proptest::collection::vec(change, 0..60)
}

/// Changed keys of one space, with their values; `None` where a key was removed.
type ChangedRows = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn rows(overlay: &Overlay) -> Vec<ChangedRows> {
    let of = |space| {
        let rows = overlay.rows(space).iter();
        rows.map(|(key, value)| (key.to_vec(), value.as_ref().map(|value| value.to_vec())))
            .collect()
    };
    Space::CRAWL.into_iter().map(of).collect()
}

/// The batch with its last bytes made the sum of the others.
fn summed(mut batch: Vec<u8>) -> Vec<u8> {
    batch.truncate(batch.len().saturating_sub(SUM_BYTES));
    let sum = xxh3_64(&batch);
    batch.extend_from_slice(&sum.to_le_bytes());
    batch
}

/// A batch of these rows, packed.
fn batch_of(rows: &[u8], says: u64) -> Vec<u8> {
    let empty = encode_batch(&Overlay::default());
    let head = empty.len() - SUM_BYTES - 8 - 1;
    let packed = zstd::bulk::compress(rows, 1).unwrap();
    summed([&empty[..head], &[ZSTD], &says.to_le_bytes(), &packed, &[0; SUM_BYTES]].concat())
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(changes in any_changes()) {
        let changes = overlay(&changes);
        let batch = encode_batch(&changes);
        prop_assert_eq!(rows(&decode_batch(&batch).unwrap()), rows(&changes));
        prop_assert_eq!(batch, encode_batch(&changes), "the same changes are the same bytes");
    }

    #[test]
    fn a_batch_that_is_cut_or_changed_is_refused(changes in any_changes(), at: prop::sample::Index, bit in 0u8..8) {
        let batch = encode_batch(&overlay(&changes));
        let at = at.index(batch.len());
        prop_assert!(decode_batch(&batch[..at]).is_err());
        let mut flipped = batch;
        flipped[at] ^= 1 << bit;
        prop_assert!(decode_batch(&flipped).is_err());
    }

    /// Where the checksum fits, anything may follow: an error or other rows, and never a panic.
    #[test]
    fn whatever_is_summed_is_read_or_refused(
        changes in any_changes(),
        at: prop::sample::Index,
        with in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        let mut batch = encode_batch(&overlay(&changes));
        let at = at.index(batch.len());
        let end = (at + with.len()).min(batch.len());
        batch.splice(at..end, with);
        let _ = decode_batch(&summed(batch));
    }

    #[test]
    fn any_rows_are_read_or_refused(rows in proptest::collection::vec(0u8..12, 0..40)) {
        let _ = decode_batch(&batch_of(&rows, rows.len() as u64));
    }
}

#[test]
fn no_row_of_this_machine_gets_into_a_batch() {
    let mut changes = Overlay::default();
    changes.put(Space::Machine, b"machine-key", b"machine-value");
    assert_eq!(encode_batch(&changes), encode_batch(&Overlay::default()));
    // Nor is one read from a batch: the space has no number there.
    let forged = batch_of(&[8, 1, 0, 1, b'x', PUT, 0], 7);
    assert_eq!(
        decode_batch(&forged).unwrap_err(),
        BatchError::Malformed("it names an unknown space")
    );
}

#[test]
fn a_batch_says_what_it_is() {
    let mut changes = Overlay::default();
    let position = Position { generation: 3, number: 1 << 40 };
    changes.put(Space::Meta, crate::position::POSITION, &position.encode());
    let header = read_batch_header(&encode_batch(&changes)).unwrap();
    assert_eq!((header.epoch, header.position), (0, position));
    assert_eq!(header.program, concat!("evercrawl ", env!("CARGO_PKG_VERSION")));
    assert_eq!(header.row_formats, ROW_FORMATS);
}

#[test]
fn each_refusal_has_its_reason() {
    let batch = encode_batch(&overlay(&[(0, vec![1], Some(vec![2]))]));
    assert_eq!(decode_batch(b"").unwrap_err(), BatchError::NotABatch);
    assert_eq!(decode_batch(b"WARC/1.1 and more").unwrap_err(), BatchError::NotABatch);
    assert_eq!(decode_batch(&batch[..40]).unwrap_err(), BatchError::Damaged);
    let mut newer = batch.clone();
    newer[MAGIC.len()] = FORMAT + 1;
    assert_eq!(decode_batch(&newer).unwrap_err(), BatchError::NewerFormat { found: FORMAT + 1 });
    // The first of the row formats is that of pages.
    let mut newer = batch.clone();
    let program = usize::from(newer[MAGIC.len() + 1 + 24]);
    newer[MAGIC.len() + 1 + 24 + 1 + program + 1] += 1;
    let refused = decode_batch(&summed(newer)).unwrap_err();
    assert!(matches!(refused, BatchError::NewerRows { .. }), "{refused}");
    for (rows, why) in [
        (&[0, 1, 0, 1, b'x', 9][..], "something unknown is done to a row"),
        (&[0, 1, 1, 1, b'x', PUT, 0], "a key has a wrong length"),
        (&[0, 2, 0, 1, b'x', REMOVED, 0, 1, b'a', REMOVED], "its keys are not in order"),
        (&[0, 2, 0, 1, b'x', REMOVED, 1, 0, REMOVED], "its keys are not in order"),
        (&[1, 1, 0, 1, b'x', REMOVED, 0, 1, 0, 1, b'x', REMOVED], "its spaces are not in order"),
        (&[0, 2, 0, 1, b'x', REMOVED], "it is cut short"),
        (&[0, 1, 0, 200, 1, b'x'], "it is cut short"),
    ] {
        let batch = batch_of(rows, rows.len() as u64);
        assert_eq!(decode_batch(&batch).unwrap_err(), BatchError::Malformed(why), "{rows:?}");
    }
}

#[test]
fn a_bomb_does_not_go_off() {
    // It says how large it is.
    let refused = decode_batch(&batch_of(&[0; 100], 1 << 40)).unwrap_err();
    assert_eq!(refused, BatchError::TooLarge);
    // It lies about that.
    let refused = decode_batch(&batch_of(&vec![0; 8 << 20], 100)).unwrap_err();
    assert_eq!(refused, BatchError::Malformed("it unpacks to another length than it says"));
    // Keys of which nearly all is shared: 1 kB of rows are 8 MB of keys.
    let mut rows = Writer::default();
    rows.byte(0);
    rows.number(129);
    rows.number(0);
    rows.bytes(&vec![0; MOST_KEY_BYTES - 1]);
    rows.byte(REMOVED);
    for nth in 0..128 {
        rows.number(MOST_KEY_BYTES as u64 - 1);
        rows.bytes(&[nth]);
        rows.byte(REMOVED);
    }
    let rows = rows.finish();
    let batch = batch_of(&rows, rows.len() as u64);
    assert_eq!(decode_within(&batch, 1 << 20).unwrap_err(), BatchError::TooLarge);
    assert_eq!(decode_batch(&batch).unwrap().len(), 129);
}
