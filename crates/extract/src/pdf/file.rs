//! Where do the objects of a PDF lie? Found by looking for them, since the tables of damaged files lie.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use memchr::memmem;

use super::Budget;
use super::filters::unpack;
use super::lexer::{Dict, Lexer, Object};
use super::lock::Lock;

/// The most objects of a file.
const MOST_OBJECTS: usize = 500_000;
/// References that lead to references.
const MOST_HOPS: usize = 16;

/// A file with its objects by number.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: HashMap<u32, Place>,
    /// Object streams, unpacked.
    streams: HashMap<u32, Rc<Vec<u8>>>,
    /// Dictionaries that say where the file begins: those of its tables.
    trailers: Vec<Dict>,
    /// What the file is encrypted by, if the empty password opens it.
    lock: Option<Lock>,
    pub(super) budget: Budget,
}

/// Where an object lies.
#[derive(Clone, Copy)]
enum Place {
    /// In the file, with the generation of its number.
    At(usize, u16),
    /// In an object stream, from this byte on.
    In(u32, usize),
}

/// A dictionary with the bytes behind it, still packed.
pub(super) struct Stream<'a> {
    pub(super) dict: Dict,
    pub(super) packed: Cow<'a, [u8]>,
}

impl<'a> File<'a> {
    /// Finds the objects of a file. Where an object stands twice, the later one counts, as in a file that was changed.
    pub(super) fn open(bytes: &'a [u8]) -> Self {
        let mut file = File {
            bytes,
            places: HashMap::new(),
            streams: HashMap::new(),
            trailers: Vec::new(),
            lock: None,
            budget: Budget::new(),
        };
        let mut object_streams = Vec::new();
        for at in memmem::find_iter(bytes, b"obj") {
            if file.budget.is_spent() {
                break;
            }
            if let Some((number, generation, start)) = object_header(bytes, at)
                && file.places.len() < MOST_OBJECTS
                && file.note_object(number, (start, generation))
            {
                object_streams.push((number, start));
            }
        }
        for at in memmem::find_iter(bytes, b"trailer").take(1000) {
            let mut lexer = Lexer::new(bytes, at + b"trailer".len());
            if file.budget.is_spent() {
                break;
            }
            let object = lexer.next();
            file.budget.pay(lexer.at - at);
            if let Some(Object::Dict(dict)) = object {
                file.trailers.push(dict);
            }
        }
        file.unlock();
        for (number, start) in object_streams {
            file.note_object_stream(number, start);
        }
        file
    }

    /// Notes where an object lies; true of a stream that holds others.
    fn note_object(&mut self, number: u32, (start, generation): (usize, u16)) -> bool {
        self.places.insert(number, Place::At(start, generation));
        let head = &self.bytes[start..self.bytes.len().min(start + 512)];
        if memmem::find(head, b"/ObjStm").is_some() {
            return true;
        }
        if memmem::find(head, b"/XRef").is_some()
            && let Some(stream) = self.stream_at(start)
            && self.trailers.len() < 1000
        {
            self.trailers.push(stream.dict);
        }
        false
    }

    /// Opens the file, if it is encrypted and needs no password.
    fn unlock(&mut self) {
        let Some(trailer) = self.trailers.iter().find(|it| it.get("Encrypt").is_some()).cloned()
        else {
            return;
        };
        let id = self.trailers.iter().find_map(|trailer| match trailer.get("ID")? {
            Object::Array(parts) => parts.first()?.string().map(<[u8]>::to_vec),
            _ => None,
        });
        let encrypt = self.dict(&trailer, "Encrypt");
        self.lock = encrypt.and_then(|it| Lock::open(&it, id.as_deref().unwrap_or_default()));
    }

    /// The objects in an object stream: it begins with pairs of their numbers and places. Where one stands in the file
    /// behind it, that counts.
    fn note_object_stream(&mut self, number: u32, start: usize) {
        let Some(Place::At(at, generation)) = self.places.get(&number).copied() else { return };
        // Another stream has its number.
        if at != start {
            return;
        }
        let Some(stream) = self.stream_at(start) else { return };
        let stream = self.opened((number, generation), stream);
        let first = self.entry(&stream.dict, "First").and_then(|o| o.size()).unwrap_or_default();
        let count = self.entry(&stream.dict, "N").and_then(|o| o.size()).unwrap_or_default();
        let unpacked = unpack(&stream, self);
        let mut lexer = Lexer::new(&unpacked, 0);
        for _ in 0..count.min(MOST_OBJECTS) {
            let pair = (lexer.next().and_then(|o| o.size()), lexer.next().and_then(|o| o.size()));
            let (Some(inner), Some(offset)) = pair else { break };
            if self.places.len() >= MOST_OBJECTS || !self.budget.pay(4) {
                break;
            }
            let place = Place::In(number, first.saturating_add(offset));
            let later = |place: &Place| matches!(place, Place::At(other, _) if *other > start);
            if !self.places.get(&(inner as u32)).is_some_and(later) {
                self.places.insert(inner as u32, place);
            }
        }
        self.streams.insert(number, Rc::new(unpacked));
    }

    /// An object by its number.
    pub(super) fn object(&mut self, number: u32) -> Option<Object> {
        match *self.places.get(&number)? {
            Place::At(start, generation) => {
                let mut object = self.parse(self.bytes, start)?;
                if let Some(lock) = &self.lock {
                    lock.strings((number, generation), &mut object);
                }
                Some(object)
            }
            Place::In(stream, start) => {
                let unpacked = self.streams.get(&stream)?.clone();
                self.parse(&unpacked, start)
            }
        }
    }

    fn parse(&mut self, bytes: &[u8], start: usize) -> Option<Object> {
        if self.budget.is_spent() {
            return None;
        }
        let mut lexer = Lexer::new(bytes, start);
        let object = lexer.next()?;
        self.budget.pay(lexer.at - start + 1).then_some(object)
    }

    /// What an object stands for, once references are followed.
    pub(super) fn resolve(&mut self, object: &Object) -> Option<Object> {
        let mut object = object.clone();
        for _ in 0..MOST_HOPS {
            let Object::Ref(number) = object else { return Some(object) };
            object = self.object(number)?;
        }
        None
    }

    /// The entry of a dictionary, once references are followed.
    pub(super) fn entry(&mut self, dict: &Dict, name: &str) -> Option<Object> {
        self.resolve(dict.get(name)?)
    }

    pub(super) fn dict(&mut self, dict: &Dict, name: &str) -> Option<Dict> {
        as_dict(self.entry(dict, name)?)
    }

    /// The stream that an object refers to.
    pub(super) fn stream(&mut self, object: &Object) -> Option<Stream<'a>> {
        let mut number = match object {
            Object::Ref(number) => *number,
            _ => return None,
        };
        for _ in 0..MOST_HOPS {
            let Place::At(start, generation) = *self.places.get(&number)? else { return None };
            match self.parse(self.bytes, start)? {
                Object::Ref(next) => number = next,
                Object::Dict(_) => {
                    let stream = self.stream_at(start)?;
                    return Some(self.opened((number, generation), stream));
                }
                _ => return None,
            }
        }
        None
    }

    /// The bytes of a stream, unpacked as far as the budget goes.
    pub(super) fn unpacked(&mut self, object: &Object) -> Option<Vec<u8>> {
        let stream = self.stream(object)?;
        Some(unpack(&stream, self))
    }

    /// A stream with its bytes as they were before the file was encrypted.
    fn opened(&mut self, of: (u32, u16), stream: Stream<'a>) -> Stream<'a> {
        let Some(lock) = &self.lock else { return stream };
        let packed = match self.budget.pay(stream.packed.len() / 2) {
            true => lock.stream(of, &stream.packed).into(),
            false => Cow::Borrowed(&[][..]),
        };
        Stream { packed, ..stream }
    }

    fn stream_at(&mut self, start: usize) -> Option<Stream<'a>> {
        if self.budget.is_spent() {
            return None;
        }
        let mut lexer = Lexer::new(self.bytes, start);
        let Some(Object::Dict(dict)) = lexer.next() else { return None };
        lexer.skip_space();
        let rest = self.bytes.get(lexer.at..)?.strip_prefix(b"stream")?;
        let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        let said = match dict.get("Length") {
            Some(length @ Object::Number(_)) => length.size(),
            Some(reference) => {
                let reference = reference.clone();
                self.resolve(&reference).and_then(|length| length.size())
            }
            None => None,
        };
        let ends = |length: &usize| {
            let after = rest.get(*length..).unwrap_or_default().trim_ascii_start();
            *length <= rest.len() && after.starts_with(b"endstream")
        };
        let length = match said.filter(ends) {
            Some(length) => length,
            None => memmem::find(rest, b"endstream").unwrap_or(rest.len()),
        };
        let steps = lexer.at - start + length / 64;
        self.budget.pay(steps).then_some(Stream { dict, packed: rest[..length].into() })
    }

    /// Whether it is encrypted, and cannot be read.
    pub(super) fn is_encrypted(&self) -> bool {
        self.lock.is_none() && self.trailers.iter().any(|it| it.get("Encrypt").is_some())
    }

    /// The catalog: where the pages hang.
    pub(super) fn catalog(&mut self) -> Option<Dict> {
        let roots: Vec<_> =
            self.trailers.iter().rev().filter_map(|t| t.get("Root").cloned()).collect();
        roots
            .iter()
            .find_map(|root| as_dict(self.resolve(root)?).filter(|d| d.get("Pages").is_some()))
    }

    /// All numbers of objects, in order.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut all: Vec<_> = self.places.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// The title that the file gives itself.
    pub(super) fn title(&mut self) -> Option<String> {
        let infos: Vec<_> =
            self.trailers.iter().rev().filter_map(|t| t.get("Info").cloned()).collect();
        let title = infos.iter().find_map(|info| {
            let info = as_dict(self.resolve(info)?)?;
            Some(readable(self.entry(&info, "Title")?.string()?))
        });
        let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        title.filter(|title| !title.is_empty())
    }

    pub(super) fn language(&mut self) -> Option<String> {
        let catalog = self.catalog()?;
        let language = readable(self.entry(&catalog, "Lang")?.string()?);
        Some(language.trim().to_owned()).filter(|l| !l.is_empty() && l.len() <= 35)
    }
}

pub(super) fn as_dict(object: Object) -> Option<Dict> {
    if let Object::Dict(dict) = object { Some(dict) } else { None }
}

/// The number and generation of the object whose `obj` stands at `at`, and where the object begins.
fn object_header(bytes: &[u8], at: usize) -> Option<(u32, u16, usize)> {
    let before = bytes.get(at.saturating_sub(24)..at)?;
    let mut words = before.rsplit(|byte| byte.is_ascii_whitespace() || *byte == 0);
    // `12 0 obj`: what stands right before must be white space.
    if !words.next()?.is_empty() {
        return None;
    }
    let mut words = words.filter(|word| !word.is_empty());
    let generation = words.next()?;
    let number = words.next()?;
    let digits = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&number[number.len() - digits..]).ok()?.parse().ok()?;
    let generation = std::str::from_utf8(generation).ok()?;
    let is_number = generation.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (number, generation.parse().unwrap_or_default(), at + 3))
}

/// A text string: UTF-16 or UTF-8 where its first bytes say so, else an eight-bit encoding.
pub(super) fn readable(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf16(rest),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| eight_bit(byte)).collect(),
    }
}

/// The eight-bit encoding of titles: Latin 1, but for what stands in place of its control characters.
fn eight_bit(byte: u8) -> char {
    const MARKS: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚',
        '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    let mark = byte.checked_sub(0x80).and_then(|at| MARKS.get(usize::from(at)));
    mark.copied().unwrap_or(char::from(byte))
}

/// Big-endian UTF-16.
pub(super) fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
