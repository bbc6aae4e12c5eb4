//! Which characters do the codes of a font stand for, where the file says so itself?

use std::collections::HashMap;

use super::file::utf16;
use super::lexer::{Lexer, Object};

/// The most codes of one font.
const MOST_CODES: usize = 70_000;

/// Characters by code.
#[derive(Default)]
pub(super) struct CMap {
    characters: HashMap<u32, Box<str>>,
    /// How often a code was given a character, which may be again and again.
    given: usize,
    /// How many bytes a code has, where the map says so.
    pub(super) bytes: Option<usize>,
}

impl CMap {
    /// Reads a `ToUnicode` program; what is broken in it is passed over.
    pub(super) fn read(program: &[u8]) -> Self {
        let mut map = CMap::default();
        let mut lexer = Lexer::new(program, 0);
        let mut operands = Vec::new();
        while let Some(object) = lexer.next() {
            let Object::Word(word) = &object else {
                if operands.len() < 1024 {
                    operands.push(object);
                }
                continue;
            };
            match word.as_slice() {
                b"endcodespacerange" => {
                    map.bytes = operands.first().and_then(Object::string).map(<[u8]>::len)
                }
                b"endbfchar" => {
                    operands.chunks_exact(2).for_each(|pair| map.one(&pair[0], &pair[1]))
                }
                b"endbfrange" => operands.chunks_exact(3).for_each(|three| map.range(three)),
                _ => {}
            }
            operands.clear();
        }
        map
    }

    pub(super) fn get(&self, code: u32) -> Option<&str> {
        self.characters.get(&code).map(|text| &**text)
    }

    fn one(&mut self, code: &Object, text: &Object) {
        if let (Some(code), Some(text)) = (code.string(), text.string()) {
            self.insert(number(code), utf16(text));
        }
    }

    fn range(&mut self, three: &[Object]) {
        let (Some(from), Some(to)) = (three[0].string(), three[1].string()) else { return };
        let (from, to) = (number(from), number(to).min(number(from).saturating_add(0xFFFF)));
        match &three[2] {
            Object::Array(list) => {
                for (code, text) in (from..=to).zip(list) {
                    text.string().into_iter().for_each(|text| self.insert(code, utf16(text)));
                }
            }
            Object::String(first) => {
                let text = utf16(first);
                let Some(last) = text.chars().next_back() else { return };
                let stem = &text[..text.len() - last.len_utf8()];
                for code in from..=to {
                    if self.given >= MOST_CODES {
                        return;
                    }
                    let next = char::from_u32(u32::from(last).saturating_add(code - from));
                    next.into_iter().for_each(|next| self.insert(code, format!("{stem}{next}")));
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, code: u32, text: String) {
        if self.given < MOST_CODES {
            self.given += 1;
            self.characters.insert(code, text.into());
        }
    }
}

/// A code of up to four bytes.
pub(super) fn number(code: &[u8]) -> u32 {
    code.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_for_what_the_map_says() {
        let map = CMap::read(
            b"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0001> <00660069> endbfchar \
              2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0058> <0059>] endbfrange garbage <<",
        );
        assert_eq!((map.bytes, map.get(1), map.get(0x12)), (Some(2), Some("fi"), Some("C")));
        assert_eq!((map.get(0x21), map.get(0x13)), (Some("Y"), None));
        let huge = CMap::read(b"1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange");
        assert!(huge.characters.len() <= 0x1_0000);
    }
}
