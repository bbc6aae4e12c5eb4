//! Is this Prometheus text, format 0.0.4, to the letter? A small reader that forgives nothing.

use std::collections::{BTreeMap, HashSet};

/// A sample: its name, its labels in order, its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: f64,
}

impl Line {
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a text, or says what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Vec<Line>, String> {
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line does not end".to_owned());
    }
    let (mut lines, mut done) = (Vec::new(), HashSet::new());
    let mut family: Option<(String, String)> = None;
    let mut helped: Option<String> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or("HELP without text")?;
            if help.is_empty() || !done.insert(name.to_owned()) {
                return Err(format!("second or empty HELP of {name}"));
            }
            helped = Some(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or("TYPE without a type")?;
            if helped.take().as_deref() != Some(name) {
                return Err(format!("TYPE of {name} does not follow its HELP"));
            }
            if !["counter", "gauge", "histogram"].contains(&kind) {
                return Err(format!("type {kind}"));
            }
            family = Some((name.to_owned(), kind.to_owned()));
        } else {
            let sample = read_line(line)?;
            let (name, kind) = family.as_ref().ok_or("a sample before any TYPE")?;
            let suffix = sample
                .name
                .strip_prefix(name.as_str())
                .ok_or(format!("{} stands among {name}", sample.name))?;
            let suffixes: &[&str] =
                if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            if !suffixes.contains(&suffix) {
                return Err(format!("{} is not a sample of a {kind}", sample.name));
            }
            if kind == "counter" && !(sample.value >= 0.0 && sample.value.is_finite()) {
                return Err(format!("counter {} is {}", sample.name, sample.value));
            }
            lines.push(sample);
        }
    }
    no_repeats(&lines)?;
    sound_histograms(&lines)?;
    Ok(lines)
}

fn read_line(line: &str) -> Result<Line, String> {
    let name_end = line.find(['{', ' ']).ok_or(format!("no value: {line}"))?;
    let (name, mut rest) = line.split_at(name_end);
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:".contains(&b)) {
        return Err(format!("name `{name}`"));
    }
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or(format!("label in {line}"))?;
            if label.is_empty() || !label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!("label `{label}`"));
            }
            let (value, after) = read_quoted(after)?;
            labels.push((label.to_owned(), value));
            match after.as_bytes().first() {
                Some(b',') => rest = &after[1..],
                Some(b'}') => {
                    rest = &after[1..];
                    break;
                }
                _ => return Err(format!("labels of {line}")),
            }
        }
    }
    let value = rest.strip_prefix(' ').ok_or(format!("no space before the value: {line}"))?;
    let value = match value {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        "NaN" => f64::NAN,
        number => number.parse().map_err(|_| format!("value `{number}`"))?,
    };
    Ok(Line { name: name.to_owned(), labels, value })
}

/// The text up to the closing quote, and what follows that.
fn read_quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, '\\')) => value.push('\\'),
                Some((_, '"')) => value.push('"'),
                Some((_, 'n')) => value.push('\n'),
                other => return Err(format!("escape {other:?}")),
            },
            c => value.push(c),
        }
    }
    Err("a quote is not closed".to_owned())
}

fn no_repeats(lines: &[Line]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for line in lines {
        let mut labels = line.labels.clone();
        labels.sort();
        if labels.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("{} has a label twice", line.name));
        }
        if !seen.insert((line.name.clone(), labels)) {
            return Err(format!("{} comes twice: {:?}", line.name, line.labels));
        }
    }
    Ok(())
}

/// Buckets rise, the last is `+Inf`, and it is the count.
fn sound_histograms(lines: &[Line]) -> Result<(), String> {
    let mut series: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
    let others = |line: &Line| {
        let labels = line.labels.iter().filter(|(name, _)| name != "le");
        format!("{:?}", labels.collect::<Vec<_>>())
    };
    for line in lines {
        let Some(name) = line.name.strip_suffix("_bucket") else { continue };
        let bound = line.label("le").ok_or(format!("{name} without le"))?;
        let bound = if bound == "+Inf" { Ok(f64::INFINITY) } else { bound.parse() };
        let bound = bound.map_err(|_| format!("bound of {name}"))?;
        series.entry((name.to_owned(), others(line))).or_default().push((bound, line.value));
    }
    for ((name, labels), buckets) in series {
        let rises = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        let Some((f64::INFINITY, all)) = buckets.last().copied() else {
            return Err(format!("{name} has no bucket +Inf"));
        };
        let count = lines
            .iter()
            .find(|line| line.name.strip_suffix("_count") == Some(&name) && others(line) == labels);
        if !rises || count.map(|line| line.value) != Some(all) {
            return Err(format!("buckets of {name}{labels}"));
        }
    }
    Ok(())
}
