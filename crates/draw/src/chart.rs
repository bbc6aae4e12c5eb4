//! How is a chart written that takes the width it is given, while its words keep their size?
//!
//! Places are shares of the drawing: 0 is left or below, 1 is right or above. The words of the y axis stand to the left
//! of it, where the style sheet leaves room (padding). Curves lie in an inner drawing that
//! stretches; words, dots and bars are put at percentages of the outer one, which does not.

use std::fmt::Write;

use crate::escaped;

/// Room for the words of the x axis, in pixels.
const BELOW: f64 = 22.0;
/// Room above the highest value, for half a word at the topmost line.
const ABOVE: f64 = 8.0;
/// The inner drawing has so many steps in both directions.
const STEPS: f64 = 1000.0;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Keeps its inner names apart from those of other charts of the page.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What is to be seen, in a sentence, for those who cannot see it.
    pub description: String,
    /// Its height in pixels.
    pub height: u32,
    /// Where the x axis is marked, and with which words.
    pub x_ticks: Vec<(f64, String)>,
    /// Where the y axis is marked, and with which words.
    pub y_ticks: Vec<(f64, String)>,
    /// What is drawn, the hindmost first.
    pub marks: Vec<Mark>,
}

/// Something that is drawn. Its class gives its colour.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A curve; what is not a number breaks it.
    Line(&'static str, Vec<(f64, f64)>),
    /// A curve, and a wash below it.
    Area(&'static str, Vec<(f64, f64)>),
    /// What lies between a lowest and a highest: x, lowest, highest.
    Band(&'static str, Vec<(f64, f64, f64)>),
    /// Columns: where each begins and ends, how high it is, and what it says when pointed at.
    Columns(&'static str, Vec<(f64, f64, f64, String)>),
    /// Dots, and what each says when pointed at.
    Dots(&'static str, Vec<(f64, f64, String)>),
    /// Upright whiskers: x, lowest, highest.
    Whiskers(&'static str, Vec<(f64, f64, f64)>),
    /// A level to compare with, and its name.
    Level(f64, String),
}

impl Chart {
    /// The drawing.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).unwrap_or_default(); // Writing to a string cannot fail.
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (id, height) = (&self.id, self.height);
        writeln!(
            out,
            "<svg class=\"chart\" height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
            escaped(&self.title),
            escaped(&self.description)
        )?;
        self.write_y_words(out)?;
        self.write_grid(out)?;
        for mark in &self.marks {
            self.write_mark(out, mark)?;
        }
        self.write_x_words(out)?;
        writeln!(out, "</svg>")
    }

    /// Where a share of the y axis lies, in pixels.
    fn y_of(&self, share: f64) -> f64 {
        let bottom = f64::from(self.height) - BELOW;
        bottom - (bottom - ABOVE) * share.clamp(-0.05, 1.05)
    }

    fn write_grid(&self, out: &mut String) -> std::fmt::Result {
        for (share, _) in &self.y_ticks {
            let (y, class) = (self.y_of(*share), if *share == 0.0 { "axis" } else { "gridline" });
            writeln!(
                out,
                "<line class=\"{class}\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            )?;
        }
        Ok(())
    }

    fn write_y_words(&self, out: &mut String) -> std::fmt::Result {
        for (share, words) in self.y_ticks.iter().filter(|tick| !tick.1.is_empty()) {
            let y = self.y_of(*share) + 4.0;
            writeln!(
                out,
                "<text class=\"tick\" text-anchor=\"end\" x=\"-8\" y=\"{y:.1}\">{}</text>",
                escaped(words)
            )?;
        }
        Ok(())
    }

    fn write_x_words(&self, out: &mut String) -> std::fmt::Result {
        let y = f64::from(self.height) - 6.0;
        for (share, words) in &self.x_ticks {
            let anchor = match *share {
                share if share < 0.04 => "start",
                share if share > 0.96 => "end",
                _ => "middle",
            };
            writeln!(
                out,
                "<text class=\"tick\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{y:.1}\">{}</text>",
                percent(*share),
                escaped(words)
            )?;
        }
        Ok(())
    }

    fn write_mark(&self, out: &mut String, mark: &Mark) -> std::fmt::Result {
        match mark {
            Mark::Line(class, points) => {
                let path = path(points);
                self.write_stretched(out, &format!("<path class=\"curve {class}\" d=\"{path}\"/>"))
            }
            Mark::Area(class, points) => {
                let (below, path) = (area(points), path(points));
                let both = format!(
                    "<path class=\"wash {class}\" d=\"{below}\"/><path class=\"curve {class}\" d=\"{path}\"/>"
                );
                self.write_stretched(out, &both)
            }
            Mark::Band(class, points) => {
                let outline = band(points);
                self.write_stretched(
                    out,
                    &format!("<path class=\"wash {class}\" d=\"{outline}\"/>"),
                )
            }
            Mark::Columns(class, columns) => self.write_columns(out, class, columns),
            Mark::Dots(class, dots) => self.write_dots(out, class, dots),
            Mark::Whiskers(class, whiskers) => self.write_whiskers(out, class, whiskers),
            Mark::Level(share, words) => self.write_level(out, *share, words),
        }
    }

    /// Writes what stretches with the chart.
    fn write_stretched(&self, out: &mut String, inner: &str) -> std::fmt::Result {
        let (top, bottom) = (self.y_of(1.0), self.y_of(0.0));
        writeln!(
            out,
            "<svg x=\"0\" y=\"{top:.1}\" width=\"100%\" height=\"{:.1}\" viewBox=\"0 0 {STEPS} {STEPS}\" \
             preserveAspectRatio=\"none\" overflow=\"visible\">{inner}</svg>",
            bottom - top
        )
    }

    fn write_columns(
        &self,
        out: &mut String,
        class: &str,
        columns: &[(f64, f64, f64, String)],
    ) -> std::fmt::Result {
        for (from, to, share, words) in columns.iter().filter(|column| column.2 > 0.0) {
            let (top, bottom) = (self.y_of(*share), self.y_of(0.0));
            // What there is shall be seen, were it never so little.
            let height = (bottom - top).max(1.5);
            writeln!(
                out,
                "<rect class=\"column {class}\" x=\"{}\" width=\"{}\" y=\"{:.1}\" height=\"{height:.1}\">\
                 <title>{}</title></rect>",
                percent(*from),
                percent((to - from).max(0.001)),
                bottom - height,
                escaped(words)
            )?;
        }
        Ok(())
    }

    fn write_dots(
        &self,
        out: &mut String,
        class: &str,
        dots: &[(f64, f64, String)],
    ) -> std::fmt::Result {
        for (x, y, words) in dots.iter().filter(|dot| dot.0.is_finite() && dot.1.is_finite()) {
            writeln!(
                out,
                "<circle class=\"dot {class}\" cx=\"{}\" cy=\"{:.1}\" r=\"3.5\"><title>{}</title></circle>",
                percent(*x),
                self.y_of(*y),
                escaped(words)
            )?;
        }
        Ok(())
    }

    fn write_whiskers(
        &self,
        out: &mut String,
        class: &str,
        whiskers: &[(f64, f64, f64)],
    ) -> std::fmt::Result {
        for (x, low, high) in whiskers {
            let (x, top, bottom) = (percent(*x), self.y_of(*high), self.y_of(*low));
            writeln!(
                out,
                "<line class=\"whisker {class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>"
            )?;
        }
        Ok(())
    }

    fn write_level(&self, out: &mut String, share: f64, words: &str) -> std::fmt::Result {
        let y = self.y_of(share);
        writeln!(
            out,
            "<line class=\"level\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" text-anchor=\"end\" x=\"100%\" y=\"{:.1}\">{}</text>",
            y - 4.0,
            escaped(words)
        )
    }
}

/// A bar of parts that lie side by side: class, share of the whole, and what it says when pointed at.
pub fn share_bar(label: &str, parts: &[(&str, f64, String)]) -> String {
    let mut out = format!(
        "<svg class=\"share\" height=\"14\" role=\"img\" aria-label=\"{}\">",
        quoted(label)
    );
    let mut from = 0.0;
    for (class, share, words) in parts.iter().filter(|part| part.1 > 0.0) {
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{}\" width=\"{}\" height=\"14\"><title>{}</title></rect>",
            percent(from),
            percent(*share),
            escaped(words)
        );
        from += share;
    }
    out + "</svg>"
}

/// A bar for a table's cell: how much of the longest one it is.
pub fn cell_bar(class: &str, share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    format!(
        "<svg class=\"cellbar\" height=\"8\" aria-hidden=\"true\"><rect class=\"rail\" width=\"100%\" height=\"8\" rx=\"2\"/>\
         <rect class=\"{class}\" width=\"{}\" height=\"8\" rx=\"2\"/></svg>",
        percent(share)
    )
}

/// A curve without words, for beside a number. `points` have shares in both directions.
pub fn spark(class: &str, points: &[(f64, f64)]) -> String {
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 {STEPS} {STEPS}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <path class=\"wash {class}\" d=\"{}\"/><path class=\"curve {class}\" d=\"{}\"/></svg>",
        area(points),
        path(points)
    )
}

/// The marked values of an axis that begins at 0 and holds `most`: ascending, the last one is its end.
pub fn ticks_to(most: f64) -> Vec<f64> {
    let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
    let rough = most / 3.0;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power);
    let count = (most / step - 1e-9).ceil().max(1.0) as usize;
    (0..=count).map(|number| number as f64 * step).collect()
}

fn path(points: &[(f64, f64)]) -> String {
    let (mut path, mut command) = (String::new(), 'M');
    for (x, y) in points {
        if x.is_finite() && y.is_finite() {
            let _ = write!(path, "{command}{}", place(*x, *y));
            command = 'L';
        } else {
            command = 'M';
        }
    }
    path
}

/// What lies below each unbroken part of a curve.
fn area(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for part in points.split(|(x, y)| !x.is_finite() || !y.is_finite()) {
        if let [first, .., last] = part {
            let _ = write!(path, "M{}", place(first.0, 0.0));
            for (x, y) in part {
                let _ = write!(path, "L{}", place(*x, *y));
            }
            let _ = write!(path, "L{}Z", place(last.0, 0.0));
        }
    }
    path
}

fn band(points: &[(f64, f64, f64)]) -> String {
    let mut path = String::new();
    for part in points.split(|(_, low, high)| !low.is_finite() || !high.is_finite()) {
        let there = part.iter().map(|(x, _, high)| (*x, *high));
        let back = part.iter().rev().map(|(x, low, _)| (*x, *low));
        let mut command = 'M';
        for (x, y) in there.chain(back) {
            let _ = write!(path, "{command}{}", place(x, y));
            command = 'L';
        }
        if command == 'L' {
            path.push('Z');
        }
    }
    path
}

/// A point of the inner drawing. Far outside is far enough.
fn place(x: f64, y: f64) -> String {
    let y = STEPS * (1.0 - y.clamp(-0.1, 1.1));
    format!("{:.1} {y:.1}", STEPS * x.clamp(0.0, 1.0))
}

fn percent(share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    format!("{:.2}%", share * 100.0)
}

fn quoted(words: &str) -> String {
    escaped(words).replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(marks: Vec<Mark>) -> String {
        let chart = Chart {
            id: "a".to_owned(),
            title: "x < y".to_owned(),
            description: "It rises.".to_owned(),
            height: 160,
            x_ticks: vec![(0.0, "then".to_owned()), (1.0, "now".to_owned())],
            y_ticks: vec![(0.0, "0".to_owned()), (1.0, "10 & more".to_owned())],
            marks,
        };
        chart.svg()
    }

    #[test]
    fn a_chart_has_a_name_and_words_that_do_not_stretch_and_no_style_attribute() {
        let svg = chart(vec![Mark::Area("k0", vec![(0.0, 0.0), (1.0, 1.0)])]);
        for part in
            [">x &lt; y</title>", ">It rises.</desc>", ">10 &amp; more</text>", "x=\"100.00%\""]
        {
            assert!(svg.contains(part), "no {part} in {svg}");
        }
        assert!(!svg.contains("style="), "{svg}");
        assert!(svg.contains("M0.0 1000.0L1000.0 0.0\""), "{svg}");
    }

    #[test]
    fn what_is_not_a_number_breaks_a_curve_its_wash_and_its_band() {
        let gap = f64::NAN;
        assert_eq!(path(&[(0.0, 1.0), (0.5, gap), (1.0, 1.0)]).matches('M').count(), 2);
        assert_eq!(
            area(&[(0.0, 1.0), (0.1, 1.0), (0.5, gap), (0.9, 1.0), (1.0, 1.0)])
                .matches('Z')
                .count(),
            2
        );
        let band = band(&[(0.0, 0.1, 0.2), (0.5, gap, gap), (1.0, 0.1, 0.2)]);
        assert_eq!(band.matches('Z').count(), 2);
        assert!(!chart(vec![Mark::Dots("k0", vec![(gap, 0.5, String::new())])]).contains("circle"));
    }

    #[test]
    fn ticks_are_round_and_hold_the_highest_value() {
        assert_eq!(ticks_to(100.0), [0.0, 50.0, 100.0]);
        assert_eq!(ticks_to(7.0), [0.0, 2.5, 5.0, 7.5]);
        assert_eq!(ticks_to(0.0), ticks_to(1.0));
        for most in [0.003, 0.7, 1.0, 9.0, 41.0, 12_345.0, f64::INFINITY] {
            let ticks = ticks_to(most);
            assert!(!most.is_finite() || ticks[ticks.len() - 1] >= most, "{most}: {ticks:?}");
            assert!((2..=5).contains(&ticks.len()), "{most}: {ticks:?}");
        }
    }

    #[test]
    fn parts_of_a_bar_lie_side_by_side() {
        let bar = share_bar(
            "a \"b\"",
            &[("k0", 0.25, "x".into()), ("k1", 0.0, "y".into()), ("k2", 0.75, "z".into())],
        );
        assert!(
            bar.contains("x=\"0.00%\" width=\"25.00%\"")
                && bar.contains("x=\"25.00%\" width=\"75.00%\"")
        );
        assert!(bar.contains("aria-label=\"a &quot;b&quot;\"") && !bar.contains("k1"), "{bar}");
    }
}
