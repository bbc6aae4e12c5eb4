//! Can every word be read on its ground, in the light and in the dark?

use std::collections::HashMap;

use evercrawl_screens::assets::STYLE;

/// Words and their grounds, by the names of the style sheet.
const PAIRS: [(&str, &str); 20] = [
    ("ink", "paper"),
    ("ink", "bg"),
    ("ink", "hover"),
    ("soft", "paper"),
    ("soft", "bg"),
    ("soft", "faint"),
    ("soft", "hover"),
    ("accent", "paper"),
    ("accent", "bg"),
    ("accent", "news-bg"),
    ("on-accent", "accent"),
    ("good", "good-bg"),
    ("news", "news-bg"),
    ("warn", "warn-bg"),
    ("bad", "bad-bg"),
    ("plain", "plain-bg"),
    ("ins", "ins-bg"),
    ("del", "del-bg"),
    ("paper", "bad"),
    ("accent", "hover"),
];

/// What is drawn; three to one is enough to see it.
const DRAWN: [&str; 7] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6"];

/// The colours of the schemes: light, and dark on top of it.
fn schemes() -> [HashMap<String, [f64; 3]>; 2] {
    let text = std::str::from_utf8(STYLE.bytes).unwrap();
    let (light, dark) = text.split_once("@media screen and (prefers-color-scheme:dark)").unwrap();
    let dark = &dark[..dark.find("}}").unwrap()];
    let light = colours(light);
    let mut both = light.clone();
    both.extend(colours(dark));
    [light, both]
}

fn colours(text: &str) -> HashMap<String, [f64; 3]> {
    let parts = text.split("--").skip(1).filter_map(|part| part.split_once(':'));
    parts
        .filter_map(|(name, value)| {
            Some((name.to_owned(), colour(value.split([';', '}']).next()?)?))
        })
        .collect()
}

fn colour(text: &str) -> Option<[f64; 3]> {
    let digits = text.trim().strip_prefix('#')?;
    let long: String = if digits.len() == 3 {
        digits.chars().flat_map(|digit| [digit, digit]).collect()
    } else {
        digits.to_owned()
    };
    let part = |at: usize| u8::from_str_radix(long.get(at..at + 2)?, 16).ok().map(f64::from);
    Some([part(0)?, part(2)?, part(4)?])
}

/// The relative luminance of a colour (WCAG 2).
fn luminance(colour: [f64; 3]) -> f64 {
    let linear = colour.map(|part| {
        let share = part / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

#[test]
fn words_stand_out_from_their_ground_in_both_schemes() {
    for (scheme, colours) in ["light", "dark"].iter().zip(schemes()) {
        for (words, ground) in PAIRS {
            let ratio = contrast(colours[words], colours[ground]);
            assert!(ratio >= 4.5, "{scheme}: {words} on {ground}: {ratio:.2}");
        }
        for drawn in DRAWN {
            let ratio = contrast(colours[drawn], colours["paper"]);
            assert!(ratio >= 3.0, "{scheme}: {drawn}: {ratio:.2}");
        }
    }
}
