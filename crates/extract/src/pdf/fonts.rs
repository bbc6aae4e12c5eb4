//! What do the bytes that a font shows stand for, and how wide are they?

use std::collections::HashMap;

use super::cmap::{CMap, number};
use super::file::{File, as_dict, utf16};
use super::glyphs::character;
use super::lexer::{Dict, Object};

/// A font, as far as text needs it.
pub(super) struct Font {
    map: Option<CMap>,
    codes: Codes,
    /// Widths of codes, in thousandths of the size.
    widths: HashMap<u32, f64>,
    usual_width: f64,
}

/// What codes without a map stand for.
enum Codes {
    /// One byte each.
    Simple(Box<[char; 256]>),
    /// Two bytes each, which are UTF-16.
    Utf16,
    /// Two bytes each, which only the font knows.
    Unknown,
}

impl Font {
    pub(super) fn read(file: &mut File<'_>, dict: &Dict) -> Self {
        let map = dict.get("ToUnicode").cloned().and_then(|map| file.unpacked(&map));
        let map = map
            .filter(|program| file.budget.pay(program.len()))
            .map(|program| CMap::read(&program));
        if dict.name("Subtype") == Some(b"Type0") {
            let encoding = file.entry(dict, "Encoding");
            let utf16 = matches!(&encoding, Some(Object::Name(name)) if is_utf16(name));
            let codes = if utf16 { Codes::Utf16 } else { Codes::Unknown };
            let (widths, usual_width) = wide_widths(file, dict);
            return Font { map, codes, widths, usual_width };
        }
        let codes = Codes::Simple(Box::new(simple_codes(file, dict)));
        Font { map, codes, widths: simple_widths(file, dict), usual_width: 500.0 }
    }

    /// Writes what `bytes` show to `out`, and returns how wide it is, in sizes, with how many codes there were.
    pub(super) fn show(&self, bytes: &[u8], out: &mut String) -> (f64, usize) {
        let length = match (&self.codes, self.map.as_ref().and_then(|map| map.bytes)) {
            (Codes::Simple(_), _) => 1,
            (_, Some(length @ 1..=4)) => length,
            _ => 2,
        };
        let mut width = 0.0;
        for code in bytes.chunks(length) {
            self.show_code(code, out);
            width += self.widths.get(&number(code)).unwrap_or(&self.usual_width) / 1000.0;
        }
        (width, bytes.len().div_ceil(length))
    }

    fn show_code(&self, code: &[u8], out: &mut String) {
        if let Some(text) = self.map.as_ref().and_then(|map| map.get(number(code))) {
            return out.push_str(text);
        }
        match (&self.codes, code) {
            (Codes::Simple(table), [byte]) => out.push(table[usize::from(*byte)]),
            (Codes::Utf16, code) => out.push_str(&utf16(code)),
            _ => {}
        }
    }
}

fn is_utf16(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    name.contains("UCS2") || name.contains("UTF16")
}

/// The characters of a font with one byte a code: those of its encoding, and how it differs from that.
fn simple_codes(file: &mut File<'_>, font: &Dict) -> [char; 256] {
    let encoding = file.entry(font, "Encoding");
    let name = match &encoding {
        Some(Object::Name(name)) => name.clone(),
        Some(Object::Dict(dict)) => dict.name("BaseEncoding").unwrap_or_default().to_vec(),
        _ => Vec::new(),
    };
    let base = if name == b"MacRomanEncoding" {
        encoding_rs::MACINTOSH
    } else {
        encoding_rs::WINDOWS_1252
    };
    let mut table = [' '; 256];
    for (code, slot) in (0..=255_u8).zip(table.iter_mut()) {
        let decoded =
            base.decode_without_bom_handling_and_without_replacement(std::slice::from_ref(&code));
        let shown =
            decoded.as_ref().and_then(|text| text.chars().next()).filter(|c| !c.is_control());
        *slot = shown.unwrap_or(' ');
    }
    if let Some(differences) =
        encoding.and_then(as_dict).and_then(|dict| file.entry(&dict, "Differences"))
        && let Object::Array(list) = differences
    {
        differ(&mut table, &list);
    }
    table
}

/// A number names the first code that the names after it are for.
fn differ(table: &mut [char; 256], differences: &[Object]) {
    let mut code = 0;
    for one in differences {
        match one {
            Object::Number(next) => code = *next as usize,
            Object::Name(name) => {
                if let (Some(slot), Some(shown)) = (table.get_mut(code), character(name)) {
                    *slot = shown;
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
}

fn simple_widths(file: &mut File<'_>, font: &Dict) -> HashMap<u32, f64> {
    let first = file.entry(font, "FirstChar").and_then(|o| o.size()).unwrap_or_default() as u32;
    let Some(Object::Array(list)) = file.entry(font, "Widths") else { return HashMap::new() };
    let widths = list.iter().take(256).enumerate();
    widths.filter_map(|(at, width)| Some((first + at as u32, width.number()?))).collect()
}

/// `[code [w w w] from to w ...]`
fn wide_widths(file: &mut File<'_>, font: &Dict) -> (HashMap<u32, f64>, f64) {
    let mut widths = HashMap::new();
    let Some(Object::Array(inner)) = file.entry(font, "DescendantFonts") else {
        return (widths, 1000.0);
    };
    let inner = inner.first().and_then(|font| file.resolve(font)).and_then(as_dict);
    let Some(inner) = inner else { return (widths, 1000.0) };
    let usual = file.entry(&inner, "DW").and_then(|o| o.number()).unwrap_or(1000.0);
    let Some(Object::Array(list)) = file.entry(&inner, "W") else { return (widths, usual) };
    let mut rest = list.as_slice();
    while widths.len() < 70_000 && file.budget.pay(1) {
        rest = match rest {
            [from, Object::Array(each), rest @ ..] => {
                let from = from.size().unwrap_or_default() as u32;
                file.budget.pay(each.len());
                let codes =
                    (from..).zip(each).filter_map(|(code, width)| Some((code, width.number()?)));
                widths.extend(codes.take(70_000));
                rest
            }
            [from, to, width, rest @ ..] => {
                let (from, to) =
                    (from.size().unwrap_or_default() as u32, to.size().unwrap_or_default() as u32);
                let width = width.number().unwrap_or(usual);
                if !file.budget.pay(to.saturating_sub(from) as usize) {
                    break;
                }
                widths.extend((from..=to).take(70_000).map(|code| (code, width)));
                rest
            }
            _ => break,
        };
    }
    (widths, usual)
}
