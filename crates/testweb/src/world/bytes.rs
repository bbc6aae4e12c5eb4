//! How are small things appended to a buffer without allocating?

pub(crate) fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    push_padded(out, number, 1);
}

/// Appends a number with zeros before it up to a width.
pub(crate) fn push_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    push_digits(out, number, 10, width);
}

pub(crate) fn push_hex(out: &mut Vec<u8>, number: u64) {
    push_digits(out, number, 16, 1);
}

fn push_digits(out: &mut Vec<u8>, mut number: u64, base: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 {
        first -= 1;
        digits[first] = b"0123456789abcdef"[(number % base) as usize];
        number /= base;
    }
    out.extend_from_slice(&digits[first.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for number in [0, 7, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            out.push(b' ');
            push_hex(&mut out, number);
            out.push(b' ');
            push_padded(&mut out, number, 4);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{number} {number:x} {number:04}"));
        }
    }
}
