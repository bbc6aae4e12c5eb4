//! How much is `1.299,00 €`? Amounts as people and machines write them.

use std::fmt;

/// A price.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// The currency in three letters, where it is known.
    pub currency: Option<String>,
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.currency, self.amount.fract() == 0.0) {
            (Some(currency), true) => write!(f, "{} {currency}", self.amount),
            (Some(currency), false) => write!(f, "{:.2} {currency}", self.amount),
            (None, true) => write!(f, "{}", self.amount),
            (None, false) => write!(f, "{:.2}", self.amount),
        }
    }
}

impl Price {
    /// The first price in a text for readers, such as `now only 1.299,00 €`. An amount with a currency beside it comes
    /// before one without.
    pub fn in_text(text: &str) -> Option<Price> {
        let text: Vec<char> = text.chars().map(plain).collect();
        let mut first = None;
        let mut at = 0;
        while let Some(start) = (at..text.len()).find(|at| text[*at].is_ascii_digit()) {
            let end = end_of_number(&text, start);
            at = end;
            let number: String = text[start..end].iter().collect();
            let Some(amount) = amount(&number, false) else { continue };
            let currency = currency_beside(&text, start, end);
            if currency.is_some() {
                return Some(Price { amount, currency });
            }
            first = first.or(Some(Price { amount, currency }));
        }
        first
    }

    /// A price as machines are told it: `1299.00`, but also what people write.
    pub(crate) fn declared(text: &str, currency: Option<&str>) -> Option<Price> {
        let text = text.trim();
        let is_bare = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
        let found = match is_bare {
            true => Price { amount: amount(text, true)?, currency: None },
            false => Price::in_text(text)?,
        };
        let currency = currency.and_then(code_of).or(found.currency);
        Some(Price { currency, ..found })
    }
}

/// Digits of other scripts as ASCII's, and all white space as a space.
fn plain(c: char) -> char {
    let digit = |zero: u32| char::from_u32(u32::from('0') + u32::from(c) - zero).unwrap_or(c);
    match c {
        '\u{660}'..='\u{669}' => digit(0x660),
        '\u{6f0}'..='\u{6f9}' => digit(0x6f0),
        '\u{ff10}'..='\u{ff19}' => digit(0xff10),
        '\u{2019}' => '\'',
        '\u{66b}' => ',',
        c if c.is_whitespace() => ' ',
        c => c,
    }
}

/// Where a number ends: digits, and separators that digits follow. After a space or an apostrophe three digits follow.
fn end_of_number(text: &[char], start: usize) -> usize {
    let is_digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let mut at = start;
    loop {
        while is_digit(at) {
            at += 1;
        }
        let goes_on = match text.get(at) {
            Some('.' | ',') => is_digit(at + 1),
            Some(' ' | '\'') => {
                (1..=3).all(|n| is_digit(at + n)) && !is_digit(at + 4) && at - start <= 12
            }
            _ => false,
        };
        if !goes_on {
            return at;
        }
        at += 1;
    }
}

/// The amount of a number. Where one separator stands before three digits, it divides thousands, unless a machine wrote
/// it: those divide by a point alone.
fn amount(number: &str, by_machine: bool) -> Option<f64> {
    let last = number.rfind(['.', ',']);
    let point = last.filter(|at| {
        let sign = &number[*at..=*at];
        let after = number.len() - at - 1;
        let once = number.matches(sign).count() == 1;
        let other = number.contains(if sign == "." { "," } else { "." });
        let is_machines = by_machine && sign == ".";
        let is_thousands = after == 3 && !(other || is_machines || number.starts_with('0'));
        once && !is_thousands
    });
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let text = match point {
        Some(at) => format!("{}.{}", digits(&number[..at]), digits(&number[at..])),
        None => digits(number),
    };
    text.parse::<f64>().ok().filter(|amount| amount.is_finite() && text.len() <= 20)
}

/// Signs of currencies; longer ones first.
const SIGNS: [(&str, &str); 22] = [
    ("US$", "USD"),
    ("CA$", "CAD"),
    ("HK$", "HKD"),
    ("NZ$", "NZD"),
    ("AU$", "AUD"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("R$", "BRL"),
    ("S$", "SGD"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("₹", "INR"),
    ("₽", "RUB"),
    ("₩", "KRW"),
    ("₺", "TRY"),
    ("₪", "ILS"),
    ("₴", "UAH"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("¥", "JPY"),
    ("￥", "JPY"),
    ("$", "USD"),
];
const CODES: [&str; 44] = [
    "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP",
    "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KRW", "MXN", "MYR", "NGN",
    "NOK", "NZD", "PHP", "PLN", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD",
    "UAH", "USD", "VND", "ZAR", "PEN",
];

/// The currency that stands right before or after a number.
fn currency_beside(text: &[char], start: usize, end: usize) -> Option<String> {
    let before: String = text[start.saturating_sub(5)..start].iter().collect();
    let after: String = text[end..(end + 6).min(text.len())].iter().collect();
    // After `12,-`, too.
    let after = after.trim_start_matches([',', '.', '-', '–', '—']);
    let (before, after) = (before.trim_end(), after.trim_start());
    let sign = |(sign, code): &&(&str, &'static str)| {
        (before.ends_with(sign) || after.starts_with(sign)).then_some(*code)
    };
    let by_sign = SIGNS.iter().find_map(|one| sign(&one));
    let by_code =
        || CODES.iter().find(|code| before.ends_with(**code) || after.starts_with(**code)).copied();
    let euro = || after.to_lowercase().starts_with("euro").then_some("EUR");
    by_sign.or_else(by_code).or_else(euro).map(str::to_owned)
}

/// The code of a currency that is named by its code or its sign.
pub(crate) fn code_of(text: &str) -> Option<String> {
    let text = text.trim();
    let by_sign = SIGNS.iter().find(|(sign, _)| *sign == text).map(|(_, code)| (*code).to_owned());
    let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    by_sign.or_else(|| is_code.then(|| text.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, amount, currency) in [
            ("1.299,00 €", 1299.0, Some("EUR")),
            ("€1,299.00", 1299.0, Some("EUR")),
            ("1 299,00 €", 1299.0, Some("EUR")),
            ("1\u{202f}299,50\u{a0}€", 1299.5, Some("EUR")),
            ("CHF 1'299.–", 1299.0, Some("CHF")),
            ("Fr. 1’299.90", 1299.9, None),
            ("$10", 10.0, Some("USD")),
            ("from US$ 0.99 a month", 0.99, Some("USD")),
            ("1.299 €", 1299.0, Some("EUR")),
            ("1,299 kr", 1299.0, None),
            ("0.125 USD", 0.125, Some("USD")),
            ("₹1,29,999.00", 129_999.0, Some("INR")),
            ("¥12,800", 12800.0, Some("JPY")),
            ("12,- EUR", 12.0, Some("EUR")),
            ("5 pieces, 19,90 Euro", 19.9, Some("EUR")),
            ("12.345.678,90 zł", 12_345_678.9, Some("PLN")),
            ("R$ 1.234,5", 1234.5, Some("BRL")),
            ("١٢٣٫٥", 123.5, None),
            ("9,99", 9.99, None),
        ] {
            let price = Price::in_text(text).unwrap();
            assert_eq!((price.amount, price.currency.as_deref()), (amount, currency), "{text}");
        }
        for text in ["", "sold out", "€", "999999999999999999999999"] {
            assert_eq!(Price::in_text(text), None, "{text}");
        }
    }

    #[test]
    fn machines_divide_by_a_point() {
        for (text, currency, amount, code) in [
            ("1299.000", Some("eur"), 1299.0, Some("EUR")),
            ("1.299", None, 1.299, None),
            ("1299,00", Some("€"), 1299.0, Some("EUR")),
            ("1,299.00", Some("USD"), 1299.0, Some("USD")),
            ("$ 5.00", None, 5.0, Some("USD")),
            ("1.299,00 €", Some(""), 1299.0, Some("EUR")),
            ("0", Some("USD"), 0.0, Some("USD")),
        ] {
            let price = Price::declared(text, currency).unwrap();
            assert_eq!((price.amount, price.currency.as_deref()), (amount, code), "{text}");
        }
        assert_eq!(Price::declared("call us", None), None);
    }

    #[test]
    fn a_price_is_told_in_short() {
        let told = |amount, currency: Option<&str>| {
            Price { amount, currency: currency.map(str::to_owned) }.to_string()
        };
        assert_eq!(told(1299.0, Some("EUR")), "1299 EUR");
        assert_eq!(told(0.5, None), "0.50");
    }
}
