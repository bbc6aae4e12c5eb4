//! Which bytes to try next? Examples, changed a little, cut, joined and repeated.

use evercrawl_policy::SplitMix64;

/// No input gets longer.
const LONGEST: usize = 64 * 1024;

/// Bytes that parsers of many formats trip over.
const TRICKY: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"%",
    b"%00",
    b"%zz",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"<",
    b">",
    b"</",
    b"<!--",
    b"]]>",
    b"<![CDATA[",
    b"&#x10ffff;",
    b"&#0;",
    b"&amp",
    b"\"",
    b"'",
    b"\\",
    b"//",
    b"/../",
    b"?",
    b"#",
    b"@",
    b":",
    b"*",
    b"$",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"1e999",
    b"NaN",
    b"9999-12-31",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
];

/// Makes inputs of examples; the same seed makes the same inputs.
#[derive(Debug)]
pub struct Mutator {
    random: SplitMix64,
}

impl Mutator {
    /// A mutator that draws from `seed` on.
    pub fn new(seed: u64) -> Self {
        Mutator { random: SplitMix64::new(seed) }
    }

    /// One input more, made of `examples`.
    pub fn next(&mut self, examples: &[&[u8]]) -> Vec<u8> {
        let mut bytes = self.pick(examples).to_vec();
        for _ in 0..=self.random.below(6) {
            self.change(&mut bytes, examples);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, examples: &[&[u8]]) {
        let at = self.random.below(bytes.len() + 1);
        match self.random.below(7) {
            0 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] ^= 1 << self.random.below(8);
            }
            1 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] = self.random.below(256) as u8;
            }
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(..at)),
            4 => {
                let piece = self.piece(bytes);
                let times = 1 + self.random.below(50);
                insert(bytes, at, &piece.repeat(times.min(LONGEST / piece.len().max(1) + 1)));
            }
            5 => {
                let other = self.pick(examples).to_vec();
                insert(bytes, at, &self.piece(&other));
            }
            _ => insert(bytes, at, self.pick(TRICKY)),
        }
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        if from.is_empty() { &[] } else { from[self.random.below(from.len())] }
    }

    fn piece(&mut self, bytes: &[u8]) -> Vec<u8> {
        let from = self.random.below(bytes.len() + 1);
        let to = from + self.random.below(bytes.len() - from + 1);
        bytes[from..to].to_vec()
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(bytes.splice(at..at, piece.iter().copied()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_another_makes_others() {
        let inputs = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..100).map(|_| mutator.next(&[b"an example", b"another"])).collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert!(inputs(1).iter().all(|input| input.len() <= LONGEST));
    }
}
