//! What do the ciphers of PDF do? MD5, RC4 and AES-128, as far as reading needs them. They guard nothing here: whoever
//! has the file has the key.

/// The MD5 digest of `parts`, one after the other.
pub(super) fn md5(parts: &[&[u8]]) -> [u8; 16] {
    const TURNS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut text = parts.concat();
    let bits = (text.len() as u64).wrapping_mul(8);
    text.push(0x80);
    text.resize(text.len().next_multiple_of(64), 0);
    if text.len() as u64 * 8 - bits < 72 {
        text.resize(text.len() + 64, 0);
    }
    let end = text.len() - 8;
    text[end..].copy_from_slice(&bits.to_le_bytes());
    let mut sums: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in text.chunks_exact(64) {
        let word = |at: usize| {
            let four = &block[at * 4..at * 4 + 4];
            u32::from_le_bytes([four[0], four[1], four[2], four[3]])
        };
        let [mut a, mut b, mut c, mut d] = sums;
        for step in 0..64 {
            let (mixed, at) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            let sine = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(word(at));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
        }
        for (sum, more) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(more);
        }
    }
    let mut digest = [0; 16];
    for (four, sum) in digest.chunks_exact_mut(4).zip(sums) {
        four.copy_from_slice(&sum.to_le_bytes());
    }
    digest
}

/// RC4 with `key`: the same in both directions.
pub(super) fn rc4(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
    let mut other = 0_u8;
    for at in 0..256 {
        let of_key = key.get(at % key.len().max(1)).copied().unwrap_or(0);
        other = other.wrapping_add(state[at]).wrapping_add(of_key);
        state.swap(at, usize::from(other));
    }
    let (mut one, mut other) = (0_u8, 0_u8);
    let next = |byte: &u8| {
        one = one.wrapping_add(1);
        other = other.wrapping_add(state[usize::from(one)]);
        state.swap(usize::from(one), usize::from(other));
        let sum = state[usize::from(one)].wrapping_add(state[usize::from(other)]);
        byte ^ state[usize::from(sum)]
    };
    bytes.iter().map(next).collect()
}

/// Opens what AES-128 closed in blocks that depend on those before. It begins with the first of them, and ends with
/// its own padding.
pub(super) fn open_aes(key: &[u8; 16], bytes: &[u8]) -> Vec<u8> {
    let aes = Aes::new(key);
    let blocks: Vec<[u8; 16]> =
        bytes.chunks_exact(16).filter_map(|block| block.try_into().ok()).collect();
    let mut out = Vec::with_capacity(bytes.len());
    for pair in blocks.windows(2) {
        let opened = aes.open(pair[1]);
        out.extend(opened.iter().zip(pair[0]).map(|(byte, before)| byte ^ before));
    }
    let padding = out.last().copied().map_or(0, usize::from);
    if (1..=16).contains(&padding) {
        out.truncate(out.len() - padding);
    }
    out
}

/// AES with a key of 128 bits, in the direction of reading.
struct Aes {
    rounds: [[u8; 16]; 11],
    back: [u8; 256],
}

impl Aes {
    fn new(key: &[u8; 16]) -> Self {
        let forth = substitutions();
        let mut back = [0; 256];
        for (from, to) in forth.iter().enumerate() {
            back[usize::from(*to)] = from as u8;
        }
        let mut rounds = [*key; 11];
        let mut constant = 1;
        for at in 1..11 {
            let before = rounds[at - 1];
            for byte in 0..4 {
                let turned = forth[usize::from(before[12 + (byte + 1) % 4])];
                let constant = if byte == 0 { constant } else { 0 };
                rounds[at][byte] = before[byte] ^ turned ^ constant;
            }
            for byte in 4..16 {
                rounds[at][byte] = before[byte] ^ rounds[at][byte - 4];
            }
            constant = double(constant);
        }
        Aes { rounds, back }
    }

    fn open(&self, mut block: [u8; 16]) -> [u8; 16] {
        add(&mut block, &self.rounds[10]);
        for at in (0..10).rev() {
            // Rows are turned back and bytes put back, then the key and the columns are taken out.
            block = std::array::from_fn(|to| {
                let (column, row) = (to / 4, to % 4);
                self.back[usize::from(block[(column + 4 - row) % 4 * 4 + row])]
            });
            add(&mut block, &self.rounds[at]);
            if at > 0 {
                block.chunks_exact_mut(4).for_each(unmix);
            }
        }
        block
    }
}

fn add(block: &mut [u8; 16], key: &[u8; 16]) {
    block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
}

fn unmix(column: &mut [u8]) {
    let times = |byte: u8, by: u8| {
        let twice = double(byte);
        let four = double(twice);
        let eight = double(four);
        match by {
            14 => eight ^ four ^ twice,
            11 => eight ^ twice ^ byte,
            13 => eight ^ four ^ byte,
            _ => eight ^ byte,
        }
    };
    let before = [column[0], column[1], column[2], column[3]];
    for (at, byte) in column.iter_mut().enumerate() {
        let factors = [14, 11, 13, 9].into_iter().enumerate();
        *byte = factors.fold(0, |sum, (shift, by)| sum ^ times(before[(at + shift) % 4], by));
    }
}

/// Twice a byte, in the field that AES counts in.
fn double(byte: u8) -> u8 {
    (byte << 1) ^ if byte & 0x80 != 0 { 0x1b } else { 0 }
}

/// What AES puts in the place of each byte.
fn substitutions() -> [u8; 256] {
    let mut table = [0x63; 256];
    // Steps by three and back by three meet every byte and its inverse.
    let (mut number, mut inverse) = (1_u8, 1_u8);
    loop {
        number ^= double(number);
        for shift in [1, 2, 4] {
            inverse ^= inverse << shift;
        }
        inverse ^= if inverse & 0x80 != 0 { 9 } else { 0 };
        let turned = |by| inverse.rotate_left(by);
        table[usize::from(number)] = inverse ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4) ^ 0x63;
        if number == 1 {
            return table;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits = text.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect()
    }

    #[test]
    fn md5_gives_the_digests_of_its_definition() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (letters, "d174ab98d277d9f5a5611c2c9f419d9f"),
        ] {
            assert_eq!(md5(&[text.as_bytes()]).to_vec(), hex(digest), "{text}");
        }
        for length in 0..200 {
            let text = vec![b'x'; length];
            let (one, other) = text.split_at(length / 3);
            assert_eq!(md5(&[&text]), md5(&[one, other]));
        }
    }

    #[test]
    fn rc4_is_its_own_inverse_and_as_published() {
        assert_eq!(rc4(b"Key", b"Plaintext"), hex("bbf316e8d940af0ad3"));
        assert_eq!(rc4(b"Wiki", &hex("1021bf0420")), b"pedia");
        assert_eq!(rc4(b"", b"x").len(), 1);
    }

    #[test]
    fn aes_opens_the_example_of_its_standard() {
        let key: [u8; 16] = std::array::from_fn(|at| at as u8);
        let opened =
            Aes::new(&key).open(hex("69c4e0d86a7b0430d8cdb78070b4c55a").try_into().unwrap());
        assert_eq!(opened.to_vec(), hex("00112233445566778899aabbccddeeff"));
        assert!(open_aes(&key, b"short").is_empty());
    }
}
