//! Which bits are set in more than half of many 64-bit numbers?

/// The most numbers are counted in this many binary digits; no text is as long.
const DIGITS: usize = 48;

/// Sixty-four counters, one a bit, kept across words: digit `k` of all of them is one `u64`.
///
/// Numbers are added in pairs, carries again in pairs and so on, so that each number costs one
/// full adder of five instructions instead of 64 additions.
pub(crate) struct Tally {
    numbers: u64,
    /// Digit `k` of what has been summed.
    sums: [u64; DIGITS],
    /// One number of weight `2^k` that waits for a partner, where bit `k` of `numbers` is set.
    waiting: [u64; DIGITS],
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self { numbers: 0, sums: [0; DIGITS], waiting: [0; DIGITS] }
    }

    #[inline]
    pub(crate) fn add(&mut self, number: u64) {
        let pairs = (self.numbers.trailing_ones() as usize).min(DIGITS - 1);
        let mut carry = number;
        for digit in 0..pairs {
            let sum;
            (sum, carry) = full_adder(self.sums[digit], self.waiting[digit], carry);
            self.sums[digit] = sum;
        }
        self.waiting[pairs] = carry;
        self.numbers += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers == 0
    }

    /// Returns the bits that are set in more than half of the numbers.
    pub(crate) fn majority(&self) -> u64 {
        let half = self.numbers / 2;
        let (mut carry, mut greater) = (0, 0);
        for digit in 0..DIGITS {
            let waits = self.numbers >> digit & 1 == 1;
            let waiting = if waits { self.waiting[digit] } else { 0 };
            let count;
            (count, carry) = full_adder(self.sums[digit], waiting, carry);
            // From the lowest digit up: a differing higher digit overrules what was found below.
            greater = if half >> digit & 1 == 1 { greater & count } else { greater | count };
        }
        greater
    }
}

/// Adds three digits in all 64 counters at once; returns sum and carry.
#[inline]
fn full_adder(a: u64, b: u64, c: u64) -> (u64, u64) {
    let differ = a ^ b;
    (differ ^ c, a & b | differ & c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn majority_by_counting(numbers: &[u64]) -> u64 {
        let set = |bit: u32| numbers.iter().filter(|&number| number >> bit & 1 == 1).count();
        (0..64).filter(|&bit| 2 * set(bit) > numbers.len()).fold(0, |bits, bit| bits | 1 << bit)
    }

    fn majority(numbers: &[u64]) -> u64 {
        let mut tally = Tally::new();
        numbers.iter().for_each(|&number| tally.add(number));
        tally.majority()
    }

    #[test]
    fn ties_are_no_majority() {
        assert_eq!(majority(&[]), 0);
        assert_eq!(majority(&[u64::MAX]), u64::MAX);
        assert_eq!(majority(&[u64::MAX, 0]), 0);
        assert_eq!(majority(&[u64::MAX, 0, 5]), 5);
    }

    proptest! {
        #[test]
        fn agrees_with_counting(numbers in prop::collection::vec(any::<u64>(), 0..200)) {
            prop_assert_eq!(majority(&numbers), majority_by_counting(&numbers));
        }

        #[test]
        fn agrees_with_counting_where_bits_repeat(
            numbers in prop::collection::vec(prop::sample::select(vec![0, 1, 3, u64::MAX]), 0..600),
        ) {
            prop_assert_eq!(majority(&numbers), majority_by_counting(&numbers));
        }
    }
}
