//! How is a line chart written so that it can be read on any screen, in the dark, and on paper?
//!
//! One SVG without scripts or fonts of its own: panels side by side with common axes, and a key at
//! the right in the order in which the lines end. Lines differ by colour and by dash, so that a
//! grey print can be read too; the colours follow the reader's light or dark preference.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 410.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 82.0;
const BOTTOM: f64 = 52.0;
const GAP: f64 = 24.0;
const KEY_LINE: f64 = 26.0;
const LETTER: f64 = 7.3;
const LABEL_HEIGHT: f64 = 19.0;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}.tick{font-size:12px;fill:#59636e}
.paper{fill:#fff}.grid{stroke:#e4e7eb}.axis,.rule{stroke:#59636e}.rule{stroke-dasharray:1 3;stroke-linecap:round}
path{fill:none}.line{stroke-width:2.2;stroke-linejoin:round}
.c0{stroke:#0969a8}.c1{stroke:#c2410c;stroke-dasharray:9 4}.c2{stroke:#0f7b55;stroke-dasharray:2.5 3}
.c3{stroke:#8a3ea8;stroke-dasharray:12 3 2.5 3}.c4{stroke:#6b5a00;stroke-dasharray:5 3}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6edf3}.tick{fill:#9da7b3}.paper{fill:#0d1117}.grid{stroke:#262d36}.axis,.rule{stroke:#9da7b3}
.c0{stroke:#5cb8f5}.c1{stroke:#ff9a5c}.c2{stroke:#4ccf9b}.c3{stroke:#d69af0}.c4{stroke:#d9c24a}}
";

/// A line chart of one or more panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows, in a few words.
    pub title: String,
    /// What there is to be seen, in one sentence, for those who cannot see it.
    pub description: String,
    /// From left to right, the same in every panel.
    pub x: Axis,
    /// From below to above, the same in every panel.
    pub y: Axis,
    /// The panels, from left to right; lines with the same place are alike in all of them.
    pub panels: Vec<Panel>,
    /// A level to compare with.
    pub rule: Option<Rule>,
}

/// One of two directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured, and in which unit.
    pub label: String,
    /// The values that are marked, ascending; the axis goes from the first to the last.
    pub ticks: Vec<f64>,
    /// Whether equal factors, instead of equal steps, take equal room.
    pub logarithmic: bool,
}

/// One system of axes with its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What is particular to it; empty if it is the only one.
    pub heading: String,
    /// Its lines; the last panel's are named in the key.
    pub lines: Vec<Line>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub label: String,
    /// Its points, by ascending x. What lies outside the axes is cut off.
    pub points: Vec<(f64, f64)>,
}

/// A level to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What it is; may be empty.
    pub label: String,
    /// Where it lies on the y axis.
    pub y: f64,
}

impl Figure {
    /// Returns the figure as a whole SVG file.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).unwrap_or_default(); // Writing to a string cannot fail.
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-labelledby=\"t d\">"
        )?;
        writeln!(out, "<title id=\"t\">{}</title>", escaped(&self.title))?;
        writeln!(out, "<desc id=\"d\">{}</desc>", escaped(&self.description))?;
        writeln!(out, "<style>\n{STYLE}</style>")?;
        writeln!(out, "<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>")?;
        text(out, "class=\"title\"", (14.0, 26.0), &self.title)?;
        text(out, "", (14.0, 48.0), &self.y.label)?;
        let frames = self.frames();
        for (number, (panel, frame)) in self.panels.iter().zip(&frames).enumerate() {
            self.write_panel(out, number, panel, frame)?;
        }
        if let (Some(first), Some(last)) = (frames.first(), frames.last()) {
            let middle = (first.left + last.right) / 2.0;
            let place = (middle, HEIGHT - 12.0);
            text(out, "text-anchor=\"middle\"", place, &self.x.label)?;
            self.write_key(out, last)?;
        }
        writeln!(out, "</svg>")
    }

    /// Where each panel lies: what the key leaves, in equal parts.
    fn frames(&self) -> Vec<Frame<'_>> {
        let labels = self.panels.last().into_iter().flat_map(|panel| &panel.lines);
        let longest = labels.map(|line| line.label.chars().count()).max().unwrap_or(0);
        let key = KEY_LINE + 24.0 + LETTER * longest as f64;
        let count = self.panels.len();
        let width = (WIDTH - LEFT - key - GAP * count.saturating_sub(1) as f64) / count as f64;
        let frame = |number: usize| {
            let left = LEFT + (width + GAP) * number as f64;
            Frame { left, right: left + width, x: &self.x, y: &self.y }
        };
        (0..count).map(frame).collect()
    }

    fn write_panel(
        &self,
        out: &mut String,
        number: usize,
        panel: &Panel,
        frame: &Frame<'_>,
    ) -> std::fmt::Result {
        frame.write_axes(out, number == 0)?;
        let middle = ((frame.left + frame.right) / 2.0, TOP - 9.0);
        text(out, "text-anchor=\"middle\"", middle, &panel.heading)?;
        if let Some(rule) = &self.rule {
            let y = frame.y_of(rule.y);
            segment(out, "rule", (frame.left, y), (frame.right, y))?;
            text(out, "class=\"tick\"", (frame.left + 6.0, y - 6.0), &rule.label)?;
        }
        let (width, height) = (frame.right - frame.left, frame.bottom() - TOP);
        writeln!(
            out,
            "<clipPath id=\"p{number}\"><rect x=\"{:.1}\" y=\"{TOP:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/></clipPath>",
            frame.left
        )?;
        writeln!(out, "<g clip-path=\"url(#p{number})\">")?;
        for (place, line) in panel.lines.iter().enumerate() {
            writeln!(out, "<path class=\"line c{place}\" d=\"{}\"/>", frame.path(&line.points))?;
        }
        writeln!(out, "</g>")
    }

    /// Names the last panel's lines in the order of their ends, each as near to its end as can be.
    fn write_key(&self, out: &mut String, frame: &Frame<'_>) -> std::fmt::Result {
        let Some(panel) = self.panels.last() else { return Ok(()) };
        let end = |line: &Line| line.points.last().map_or(frame.bottom(), |p| frame.y_of(p.1));
        let mut labels: Vec<(f64, usize)> =
            panel.lines.iter().map(end).map(|y| y.clamp(TOP, frame.bottom())).zip(0..).collect();
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        spread(&mut labels, frame.bottom());
        for (y, place) in labels {
            let left = frame.right + 10.0;
            segment(out, &format!("line c{place}"), (left, y), (left + KEY_LINE, y))?;
            text(out, "", (left + KEY_LINE + 6.0, y + 4.5), &panel.lines[place].label)?;
        }
        Ok(())
    }
}

/// Moves labels apart that would cover each other; they come from above to below.
fn spread(labels: &mut [(f64, usize)], bottom: f64) {
    let mut least = f64::NEG_INFINITY;
    for label in labels.iter_mut() {
        label.0 = label.0.max(least);
        least = label.0 + LABEL_HEIGHT;
    }
    let mut most = bottom;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - LABEL_HEIGHT;
    }
}

/// The place of a panel, and its axes.
struct Frame<'a> {
    left: f64,
    right: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Frame<'_> {
    fn bottom(&self) -> f64 {
        HEIGHT - BOTTOM
    }

    fn x_of(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.share(value)
    }

    fn y_of(&self, value: f64) -> f64 {
        self.bottom() - (self.bottom() - TOP) * self.y.share(value)
    }

    fn write_axes(&self, out: &mut String, is_first: bool) -> std::fmt::Result {
        for &tick in &self.y.ticks {
            let y = self.y_of(tick);
            segment(out, "grid", (self.left, y), (self.right, y))?;
            if is_first {
                let place = (self.left - 8.0, y + 4.0);
                text(out, "class=\"tick\" text-anchor=\"end\"", place, &number(tick))?;
            }
        }
        segment(out, "axis", (self.left, self.bottom()), (self.right, self.bottom()))?;
        for &tick in &self.x.ticks {
            let x = self.x_of(tick);
            segment(out, "axis", (x, self.bottom()), (x, self.bottom() + 5.0))?;
            let place = (x, self.bottom() + 19.0);
            text(out, "class=\"tick\" text-anchor=\"middle\"", place, &number(tick))?;
        }
        Ok(())
    }

    /// The path through all points that are numbers; the others break it.
    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        let mut command = 'M';
        for &(x, y) in points {
            let (x, y) = (self.x_of(x), self.y_of(y));
            if x.is_finite() && y.is_finite() {
                // Far outside is far enough; larger numbers overflow in viewers.
                let y = y.clamp(-HEIGHT, 2.0 * HEIGHT);
                path += &format!("{command}{x:.1} {y:.1}");
                command = 'L';
            } else {
                command = 'M';
            }
        }
        path
    }
}

impl Axis {
    /// How far along the axis a value lies, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.logarithmic { v.ln() } else { v };
        let end = |tick: Option<&f64>| scale(tick.copied().unwrap_or(f64::NAN));
        let (from, to) = (end(self.ticks.first()), end(self.ticks.last()));
        (scale(value) - from) / (to - from)
    }
}

/// A tick's value, with a true minus sign.
fn number(value: f64) -> String {
    value.to_string().replace('-', "\u{2212}")
}

fn segment(out: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(out, "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>")
}

fn text(out: &mut String, how: &str, place: (f64, f64), words: &str) -> std::fmt::Result {
    if words.is_empty() {
        return Ok(());
    }
    let (space, (x, y)) = (if how.is_empty() { "" } else { " " }, place);
    writeln!(out, "<text{space}{how} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(words))
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(ticks: &[f64], logarithmic: bool) -> Axis {
        Axis { label: "time, days".to_owned(), ticks: ticks.to_vec(), logarithmic }
    }

    fn figure(lines: Vec<Line>) -> Figure {
        Figure {
            title: "a < b & c".to_owned(),
            description: "One line.".to_owned(),
            x: axis(&[1.0, 10.0, 100.0], true),
            y: axis(&[-1.0, 0.0, 1.0], false),
            panels: vec![Panel { heading: String::new(), lines }],
            rule: Some(Rule { label: "level".to_owned(), y: 0.5 }),
        }
    }

    fn line(label: &str, points: &[(f64, f64)]) -> Line {
        Line { label: label.to_owned(), points: points.to_vec() }
    }

    #[test]
    fn a_figure_has_title_description_ticks_and_units() {
        let svg = figure(vec![line("x", &[(1.0, 0.0), (100.0, 1.0)])]).svg();
        for part in [
            "<title id=\"t\">a &lt; b &amp; c</title>",
            "<desc id=\"d\">One line.</desc>",
            "prefers-color-scheme:dark",
            ">time, days</text>",
            ">\u{2212}1</text>",
            ">100</text>",
            ">level</text>",
        ] {
            assert!(svg.contains(part), "no {part} in {svg}");
        }
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    #[test]
    fn points_lie_where_the_axes_say() {
        let figure = figure(vec![line("x", &[])]);
        let frame = &figure.frames()[0];
        let middle = (frame.left + frame.right) / 2.0;
        assert!((frame.x_of(10.0) - middle).abs() < 1e-9);
        assert_eq!((frame.y_of(1.0), frame.y_of(-1.0)), (TOP, HEIGHT - BOTTOM));
    }

    #[test]
    fn what_is_no_number_breaks_the_line() {
        let figure = figure(vec![]);
        let frame = &figure.frames()[0];
        let path = frame.path(&[(1.0, 0.0), (10.0, f64::NAN), (10.0, 1e300), (100.0, 0.0)]);
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert!(!path.contains("NaN") && !path.contains("inf"), "{path}");
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        let mut labels: Vec<(f64, usize)> =
            [90.0, 91.0, 300.0, 347.0, 348.0].into_iter().zip(0..).collect();
        spread(&mut labels, 348.0);
        for pair in labels.windows(2) {
            assert!(pair[1].0 - pair[0].0 >= LABEL_HEIGHT - 1e-9, "{labels:?}");
        }
        assert!(labels.iter().all(|label| (90.0..=348.0).contains(&label.0)), "{labels:?}");
    }
}
