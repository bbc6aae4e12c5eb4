//! How do numbers, times and texts of others look in a page?

use std::time::Duration;

use evercrawl_model::Time;
use maud::{Markup, html};

/// A count, with thin spaces between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A count in few letters, as `12.3 k`.
pub fn short(number: f64) -> String {
    let size = number.abs();
    let (unit, by) = match size {
        _ if size >= 999_500_000.0 => ("\u{202f}G", 1e9),
        _ if size >= 999_500.0 => ("\u{202f}M", 1e6),
        _ if size >= 9_999.5 => ("\u{202f}k", 1e3),
        _ => ("", 1.0),
    };
    format!("{}{unit}", figures(number / by))
}

/// A number with three figures at most, without needless zeros.
pub fn figures(number: f64) -> String {
    let size = number.abs();
    let text = match size {
        _ if size >= 99.95 => format!("{number:.0}"),
        _ if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A number of bytes.
pub fn bytes(number: u64) -> String {
    let number = number as f64;
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut at = 0;
    let mut scaled = number;
    while scaled >= 999.5 && at + 1 < units.len() {
        scaled /= 1000.0;
        at += 1;
    }
    format!("{}\u{202f}{}", figures(scaled), units[at])
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    let text = match hundredths {
        _ if hundredths > 0.0 && hundredths < 0.05 => "<\u{202f}0.1".to_owned(),
        _ if hundredths < 9.95 => format!("{hundredths:.1}"),
        _ if hundredths > 99.0 && hundredths < 99.95 => format!("{hundredths:.1}"),
        _ => format!("{hundredths:.0}"),
    };
    format!("{}\u{202f}%", text.trim_end_matches(".0"))
}

/// A length of time in its two largest units at most.
pub fn seconds(length: f64) -> String {
    if !length.is_finite() {
        return "ever".to_owned();
    }
    let (minute, hour, day, year) = (60.0, 3_600.0, 86_400.0, 31_557_600.0);
    let rounded = |number: f64| figures((number * 10.0).round() / 10.0);
    match length {
        _ if length <= 0.0 => "0\u{202f}s".to_owned(),
        _ if length < 0.9995 => format!("{:.0}\u{202f}ms", length * 1000.0),
        _ if length < 9.95 => format!("{}\u{202f}s", rounded(length)),
        _ if length < 119.5 => format!("{length:.0}\u{202f}s"),
        _ if length < 10.0 * minute => format!("{}\u{202f}min", rounded(length / minute)),
        _ if length < 119.5 * minute => format!("{:.0}\u{202f}min", length / minute),
        _ if length < 48.0 * hour => format!("{}\u{202f}h", rounded(length / hour)),
        _ if length < 2.0 * year => format!("{}\u{202f}days", rounded(length / day)),
        _ => format!("{}\u{202f}years", rounded(length / year)),
    }
}

/// How long a moment is ago, or how far off, with the moment itself to point at.
pub fn moment(at: Time, now: Time) -> Markup {
    let length = since(now.min(at), now.max(at));
    let text = match length {
        // Clocks and commits differ by as much.
        _ if length < 1.5 => "just now".to_owned(),
        _ if at > now => format!("in {}", whole_seconds(length)),
        _ => format!("{} ago", whole_seconds(length)),
    };
    html! { time datetime=(at.rfc3339()) title=(utc(at)) { (text) } }
}

/// A length of time without parts of seconds.
fn whole_seconds(length: f64) -> String {
    seconds(length.round())
}

fn since(earlier: Time, later: Time) -> f64 {
    later.since(earlier).as_secs_f64()
}

/// A moment to the second, as people read it.
pub fn utc(at: Time) -> String {
    let text = at.rfc3339();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// The mark of an axis at a moment, fit for an axis of this length.
pub fn tick(at: Time, length: Duration) -> String {
    let text = at.rfc3339();
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
    let month = |digits: &str| {
        let number: usize = digits.parse().unwrap_or(1);
        let names =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        names[number.clamp(1, 12) - 1]
    };
    match length.as_secs() {
        0..=600 => part(11..19),
        601..=172_800 => part(11..16),
        _ => format!("{} {}", part(8..10).trim_start_matches('0'), month(&part(5..7))),
    }
}

/// A text that others wrote, with what cannot be seen made visible, so that it cannot pass for another.
pub fn visible(text: &str) -> Markup {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for letter in text.chars() {
        let (hidden, shown) = match hidden_name(letter) {
            Some(name) => (true, name),
            None => (false, letter.to_string()),
        };
        match parts.last_mut() {
            Some((was, word)) if !*was && !hidden => word.push_str(&shown),
            _ => parts.push((hidden, shown)),
        }
    }
    html! {
        @for (hidden, words) in &parts {
            @if *hidden { span.hidden-sign title="a sign that cannot be seen" { (words) } } @else { (words) }
        }
    }
}

/// The same as a plain text, for where there is no markup: names of controls, words in drawings.
pub fn plain(text: &str) -> String {
    let shown = |letter| hidden_name(letter).unwrap_or_else(|| String::from(letter));
    text.chars().map(shown).collect()
}

/// What stands for a letter that cannot be seen, or that turns the direction of others.
fn hidden_name(letter: char) -> Option<String> {
    let code = u32::from(letter);
    let hidden = letter.is_control() && letter != '\n'
        || matches!(code, 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff)
        || matches!(code, 0xfff9..=0xfffb | 0xe0000..=0xe007f);
    hidden.then(|| format!("U+{code:04X}"))
}

/// Whether an address may be a link: only `http` and `https` lead anywhere.
pub fn is_web_address(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// An address for a link: what cannot be seen in it is encoded, as browsers do.
pub fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for letter in url.chars() {
        if hidden_name(letter).is_some() || letter.is_whitespace() {
            let mut bytes = [0; 4];
            letter
                .encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        } else {
            out.push(letter);
        }
    }
    out
}

/// A value for a query.
pub fn in_query(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// An argument of a command, quoted where the shell needs it.
pub fn argument(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// `1 page`, `2 pages`.
pub fn plural(number: u64, word: &str) -> String {
    format!("{} {word}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(short(12_345.0), "12.3\u{202f}k");
        assert_eq!(short(9_999.0), "9999");
        assert_eq!(short(10_000_000.0), "10\u{202f}M");
        assert_eq!(bytes(0), "0\u{202f}B");
        assert_eq!(bytes(999_999), "1\u{202f}MB");
        assert_eq!(percent(0.0), "0\u{202f}%");
        assert_eq!(percent(0.0001), "<\u{202f}0.1\u{202f}%");
        assert_eq!(percent(0.997), "99.7\u{202f}%");
        assert_eq!(percent(1.0), "100\u{202f}%");
        assert_eq!(plural(1, "page"), "1 page");
    }

    #[test]
    fn lengths_of_time_have_the_unit_that_fits() {
        for (length, text) in [
            (0.25, "250\u{202f}ms"),
            (3.0, "3\u{202f}s"),
            (150.0, "2.5\u{202f}min"),
            (7_200.0, "2\u{202f}h"),
            (864_000.0, "10\u{202f}days"),
        ] {
            assert_eq!(seconds(length), text);
        }
        assert_eq!(seconds(f64::INFINITY), "ever");
    }

    #[test]
    fn what_cannot_be_seen_is_shown_and_markup_is_only_text() {
        let shown = visible("a\u{202e}b\u{0}<script>\u{200b}").into_string();
        for part in ["U+202E", "U+0000", "U+200B", "&lt;script&gt;"] {
            assert!(shown.contains(part), "no {part} in {shown}");
        }
        assert!(!shown.contains('\u{202e}') && !shown.contains("<script"), "{shown}");
        assert_eq!(visible("Grüße, 世界").into_string(), "Grüße, 世界");
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert!(is_web_address("HTTPS://a.org/") && is_web_address("http://a.org/"));
        assert!(
            !is_web_address("javascript://a.org/%0aalert(1)")
                && !is_web_address("data:text/html,x")
        );
    }

    #[test]
    fn values_are_quoted_for_their_place() {
        assert_eq!(in_query("http://a.org/?x=1&y=ü"), "http%3A%2F%2Fa.org%2F%3Fx%3D1%26y%3D%C3%BC");
        assert_eq!(argument("http://a.org/?x=1&y=it's"), "'http://a.org/?x=1&y=it'\\''s'");
    }
}
