//! What are the objects of a PDF? Its syntax, in files, object streams and the programs that draw pages.

/// Arrays and dictionaries within each other.
const DEEPEST: usize = 32;
/// The most entries of one array or dictionary.
const MOST_ENTRIES: usize = 200_000;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Number(f64),
    String(Vec<u8>),
    Name(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// Another object, by its number.
    Ref(u32),
    /// A bare word: an operator, `true`, `stream` and the like.
    Word(Vec<u8>),
}

/// Entries by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dict(Vec<(Vec<u8>, Object)>);

impl Dict {
    pub(super) fn get(&self, name: &str) -> Option<&Object> {
        self.0.iter().find(|(key, _)| key == name.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn name(&self, name: &str) -> Option<&[u8]> {
        match self.get(name) {
            Some(Object::Name(value)) => Some(value),
            _ => None,
        }
    }

    /// How many objects it is made of.
    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|(_, value)| 1 + value.weight()).sum()
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&[u8], &Object)> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value))
    }
}

impl Object {
    /// How many objects it is made of.
    pub(super) fn weight(&self) -> usize {
        match self {
            Object::Array(all) => 1 + all.iter().map(Object::weight).sum::<usize>(),
            Object::Dict(dict) => 1 + dict.weight(),
            _ => 1,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Object::Number(number) = self { Some(*number) } else { None }
    }

    /// Shows every string within it to `change`.
    pub(super) fn each_string(&mut self, change: &mut dyn FnMut(&mut Vec<u8>)) {
        match self {
            Object::String(bytes) => change(bytes),
            Object::Array(all) => all.iter_mut().for_each(|one| one.each_string(change)),
            Object::Dict(dict) => dict.0.iter_mut().for_each(|(_, one)| one.each_string(change)),
            _ => {}
        }
    }

    /// As a count or an offset.
    pub(super) fn size(&self) -> Option<usize> {
        self.number().filter(|n| (0.0..4e9).contains(n)).map(|n| n as usize)
    }

    pub(super) fn string(&self) -> Option<&[u8]> {
        if let Object::String(bytes) = self { Some(bytes) } else { None }
    }
}

/// Reads objects one after another.
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Lexer { bytes, at }
    }

    /// The next object; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Object> {
        self.object(0)
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        self.skip_space();
        let byte = *self.bytes.get(self.at)?;
        Some(match byte {
            b'/' => Object::Name(self.name()),
            b'(' => Object::String(self.literal()),
            b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => {
                self.at += 2;
                Object::Dict(self.dict(depth))
            }
            b'<' => Object::String(self.hex()),
            b'[' => {
                self.at += 1;
                Object::Array(self.array(depth))
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number_or_ref(),
            b')' | b'>' | b']' | b'{' | b'}' => {
                self.at += 1;
                Object::Word(vec![byte])
            }
            _ => match self.word() {
                b"null" => Object::Null,
                word => Object::Word(word.to_vec()),
            },
        })
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ' => self.at += 1,
                b'%' => self.skip_until(|byte| matches!(byte, b'\n' | b'\r')),
                _ => return,
            }
        }
    }

    fn skip_until(&mut self, ends: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|byte| !ends(*byte)) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        self.skip_until(is_delimiter);
        self.at = self.at.max(start + 1);
        &self.bytes[start..self.at.min(self.bytes.len())]
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let start = self.at;
        self.skip_until(is_delimiter);
        let raw = &self.bytes[start..self.at];
        let mut name = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((&byte, after)) = rest.split_first() {
            let escaped = (byte == b'#').then(|| after.get(..2).and_then(hex_byte)).flatten();
            name.push(escaped.unwrap_or(byte));
            rest = if escaped.is_some() { &after[2..] } else { after };
        }
        name
    }

    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let (mut out, mut depth) = (Vec::new(), 1_usize);
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut out),
                b'(' => {
                    depth += 1;
                    out.push(byte);
                }
                b')' if depth == 1 => break,
                b')' => {
                    depth -= 1;
                    out.push(byte);
                }
                _ => out.push(byte),
            }
        }
        out
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        let Some(&byte) = self.bytes.get(self.at) else { return };
        self.at += 1;
        match byte {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'b' | b'f' => {}
            b'\r' if self.bytes.get(self.at) == Some(&b'\n') => self.at += 1,
            b'\n' | b'\r' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(&digit @ b'0'..=b'7') = self.bytes.get(self.at) else { break };
                    code = code << 3 | u32::from(digit - b'0');
                    self.at += 1;
                }
                out.push((code & 0xFF) as u8);
            }
            _ => out.push(byte),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let start = self.at;
        self.skip_until(|byte| byte == b'>');
        let inside = &self.bytes[start..self.at];
        self.at += 1;
        from_hex(inside)
    }

    fn array(&mut self, depth: usize) -> Vec<Object> {
        let mut all = Vec::new();
        loop {
            self.skip_space();
            match self.bytes.get(self.at) {
                None => return all,
                Some(b']') => {
                    self.at += 1;
                    return all;
                }
                _ => {}
            }
            let Some(object) = self.inner(depth) else { return all };
            if all.len() < MOST_ENTRIES {
                all.push(object);
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Dict {
        let mut all = Vec::new();
        loop {
            self.skip_space();
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return Dict(all);
            }
            if rest.starts_with(b">>") {
                self.at += 2;
                return Dict(all);
            }
            match self.inner(depth) {
                Some(Object::Name(key)) => {
                    let Some(value) = self.inner(depth) else { return Dict(all) };
                    if all.len() < MOST_ENTRIES {
                        all.push((key, value));
                    }
                }
                // A dictionary that was never closed ends where its object does.
                Some(Object::Word(word)) if word == b"endobj" || word == b"stream" => {
                    return Dict(all);
                }
                Some(_) => {}
                None => return Dict(all),
            }
        }
    }

    fn inner(&mut self, depth: usize) -> Option<Object> {
        if depth < DEEPEST {
            return self.object(depth + 1);
        }
        // Too deep for any honest file: its rest is not read.
        self.at = self.bytes.len();
        None
    }

    /// A number, or the reference that it begins: `12 0 R`.
    fn number_or_ref(&mut self) -> Object {
        let start = self.at;
        let text = self.word();
        let number = parse_number(text);
        if !text.iter().all(u8::is_ascii_digit) || text.len() > 9 {
            return Object::Number(number);
        }
        let after = self.at;
        self.skip_space();
        let generation = self.digits();
        self.skip_space();
        let is_ref = generation > 0
            && self.bytes.get(self.at) == Some(&b'R')
            && self.bytes.get(self.at + 1).is_none_or(|byte| is_delimiter(*byte));
        if is_ref && self.at - start < 64 {
            self.at += 1;
            return Object::Ref(number as u32);
        }
        self.at = after;
        Object::Number(number)
    }

    /// Skips digits; how many there were, as far as a generation has them.
    fn digits(&mut self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }
}

fn parse_number(text: &[u8]) -> f64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let number: f64 = text.trim_start_matches('+').parse().unwrap_or_default();
    if number.is_finite() { number } else { 0.0 }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        0 | b'\t'
            | b'\n'
            | 0x0c
            | b'\r'
            | b' '
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'/'
            | b'%'
    )
}

fn hex_byte(two: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()
}

/// Bytes written as hexadecimal digits; an odd last digit counts as if a zero followed.
pub(super) fn from_hex(text: &[u8]) -> Vec<u8> {
    let digits = text.iter().filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
    digits.chunks(2).map(|two| two[0] << 4 | two.get(1).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read_as_they_are_written() {
        let text = b"<</A (x\\(y\\)\\101(z))/B#20C [1 -2.5 3 0 R<414>]>> /N true %c\n null ]";
        let mut lexer = Lexer::new(text, 0);
        let Some(Object::Dict(dict)) = lexer.next() else { panic!("a dictionary") };
        assert_eq!(dict.get("A").and_then(Object::string), Some(&b"x(y)A(z)"[..]));
        let Some(Object::Array(list)) = dict.get("B C") else { panic!("an array") };
        assert_eq!(
            list[1..],
            [Object::Number(-2.5), Object::Ref(3), Object::String(b"A@".to_vec())]
        );
        assert_eq!(lexer.next(), Some(Object::Name(b"N".to_vec())));
        assert_eq!(lexer.next(), Some(Object::Word(b"true".to_vec())));
        assert_eq!(lexer.next(), Some(Object::Null));
        assert_eq!(lexer.next(), Some(Object::Word(b"]".to_vec())));
        assert_eq!(lexer.next(), None);
    }

    #[test]
    fn objects_without_end_are_read_to_the_end_of_the_file() {
        for text in ["<<", "[", "(", "<", "/", "[[[", "<</A", "1 0", "12 0 R", "\\", "(\\", "#"] {
            let mut lexer = Lexer::new(text.as_bytes(), 0);
            while lexer.next().is_some() {}
        }
        let deep = vec![b'['; 100_000];
        let mut lexer = Lexer::new(&deep, 0);
        while lexer.next().is_some() {}
    }
}
