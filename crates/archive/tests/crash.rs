//! Does the archive hold exactly what was committed, whatever happened in between?
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

use crate::common::{CAP, NOW, Place, id, page, settings};
use evercrawl_archive::{
    Checkpoint, Encoder, Exchange, FilePosition, Kind, Original, ReadError, RecordCache, SegmentId,
    SegmentStore, Stage, WriteError, Writer, check_file,
};
use evercrawl_model::RecordAt;
use proptest::prelude::*;

fn payload(n: usize) -> Vec<u8> {
    (0..n * 37 % 5000).map(|i| ((i * i) ^ n) as u8).collect()
}

/// Appends page number `n`, encoding again where a file was rolled, as the engine does.
fn append(writer: &mut Writer, encoder: &mut Encoder, n: usize) -> RecordAt {
    let (uri, payload) = (format!("http://example.org/{n}"), payload(n));
    loop {
        let exchange = page(&uri, NOW, &payload);
        let encoded = encoder.encode(&exchange, Kind::Response, id(n), writer.file()).unwrap();
        match writer.append(&encoded, NOW) {
            Err(WriteError::Stale) => continue,
            other => return other.unwrap(),
        }
    }
}

/// Pages in all sealed files, every one of which must be sound.
fn checked_pages(place: &Place) -> u64 {
    let warcs = place.names().into_iter().filter(|name| name.ends_with(".warc.gz"));
    warcs
        .map(|name| {
            let warc = SegmentId::sealed(name);
            let report = check_file(&*place.open(), &warc, CAP, |_| {}).unwrap();
            assert_eq!(report.problems, []);
            report.indexed
        })
        .sum()
}

fn assert_readable(place: &Place, places: &[RecordAt]) {
    let mut cache = RecordCache::new(place.open(), 4000, CAP);
    for (n, at) in places.iter().enumerate() {
        let record = cache.read(*at).unwrap();
        assert_eq!(record.payload(), payload(n));
        let uri = format!("http://example.org/{n}");
        assert_eq!(record.header("WARC-Target-URI"), Some(uri.as_str()));
    }
}

#[test]
fn a_clean_stop_leaves_only_finished_files_and_the_next_start_begins_another() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, recovery) =
            Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        assert_eq!(recovery, Default::default());
        let mut places = vec![append(&mut writer, &mut encoder, 0)];
        let last = writer.checkpoint().unwrap();
        last.sync().unwrap();
        writer.close(&last).unwrap();
        let stem = "test-20261115221550007-00001-crawler-1.example.org";
        assert_eq!(place.names(), [format!("{stem}.cdxj"), format!("{stem}.warc.gz")]);

        let (mut writer, _) =
            Writer::open(place.open(), &last.files, settings(u64::MAX), NOW).unwrap();
        places.push(append(&mut writer, &mut encoder, 1));
        assert_eq!(places[1].file, 2);
        let last = writer.checkpoint().unwrap();
        writer.close(&last).unwrap();
        assert_readable(&place, &places);
        assert_eq!(checked_pages(&place), 2);

        // A run that stores nothing leaves nothing.
        let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        let last = writer.checkpoint().unwrap();
        writer.close(&last).unwrap();
        assert_eq!(place.names().len(), 4);
    }
}

#[test]
fn a_file_of_nothing_but_304s_is_kept() {
    for place in Place::both() {
        let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        let head = b"HTTP/1.1 304 Not Modified\r\n\r\n";
        let exchange = Exchange { head, ..page("http://example.org/", NOW, b"") };
        let original = Original { uri: exchange.uri, date: NOW };
        let kind = Kind::NotModified(original);
        let encoded = Encoder::new(1).encode(&exchange, kind, id(0), writer.file()).unwrap();
        let at = writer.append(&encoded, NOW).unwrap();
        let committed = writer.checkpoint().unwrap().files;
        drop(writer);
        Writer::open(place.open(), &committed, settings(u64::MAX), NOW).unwrap();
        let record = RecordCache::new(place.open(), 0, CAP).read(at).unwrap();
        assert_eq!(record.http_head(), head);
        assert_eq!(checked_pages(&place), 0, "replay tools show the capture that it confirms");
    }
}

#[test]
fn closing_drops_what_was_never_committed() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, _) = Writer::open(place.open(), &[], settings(600), NOW).unwrap();
        append(&mut writer, &mut encoder, 0);
        let committed = writer.checkpoint().unwrap();
        for n in 1..9 {
            append(&mut writer, &mut encoder, n);
        }
        writer.checkpoint().unwrap();
        writer.close(&committed).unwrap();
        assert_eq!(checked_pages(&place), 1);
        assert_eq!(place.names().len(), 2);
    }
}

#[test]
fn records_of_an_earlier_file_are_refused() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, _) = Writer::open(place.open(), &[], settings(1), NOW).unwrap();
        let exchange = page("http://example.org/", NOW, b"x");
        let old = encoder.encode(&exchange, Kind::Response, id(0), writer.file()).unwrap();
        writer.append(&old, NOW).unwrap();
        assert!(matches!(writer.append(&old, NOW), Err(WriteError::Stale)));
        let new = encoder.encode(&exchange, Kind::Response, id(0), writer.file()).unwrap();
        assert_eq!(writer.append(&new, NOW).unwrap().file, 2);
    }
}

#[test]
fn lost_data_is_an_error_that_names_the_file() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        append(&mut writer, &mut encoder, 0);
        let committed = writer.checkpoint().unwrap().files;
        drop(writer);
        let reopen = || Writer::open(place.open(), &committed, settings(u64::MAX), NOW);
        let warc = committed[0].warc_name();
        place.open().cut(&warc, 10).unwrap();
        let Err(error) = reopen() else { panic!("lost data went unnoticed") };
        assert!(error.to_string().contains("has 10 bytes, but"), "{error}");
        assert!(error.to_string().contains(&format!("{warc}.open")), "{error}");
        place.open().remove(&SegmentId::growing(warc)).unwrap();
        let Err(error) = reopen() else { panic!("a lost file went unnoticed") };
        assert!(matches!(error, WriteError::Lost { found: 0, .. }), "{error}");
    }
}

#[test]
fn files_of_others_are_left_alone_and_reported() {
    for place in Place::both() {
        let orphan = "test-20261115221550007-00007-x.warc.gz.open";
        for name in ["notes.txt", "other.warc.gz", "draft.open", orphan] {
            let segment = match name.strip_suffix(".open") {
                Some(name) => SegmentId::growing(name),
                None => SegmentId::sealed(name),
            };
            place.put(&segment, b"mine");
        }
        let (writer, recovery) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        assert_eq!(recovery.removed, [orphan]);
        assert_eq!(recovery.unknown, ["draft.open", "notes.txt", "other.warc.gz"]);
        assert_eq!(writer.file().serial, 8, "a serial number is not used twice");
        assert_eq!(place.read(&SegmentId::growing("draft")), b"mine");
    }
}

#[test]
fn serials_go_on_where_old_files_were_moved_away() {
    for place in Place::both() {
        let settings = evercrawl_archive::Settings { first_serial: 77, ..settings(u64::MAX) };
        let (writer, _) = Writer::open(place.open(), &[], settings, NOW).unwrap();
        assert_eq!(writer.file().serial, 77);
    }
}

#[test]
fn a_record_is_found_before_and_after_its_file_is_finished() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        let places: Vec<RecordAt> = (0..2).map(|n| append(&mut writer, &mut encoder, n)).collect();
        let last = writer.checkpoint().unwrap();
        let mut cache = RecordCache::new(place.open(), 1 << 20, CAP);
        cache.read(places[0]).unwrap();
        writer.close(&last).unwrap();
        assert_eq!(cache.read(places[1]).unwrap().payload(), payload(1));
        let nowhere = RecordAt { file: 99, ..places[0] };
        assert!(matches!(cache.read(nowhere), Err(ReadError::NoSuchFile { serial: 99 })));
    }
}

#[test]
fn the_cache_keeps_what_was_used_last() {
    for place in Place::both() {
        let mut encoder = Encoder::new(1);
        let (mut writer, _) = Writer::open(place.open(), &[], settings(u64::MAX), NOW).unwrap();
        let places: Vec<RecordAt> =
            (0..3).map(|n| append(&mut writer, &mut encoder, 100 + n)).collect();
        let last = writer.checkpoint().unwrap();
        writer.close(&last).unwrap();
        // Each of these records takes some 5 kB: two fit.
        let mut cache = RecordCache::new(place.open(), 12_000, CAP);
        for n in [0, 1, 0, 2] {
            cache.read(places[n]).unwrap();
        }
        for (segment, _) in place.open().list().unwrap() {
            place.open().remove(&segment).unwrap();
        }
        assert_eq!(cache.read(places[0]).unwrap().payload(), payload(100));
        assert_eq!(cache.read(places[2]).unwrap().payload(), payload(102));
        assert!(cache.read(places[1]).is_err(), "the one used longest ago had to go");
    }
}

#[test]
fn what_must_change_threads_can() {
    fn is_send<T: Send>() {}
    is_send::<(Encoder, evercrawl_archive::Encoded, Checkpoint, Writer, RecordCache)>();
}

/// What a crash does to a segment beyond the part that was synced.
fn damage(segments: &dyn SegmentStore, name: &str, committed: u64, cut: u64, garbage: &[u8]) {
    let list = segments.list().unwrap();
    let found = list.into_iter().find(|(segment, _)| *segment == SegmentId::growing(name));
    let Some((_, length)) = found else { return };
    let left = committed.max(length.saturating_sub(cut));
    segments.cut(name, left).unwrap();
    segments.append(name, left, garbage).unwrap();
}

fn growing(position: &FilePosition) -> [(String, u64); 2] {
    let name = |kind: &str| format!("{}.{kind}", position.name);
    [(name("warc.gz"), position.warc_len), (name("cdxj"), position.cdxj_len)]
}

/// Leaves full files as a crash amid sealing them does: `step` says how far it came.
fn half_seal(place: &Place, checkpoint: &Checkpoint, step: usize) {
    let Some(full) = checkpoint.files.iter().find(|position| !position.open) else { return };
    let [(warc, _), (index, _)] = growing(full);
    let unsorted = place.read(&SegmentId::growing(&index));
    if step == 1 {
        for part in ["", "-runs"] {
            let half = SegmentId::growing(format!("{}{part}.cdxj.sorting", full.name));
            place.put(&half, &unsorted[..9]);
        }
    }
    if step >= 2 {
        checkpoint.seal_full().unwrap();
    }
    if step == 2 {
        let sealed = SegmentId::sealed(&warc);
        place.put(&SegmentId::growing(&warc), &place.read(&sealed));
        place.open().remove(&sealed).unwrap();
    }
    if step == 3 {
        place.put(&SegmentId::growing(&index), &unsorted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Pages are appended over several runs, each ended by a crash that harms only what was not
    /// committed; then all committed pages and no others are there.
    #[test]
    fn exactly_what_was_committed_survives(
        runs in prop::collection::vec(
            (0usize..12, 0usize..12, 0u64..3000, prop::collection::vec(any::<u8>(), 0..40), 0usize..5),
            1..5,
        ),
        roll_at in 500u64..6000,
    ) {
        let left = Place::both().map(|place| {
            live_through(&place, &runs, roll_at);
            let all = place.open().list().unwrap();
            let content = |segment: SegmentId| (place.read(&segment), segment);
            all.into_iter().map(|(segment, _)| content(segment)).collect::<Vec<_>>()
        });
        prop_assert_eq!(&left[0], &left[1], "memory and files are alike");
    }
}

/// Pages before and after a commit, bytes that a crash takes, bytes that it leaves behind, and how far full
/// files were sealed.
type Run = (usize, usize, u64, Vec<u8>, usize);

fn live_through(place: &Place, runs: &[Run], roll_at: u64) {
    let mut encoder = Encoder::new(1);
    let (mut committed, mut places) = (Vec::new(), Vec::new());
    for (before, after, cut, garbage, step) in runs {
        let opened = Writer::open(place.open(), &committed, settings(roll_at), NOW);
        let (mut writer, _) = opened.unwrap();
        for _ in 0..*before {
            places.push(append(&mut writer, &mut encoder, places.len()));
        }
        let checkpoint = writer.checkpoint().unwrap();
        checkpoint.sync().unwrap();
        committed = checkpoint.files.clone();
        half_seal(place, &checkpoint, *step);
        for n in 0..*after {
            append(&mut writer, &mut encoder, 1000 + n);
        }
        if cut % 2 == 0 {
            writer.checkpoint().unwrap();
        }
        drop(writer);
        for (name, length) in committed.iter().flat_map(growing) {
            damage(&*place.open(), &name, length, *cut, garbage);
        }
    }
    let opened = Writer::open(place.open(), &committed, settings(roll_at), NOW);
    let (mut writer, _) = opened.unwrap();
    let last = writer.checkpoint().unwrap();
    writer.close(&last).unwrap();
    let all = place.open().list().unwrap();
    assert!(all.iter().all(|(segment, _)| segment.stage == Stage::Sealed));
    assert_eq!(checked_pages(place), places.len() as u64);
    assert_readable(place, &places);
}
