//! Do both places for segments do the same, and does no power cut take what they promised to keep?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use evercrawl_archive::{
    Disk, FileSegments, MemorySegments, RealDisk, SegmentId, SegmentStore, Stage,
};
use proptest::prelude::*;

use crate::common::{Place, read};

/// A disk that keeps nothing but what was synced.
#[derive(Clone, Debug)]
struct ForgetfulDisk(Arc<Mutex<Lasting>>, PathBuf);

#[derive(Debug, Default)]
struct Lasting {
    /// Each file by its number, held open so that its number is nobody else's, and how many of its bytes last.
    files: HashMap<u64, (File, u64)>,
    /// The names that last.
    names: BTreeMap<String, u64>,
}

impl Disk for ForgetfulDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.remember(file);
        RealDisk.write(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let about = file.metadata()?;
        if about.is_dir() {
            let names = names(&self.1);
            for name in names.keys() {
                self.remember(&File::open(self.1.join(name))?);
            }
            self.0.lock().unwrap().names = names;
        } else {
            self.remember(file);
            self.0.lock().unwrap().files.get_mut(&about.ino()).unwrap().1 = about.len();
        }
        Ok(())
    }
}

impl ForgetfulDisk {
    fn of(dir: &Path) -> Self {
        ForgetfulDisk(Arc::default(), dir.to_owned())
    }

    fn remember(&self, file: &File) {
        let number = file.metadata().unwrap().ino();
        let held = || (file.try_clone().unwrap(), 0);
        self.0.lock().unwrap().files.entry(number).or_insert_with(held);
    }

    fn lose_power(&self) {
        let mut lasting = self.0.lock().unwrap();
        let content = |number: &u64| {
            let (file, length) = &lasting.files[number];
            let mut bytes = vec![0; usize::try_from(*length).unwrap()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        let left: Vec<(String, Vec<u8>)> =
            lasting.names.iter().map(|(name, number)| (name.clone(), content(number))).collect();
        for name in names(&self.1).keys() {
            fs::remove_file(self.1.join(name)).unwrap();
        }
        for (name, bytes) in &left {
            fs::write(self.1.join(name), bytes).unwrap();
        }
        let held = names(&self.1);
        let reopened = |(name, number): (&String, &u64)| {
            let file = File::open(self.1.join(name)).unwrap();
            let length = file.metadata().unwrap().len();
            (*number, (file, length))
        };
        lasting.files = held.iter().map(reopened).collect();
        lasting.names = held;
    }
}

/// The files in a directory: name and number.
fn names(dir: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let number = |entry: &fs::DirEntry| entry.metadata().unwrap().ino();
    entries.map(|entry| (entry.file_name().into_string().unwrap(), number(&entry))).collect()
}

/// What can be done with segments, whose names are numbers.
#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    Append(u8, Vec<u8>),
    Sync(u8),
    Cut(u8, u64),
    Seal(u8, u8),
    Read(u8, bool, u64, usize),
    Remove(u8, bool),
    SetAside(u8, bool),
    PowerCut,
}

fn step() -> impl Strategy<Value = Step> {
    let name = || 0u8..3;
    prop_oneof![
        2 => name().prop_map(Step::Create),
        6 => (name(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(n, b)| Step::Append(n, b)),
        4 => name().prop_map(Step::Sync),
        1 => (name(), 0u64..30).prop_map(|(n, length)| Step::Cut(n, length)),
        2 => (name(), name()).prop_map(|(n, to)| Step::Seal(n, to)),
        2 => (name(), any::<bool>(), 0u64..40, 0usize..30)
            .prop_map(|(n, sealed, from, length)| Step::Read(n, sealed, from, length)),
        1 => (name(), any::<bool>()).prop_map(|(n, sealed)| Step::Remove(n, sealed)),
        1 => (name(), any::<bool>()).prop_map(|(n, sealed)| Step::SetAside(n, sealed)),
        2 => Just(Step::PowerCut),
    ]
}

fn id(name: u8, sealed: bool) -> SegmentId {
    let stage = if sealed { Stage::Sealed } else { Stage::Growing };
    SegmentId { name: name.to_string(), stage }
}

/// Takes a step and says what came of it.
fn take(segments: &dyn SegmentStore, step: &Step) -> String {
    let found =
        |result: io::Result<String>| result.unwrap_or_else(|error| format!("{:?}", error.kind()));
    let done = |ok: bool| if ok { "done" } else { "refused" }.to_owned();
    match step {
        Step::Create(name) => done(segments.create(&name.to_string()).is_ok()),
        Step::Append(name, bytes) => {
            let list = segments.list().unwrap();
            let end = list.into_iter().find(|(segment, _)| *segment == id(*name, false));
            let end = end.map_or(0, |(_, length)| length);
            done(segments.append(&name.to_string(), end, bytes).is_ok())
        }
        Step::Sync(name) => done(segments.sync(&name.to_string()).is_ok()),
        Step::Cut(name, length) => format!("{:?}", segments.cut(&name.to_string(), *length).ok()),
        Step::Seal(name, to) => done(segments.seal(&name.to_string(), &to.to_string()).is_ok()),
        Step::Read(name, sealed, from, length) => {
            let mut bytes = vec![0; *length];
            let read = segments.read(&id(*name, *sealed), *from, &mut bytes);
            found(read.map(|read| format!("{:?}", &bytes[..read])))
        }
        Step::Remove(name, sealed) => done(segments.remove(&id(*name, *sealed)).is_ok()),
        Step::SetAside(name, sealed) => {
            done(segments.set_aside(&id(*name, *sealed), "aside").is_ok())
        }
        Step::PowerCut => String::new(),
    }
}

/// Every segment with its bytes.
fn content(segments: &dyn SegmentStore) -> Vec<(SegmentId, Vec<u8>)> {
    let all = segments.list().unwrap();
    all.into_iter().map(|(segment, _)| (segment.clone(), read(segments, &segment))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is done in whatever order, and whenever the power goes: files hold what memory holds.
    #[test]
    fn files_and_memory_do_the_same(steps in prop::collection::vec(step(), 0..40)) {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("segments");
        fs::create_dir(&dir).unwrap();
        let disk = ForgetfulDisk::of(&dir);
        let open = || FileSegments::on(Arc::new(disk.clone()), &dir);
        let (mut files, memory) = (open(), MemorySegments::new());
        for step in &steps {
            prop_assert_eq!(take(&files, step), take(&memory, step), "{:?}", step);
            if matches!(step, Step::PowerCut) {
                drop(files);
                disk.lose_power();
                memory.lose_power();
                files = open();
            }
            prop_assert_eq!(content(&files), content(&memory), "{:?}", step);
        }
    }

    /// What was synced or sealed is there after a power cut.
    #[test]
    fn what_was_synced_lasts(pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..30), any::<bool>()), 1..10)) {
        let memory = MemorySegments::new();
        memory.create("a").unwrap();
        let (mut written, mut lasting) = (Vec::new(), None);
        for (bytes, is_synced) in &pieces {
            memory.append("a", written.len() as u64, bytes).unwrap();
            written.extend(bytes);
            if *is_synced {
                memory.sync("a").unwrap();
                lasting = Some(written.clone());
            }
        }
        memory.lose_power();
        let left = content(&memory).pop().map(|(_, bytes)| bytes);
        prop_assert_eq!(left, lasting);
    }
}

/// Tells of every sync what was synced: a file's length, or the names in the directory.
#[derive(Clone, Debug, Default)]
struct LoggingDisk(Arc<Mutex<Vec<String>>>, PathBuf);

impl Disk for LoggingDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        RealDisk.write(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let about = file.metadata()?;
        let names = names(&self.1);
        let name = names.iter().find(|(_, number)| **number == about.ino());
        let what = match name {
            Some((name, _)) => format!("{name}: {} bytes", about.len()),
            None => format!("names: {}", names.into_keys().collect::<Vec<_>>().join(" ")),
        };
        self.0.lock().unwrap().push(what);
        Ok(())
    }
}

/// A file is on disk before it gets its final name, and the name before anybody relies on it; the directory is
/// synced when there is a new name in it, and not for every commit.
#[test]
fn files_last_before_their_names_do() {
    let dir = tempfile::tempdir().unwrap();
    let disk = LoggingDisk(Arc::default(), dir.path().to_owned());
    let segments = FileSegments::on(Arc::new(disk.clone()), dir.path());
    segments.create("a").unwrap();
    segments.append("a", 0, b"one").unwrap();
    segments.sync("a").unwrap();
    segments.append("a", 3, b"two").unwrap();
    segments.sync("a").unwrap();
    segments.create("b").unwrap();
    segments.seal("a", "a").unwrap();
    segments.sync("b").unwrap();
    segments.remove(&SegmentId::sealed("a")).unwrap();
    let log = [
        "a.open: 3 bytes",
        "names: a.open",
        "a.open: 6 bytes",
        "a.open: 6 bytes",
        "names: a b.open",
        "b.open: 0 bytes",
        "names: b.open",
    ];
    assert_eq!(*disk.0.lock().unwrap(), log);
}

#[test]
fn what_is_set_aside_is_moved_beside_the_segments() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("archive");
    fs::create_dir(&dir).unwrap();
    for place in [Place::Memory(Arc::default()), Place::Files(outer)] {
        let segments: Arc<dyn SegmentStore> = match &place {
            Place::Files(_) => Arc::new(FileSegments::new(&dir)),
            Place::Memory(_) => place.open(),
        };
        segments.create("a").unwrap();
        segments.append("a", 0, b"mine").unwrap();
        segments.seal("a", "a").unwrap();
        segments.set_aside(&SegmentId::sealed("a"), "damaged").unwrap();
        segments.set_aside(&SegmentId::sealed("never there"), "damaged").unwrap();
        assert_eq!(segments.list().unwrap(), []);
        match &place {
            Place::Files(outer) => {
                assert_eq!(fs::read(outer.path().join("damaged/a")).unwrap(), b"mine");
            }
            Place::Memory(memory) => {
                assert_eq!(memory.list_aside("damaged"), [SegmentId::sealed("a")]);
            }
        }
    }
}

/// Whoever reads a segment while it is sealed reads on.
#[test]
fn reading_goes_on_when_a_segment_is_sealed() {
    use evercrawl_archive::{Encoder, Kind, Scan, Writer};
    for place in Place::both() {
        let segments = place.open();
        let settings = crate::common::settings(u64::MAX);
        let opened = Writer::open(Arc::clone(&segments), &[], settings, crate::common::NOW);
        let (mut writer, mut encoder) = (opened.unwrap().0, Encoder::new(1));
        // Too much to be read at once.
        let payload: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        for n in 0..3 {
            let exchange = crate::common::page("http://a.org/", crate::common::NOW, &payload);
            let id = crate::common::id(4 * n);
            let encoded = encoder.encode(&exchange, Kind::Response, id, writer.file()).unwrap();
            writer.append(&encoded, crate::common::NOW).unwrap();
        }
        let last = writer.checkpoint().unwrap();
        let warc = SegmentId::growing(last.files[0].warc_name());
        let mut scan = Scan::open(&*segments, &warc, crate::common::CAP).unwrap();
        scan.next().unwrap().unwrap();
        writer.close(&last).unwrap();
        let rest: Vec<_> = scan.map(Result::unwrap).collect();
        let responses = rest.iter().filter(|s| s.record.header("WARC-Type") == Some("response"));
        assert_eq!(responses.count(), 3);
    }
}

/// Outside of what keeps files, nobody here opens, names or syncs one.
#[test]
fn the_file_system_is_used_by_the_file_implementation_alone() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let file = path.file_name().unwrap().to_str().unwrap();
            let uses =
                ["std::fs", "File::open", "OpenOptions"].iter().any(|word| text.contains(word));
            assert_eq!(uses, ["file.rs", "disk.rs"].contains(&file), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}
