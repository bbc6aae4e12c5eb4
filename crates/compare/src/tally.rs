//! Which bits are set in more than half of many 64-bit numbers?

/// The most numbers are counted in this many binary digits; no text is as long.
const DIGITS: usize = 48;

/// Numbers that are added together.
const BLOCK: usize = 8;
/// The digit that the sum of a block carries into.
const EIGHTS: usize = 3;

/// Sixty-four counters, one a bit, kept across words: digit `k` of all of them is one `u64`.
///
/// Numbers are added eight at a time, carries in pairs and so on, so that each number costs one full
/// adder of five instructions instead of 64 additions, and hardly a branch.
pub(crate) struct BitTally {
    numbers: u64,
    /// The last numbers, which are not summed before there are eight.
    block: [u64; BLOCK],
    /// Digit `k` of what has been summed.
    sums: [u64; DIGITS],
    /// From the eights on, one number of weight `2^k` that waits for a partner.
    waiting: [u64; DIGITS],
}

impl BitTally {
    pub(crate) fn new() -> Self {
        Self { numbers: 0, block: [0; BLOCK], sums: [0; DIGITS], waiting: [0; DIGITS] }
    }

    #[inline]
    pub(crate) fn add(&mut self, number: u64) {
        let place = self.numbers as usize % BLOCK;
        self.block[place] = number;
        self.numbers += 1;
        if place == BLOCK - 1 {
            self.add_block();
        }
    }

    fn add_block(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.block;
        let [ones, twos, fours, ..] = &mut self.sums;
        let [two_a, two_b, two_c, two_d] =
            [(a, b), (c, d), (e, f), (g, h)].map(|(one, other)| add_two(ones, one, other));
        let [four_a, four_b] =
            [(two_a, two_b), (two_c, two_d)].map(|(one, other)| add_two(twos, one, other));
        let mut carry = add_two(fours, four_a, four_b);
        let pairs = ((self.numbers - 1) >> EIGHTS).trailing_ones() as usize;
        let alone = (EIGHTS + pairs).min(DIGITS - 1);
        for digit in EIGHTS..alone {
            carry = add_two(&mut self.sums[digit], self.waiting[digit], carry);
        }
        self.waiting[alone] = carry;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers == 0
    }

    /// Returns the bits that are set in more than half of the numbers.
    pub(crate) fn majority(&self) -> u64 {
        let half = self.numbers / 2;
        let (mut carry, mut greater) = (0, 0);
        for (digit, sum) in self.sums_with_rest().into_iter().enumerate() {
            let waits = digit >= EIGHTS && self.numbers >> digit & 1 == 1;
            let waiting = if waits { self.waiting[digit] } else { 0 };
            let count;
            (count, carry) = full_adder(sum, waiting, carry);
            // From the lowest digit up: a differing higher digit overrules what was found below.
            greater = if half >> digit & 1 == 1 { greater & count } else { greater | count };
        }
        greater
    }

    /// The sums with the numbers of the block that is not full.
    fn sums_with_rest(&self) -> [u64; DIGITS] {
        let mut sums = self.sums;
        for number in &self.block[..self.numbers as usize % BLOCK] {
            let mut carry = *number;
            sums.iter_mut().for_each(|sum| carry = add_two(sum, carry, 0));
        }
        sums
    }
}

/// Adds two numbers to a digit, and returns what carries into the next.
#[inline]
fn add_two(sum: &mut u64, one: u64, other: u64) -> u64 {
    let carry;
    (*sum, carry) = full_adder(*sum, one, other);
    carry
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
        let mut tally = BitTally::new();
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
