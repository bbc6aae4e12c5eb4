//! Which places does `2n+1` name?

/// The places `a * n + b` for n = 0, 1, 2 and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nth {
    a: i64,
    b: i64,
}

impl Nth {
    pub(crate) const FIRST: Nth = Nth { a: 0, b: 1 };

    /// Reads `odd`, `even`, `3`, `2n`, `-n+3`.
    pub(crate) fn read(text: &str) -> Option<Nth> {
        let text: String = text.to_ascii_lowercase().split_whitespace().collect();
        let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
        match text.as_str() {
            "odd" => return Some(Nth { a: 2, b: 1 }),
            "even" => return Some(Nth { a: 2, b: 0 }),
            _ => {}
        }
        let Some((a, b)) = text.split_once('n') else {
            return Some(Nth { a: 0, b: number(&text)? });
        };
        let a = match a {
            "" | "+" => 1,
            "-" => -1,
            a => number(a)?,
        };
        let b = if b.is_empty() { 0 } else { b.starts_with(['+', '-']).then(|| number(b))?? };
        Some(Nth { a, b })
    }

    pub(crate) fn holds(self, place: u32) -> bool {
        let over = i64::from(place) - self.b;
        match self.a {
            0 => over == 0,
            a => over % a == 0 && over / a >= 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named() {
        for (text, places) in [
            ("odd", vec![1, 3, 5]),
            ("even", vec![2, 4, 6]),
            ("3", vec![3]),
            ("n", vec![1, 2, 3, 4, 5, 6]),
            ("-n + 2", vec![1, 2]),
            ("3n-1", vec![2, 5]),
            ("+2N", vec![2, 4, 6]),
            ("0", vec![]),
        ] {
            let nth = Nth::read(text).unwrap();
            let found: Vec<u32> = (1..=6).filter(|place| nth.holds(*place)).collect();
            assert_eq!(found, places, "{text}");
        }
        for text in ["", "x", "2n3", "n+", "99999999999", "2m"] {
            assert_eq!(Nth::read(text), None, "{text}");
        }
    }
}
