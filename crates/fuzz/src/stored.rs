//! What must hold of what the state reads back: batches, rows, and the files of its store.
#![allow(clippy::unwrap_used, reason = "a target panics where something does not hold")]

use std::sync::Arc;

use evercrawl_model::Time;
use evercrawl_state::{
    CheckDepth, MemoryStore, Overlay, PageRow, Settings, Space, State, Store, damaged_files,
    decode_batch, encode_batch, mend_store,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::folder::in_folder;

/// A batch of anything, and one whose rows alone are anything: what is read of it is what is written again.
pub(crate) fn batch(bytes: &[u8]) {
    assert!(decode_batch(bytes).is_err(), "nobody guesses a checksum");
    // Behind the header come how the rows are packed, their length, the rows and a checksum.
    let mut with_rows = encode_batch(&Overlay::default());
    with_rows.truncate(with_rows.len() - 1 - 8 - 8);
    with_rows.push(0);
    with_rows.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    with_rows.extend_from_slice(bytes);
    let sum = xxh3_64(&with_rows);
    with_rows.extend_from_slice(&sum.to_le_bytes());
    if let Ok(changes) = decode_batch(&with_rows) {
        let written = encode_batch(&changes);
        assert_eq!(encode_batch(&decode_batch(&written).unwrap()), written);
    }
}

/// Rows of a state, some of which are not as they were written: that is an error, or another value.
pub(crate) fn rows(bytes: &[u8]) {
    let store = Arc::new(MemoryStore::default());
    let fresh = Settings { seed: 1, shards: 4 };
    let mut state = State::open(store.clone(), fresh, None).unwrap();
    make_some_rows(&mut state);
    state.flush_now().unwrap();
    drop(state);
    let mut damage = Overlay::default();
    for (nth, hurt) in bytes.chunks(4).enumerate() {
        let space = SPACES[usize::from(hurt[0]) % SPACES.len()];
        let row = store.scan(space, &[], &[0xff; 40]).nth(nth % 7);
        if let Some(Ok((key, value))) = row {
            damage.put(space, &key, &damaged(&value, &hurt[1..]));
        }
    }
    store.commit(&damage).unwrap();
    let Ok(state) = State::open(store, fresh, None) else { return };
    let visits = |row: &PageRow| state.view().history(row).take(10).count();
    let _ = state.view().pages().flatten().map(|(_, row)| visits(&row)).sum::<usize>();
    let _ = (
        state.view().hosts().count(),
        state.view().visits(0).count(),
        state.view().archive(),
        state.view().seeds().count(),
    );
    let _ =
        (state.view().robots("http://a.test"), state.view().tag_sets(), state.view().last_logged());
}

const SPACES: [Space; 5] = [Space::Pages, Space::Hosts, Space::Visits, Space::Meta, Space::Queues];

/// A few pages of two hosts, with a robots.txt.
fn make_some_rows(state: &mut State<MemoryStore>) {
    use evercrawl_model::{Band, Discovery, Event, RobotsCopy};
    let now = Time::from_secs(1_700_000_000);
    for (host, path) in [("a.test", "/"), ("a.test", "/b?c"), ("b.test", "/")] {
        let url = format!("http://{host}{path}");
        let key = state.view().keyer().page(state.view().keyer().host(host, host), &url);
        let found = Discovery {
            via: Some(key.0),
            hub: Some(7),
            band: Band::new(2),
            claimed_change: Some(now),
            seed: path == "/",
            ..Discovery::new(key, url, 1, now)
        };
        state.apply(&Event::Discovered(found)).unwrap();
    }
    let copy = RobotsCopy { at: now, expires: now, status: 200, body: b"User-agent: *".to_vec() };
    state.apply(&Event::RobotsLearned { origin: "http://a.test".to_owned(), copy }).unwrap();
}

fn damaged(value: &[u8], by: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    match by {
        [at, with, ..] if !value.is_empty() => {
            let at = usize::from(*at) % value.len();
            value[at] ^= with;
        }
        [cut] => value.truncate(usize::from(*cut)),
        _ => value.clear(),
    }
    value
}

/// Files by which a store finds its rows: whatever they are, a mended store has none that is damaged. The first four
/// bytes say how long the journal and the list are; the rest is a table.
pub(crate) fn store(bytes: &[u8]) {
    let Some(([a, b, c, d], rest)) = bytes.split_first_chunk() else { return };
    let part = |rest: &'_ [u8], low: u8, high: u8| {
        usize::from(u16::from_le_bytes([low, high])).min(rest.len())
    };
    let (journal, rest) = rest.split_at(part(rest, *a, *b));
    let (list, table) = rest.split_at(part(rest, *c, *d));
    // What says which list holds is right, or the list would never be read.
    let mut current = 1u64.to_le_bytes().to_vec();
    current.extend(xxh3_128(list).to_le_bytes());
    current.push(0);
    // And what knows the names of spaces is whole, or nothing would be mended: a table of no parts.
    let contents = b"TOC!\0\0\0\0";
    let mut names =
        [contents, b"SFA!\x01\x00".as_slice(), &xxh3_128(contents).to_le_bytes()].concat();
    names.extend([0u64, contents.len() as u64].map(u64::to_le_bytes).concat());
    let files: [(&str, &[u8]); 6] = [
        ("store/keyspaces/0/tables/1", &names),
        ("store/version", b"FJL\x03"),
        ("store/0.jnl", journal),
        ("store/keyspaces/1/current", &current),
        ("store/keyspaces/1/v1", list),
        ("store/keyspaces/1/tables/1", table),
    ];
    in_folder(&files, |folder| {
        let dir = folder.join("store");
        let _ = damaged_files(&dir, CheckDepth::Everything).unwrap();
        assert!(mend_store(&dir, folder, &mut |_| {}).unwrap());
        assert_eq!(damaged_files(&dir, CheckDepth::Lists).unwrap(), []);
    });
}
