//! How is a line chart written so that it can be read on any screen, in the dark, and on paper?
//!
//! One SVG without scripts or fonts of its own: panels side by side with common axes, and a key at
//! the right in the order in which the lines end. Lines differ by colour and by dash, dots by colour
//! and by shape, so that a grey print can be read too; the colours follow the reader's light or dark
//! preference. A policy looks the same in all figures (`looks`).

mod frame;
mod line_style;

use std::fmt::Write;

use frame::{Frame, dot, segment, text};
use line_style::LineStyle;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 410.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 82.0;
const BOTTOM: f64 = 52.0;
const GAP: f64 = 32.0;
const KEY_LINE: f64 = 26.0;
const LETTER: f64 = 7.3;
const LABEL_HEIGHT: f64 = 19.0;

const DOT: f64 = 3.6;
const BORDER: f64 = 1.5;

/// The looks of every figure: in the file of one that stands alone, once in a page that shows several.
pub const STYLE: &str = "\
svg text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}
svg .title{font-size:15px;font-weight:600}svg .tick{font-size:12px;fill:#59636e}
.paper{fill:#fff}.grid{stroke:#e4e7eb}.axis,.rule{stroke:#59636e}.rule{stroke-dasharray:1 3;stroke-linecap:round}
svg path{fill:none}.line{stroke-width:2.2;stroke-linejoin:round}svg .dots{stroke-width:1.8;stroke-dasharray:none;fill:#fff}
svg .line,svg .dots{stroke:currentColor}svg .dots.full{fill:currentColor}svg .band{fill:currentColor;fill-opacity:.13;stroke:none}
.c0{color:#0969a8}.c1{color:#c2410c;stroke-dasharray:9 4}.c2{color:#0f7b55;stroke-dasharray:2.5 3}
.c3{color:#8a3ea8;stroke-dasharray:12 3 2.5 3}.c4{color:#6b5a00;stroke-dasharray:5 3}
.c5{color:#59636e}.c6{color:#b0185e;stroke-dasharray:7 3 2 3 2 3}.c7{color:#0a7d91;stroke-dasharray:14 4}
.c8{color:#7c4a21;stroke-dasharray:3 5}.c9{color:#3d4fc4;stroke-dasharray:6 2}
.d1{stroke-dasharray:16 3 3 3}.d2{stroke-dasharray:1 4;stroke-linecap:round}.d3{stroke-dasharray:20 4 8 4}
.faint{stroke:#c3cad2;stroke-width:1.1}
@media screen and (prefers-color-scheme:dark){
svg text{fill:#e6edf3}svg .tick{fill:#9da7b3}.paper{fill:#0d1117}.grid{stroke:#262d36}.axis,.rule{stroke:#9da7b3}
svg .dots{fill:#0d1117}
.c0{color:#5cb8f5}.c1{color:#ff9a5c}.c2{color:#4ccf9b}.c3{color:#d69af0}.c4{color:#d9c24a}
.c5{color:#9da7b3}.c6{color:#ff84b7}.c7{color:#56d0e0}.c8{color:#d3a074}.c9{color:#9aa8ff}
.faint{stroke:#3b444e}}
";

/// A line chart of one or more panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows, in a few words.
    pub title: String,
    /// A description of the figure in one sentence, for those who cannot see it.
    pub description: String,
    /// From left to right, the same in every panel.
    pub x: Axis,
    /// From below to above, the same in every panel.
    pub y: Axis,
    /// The panels, from left to right; lines with the same place are alike in all of them.
    pub panels: Vec<Panel>,
    /// A level to compare with.
    pub rule: Option<ReferenceLine>,
}

/// One of two directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The quantity, and its unit.
    pub label: String,
    /// The values that are marked, ascending; the axis goes from the first to the last.
    pub ticks: Vec<f64>,
    /// Whether equal factors, instead of equal steps, take equal room.
    pub logarithmic: bool,
}

/// One system of axes with its lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its title; empty if it is the only panel.
    pub heading: String,
    /// Its lines; the last panel's are named in the key.
    pub lines: Vec<FigureLine>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureLine {
    /// What it is.
    pub label: String,
    /// Its points, by ascending x. What lies outside the axes is cut off.
    pub points: Vec<(f64, f64)>,
    /// Whether its points are joined, marked, or both.
    pub drawn: LineShape,
    /// How far each point may be off: its lowest and its highest y. Empty if that is not shown.
    pub band: Vec<(f64, f64)>,
    /// That of the policy it is of.
    look: Option<LineStyle>,
}

/// How the points of a line are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineShape {
    /// Joined.
    Curve,
    /// Each marked, none joined: measurements without an order.
    Dots,
    /// Joined and marked: few measurements in an order.
    DottedCurve,
    /// Joined, thin, grey and unnamed, behind the others: one of many that they are seen against.
    Faint,
}

impl LineShape {
    fn has_dots(self) -> bool {
        matches!(self, LineShape::Dots | LineShape::DottedCurve)
    }
}

impl FigureLine {
    fn new(label: impl Into<String>, points: Vec<(f64, f64)>, drawn: LineShape) -> Self {
        FigureLine { label: label.into(), points, drawn, band: Vec::new(), look: None }
    }

    /// A curve through points.
    pub fn curve(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        FigureLine::new(label, points, LineShape::Curve)
    }

    /// Points that are marked and not joined.
    pub fn dots(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        FigureLine::new(label, points, LineShape::Dots)
    }

    /// A curve without a name, behind the others.
    pub fn faint(points: Vec<(f64, f64)>) -> Self {
        FigureLine::new("", points, LineShape::Faint)
    }

    /// Points that are marked and joined.
    pub fn dotted_curve(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        FigureLine::new(label, points, LineShape::DottedCurve)
    }

    /// The same, looking as this policy does in every figure.
    #[must_use]
    pub fn of(self, policy: &str) -> Self {
        FigureLine { look: LineStyle::of(policy), ..self }
    }

    /// The same, with how far each of its points may be off: its lowest and its highest y.
    #[must_use]
    pub fn within(self, band: Vec<(f64, f64)>) -> Self {
        FigureLine { band, ..self }
    }
}

impl Axis {
    /// An axis on which equal steps take equal room.
    pub fn linear(label: &str, ticks: &[f64]) -> Self {
        Axis { label: label.to_owned(), ticks: ticks.to_vec(), logarithmic: false }
    }

    /// An axis on which equal factors take equal room.
    pub fn log(label: &str, ticks: &[f64]) -> Self {
        Axis { logarithmic: true, ..Axis::linear(label, ticks) }
    }
}

/// A level to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceLine {
    /// What it is; may be empty.
    pub label: String,
    /// Where it lies on the y axis.
    pub y: f64,
}

impl Figure {
    /// Returns the figure as a whole SVG file.
    pub fn svg(&self) -> String {
        self.written("", &format!("<style>\n{STYLE}</style>\n"))
    }

    /// Returns the figure to stand in a page that has the style sheet of figures; `id` keeps its inner names apart from
    /// those of the other figures there.
    pub fn inline(&self, id: &str) -> String {
        self.written(id, "")
    }

    fn written(&self, id: &str, style: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, id, style).unwrap_or_default(); // Writing to a string cannot fail.
        out
    }

    fn write(&self, out: &mut String, id: &str, style: &str) -> std::fmt::Result {
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-labelledby=\"{id}t {id}d\">"
        )?;
        writeln!(out, "<title id=\"{id}t\">{}</title>", escaped(&self.title))?;
        writeln!(out, "<desc id=\"{id}d\">{}</desc>", escaped(&self.description))?;
        out.push_str(style);
        writeln!(out, "<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>")?;
        text(out, "class=\"title\"", (14.0, 26.0), &self.title)?;
        text(out, "", (14.0, 48.0), &self.y.label)?;
        let frames = self.frames();
        for (number, (panel, frame)) in self.panels.iter().zip(&frames).enumerate() {
            self.write_panel(out, &format!("{id}p{number}"), panel, frame)?;
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
        let gap = self.panels.last().map_or(0.0, key_gap);
        let key = gap + KEY_LINE + 20.0 + LETTER * longest as f64;
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
        clip: &str,
        panel: &Panel,
        frame: &Frame<'_>,
    ) -> std::fmt::Result {
        frame.write_axes(out, frame.left <= LEFT)?;
        let middle = ((frame.left + frame.right) / 2.0, TOP - 9.0);
        text(out, "text-anchor=\"middle\"", middle, &panel.heading)?;
        if let Some(rule) = &self.rule {
            let y = frame.y_of(rule.y);
            segment(out, "rule", (frame.left, y), (frame.right, y))?;
            text(out, "class=\"tick\"", (frame.left + 6.0, y - 6.0), &rule.label)?;
        }
        // A line along the border keeps its whole width.
        let (left, top) = (frame.left - BORDER, TOP - BORDER);
        let width = frame.right + BORDER - left;
        let height = frame.bottom() + BORDER - top;
        writeln!(
            out,
            "<clipPath id=\"{clip}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/></clipPath>"
        )?;
        let lines = || panel.lines.iter().zip(LineStyle::of_panel(panel));
        for (line, look) in lines() {
            frame.write_band(out, clip, look, line)?;
        }
        let (behind, before): (Vec<_>, Vec<_>) =
            lines().partition(|(line, _)| line.drawn == LineShape::Faint);
        for (line, look) in behind.into_iter().chain(before) {
            frame.write_line(out, clip, look, line)?;
        }
        Ok(())
    }

    /// Names the last panel's lines in the order of their ends, each as near to its end as can be.
    fn write_key(&self, out: &mut String, frame: &Frame<'_>) -> std::fmt::Result {
        let Some(panel) = self.panels.last() else { return Ok(()) };
        let end =
            |line: &FigureLine| line.points.last().map_or(frame.bottom(), |p| frame.y_of(p.1));
        let mut labels: Vec<(f64, usize)> =
            panel.lines.iter().map(end).map(|y| y.clamp(TOP, frame.bottom())).zip(0..).collect();
        labels.retain(|&(_, place)| panel.lines[place].drawn != LineShape::Faint);
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        spread(&mut labels, frame.bottom());
        let looks = LineStyle::of_panel(panel);
        for (y, place) in labels {
            let (left, line) = (frame.right + key_gap(panel), &panel.lines[place]);
            let look = looks[place];
            if line.drawn != LineShape::Dots {
                let class = format!("line {}", look.class());
                segment(out, &class, (left, y), (left + KEY_LINE, y))?;
            }
            if line.drawn.has_dots() {
                dot(out, look, (left + KEY_LINE / 2.0, y))?;
            }
            text(out, "", (left + KEY_LINE + 6.0, y + 4.5), &line.label)?;
        }
        Ok(())
    }
}

/// How far the key stands off: dots on the last tick must not touch its own.
fn key_gap(panel: &Panel) -> f64 {
    let is_dotted =
        |line: &FigureLine| matches!(line.drawn, LineShape::Dots | LineShape::DottedCurve);
    let dotted = panel.lines.iter().any(is_dotted);
    if dotted { 18.0 } else { 10.0 }
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

/// Text as markup says it.
pub fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(ticks: &[f64], logarithmic: bool) -> Axis {
        Axis { label: "time, days".to_owned(), ticks: ticks.to_vec(), logarithmic }
    }

    fn figure(lines: Vec<FigureLine>) -> Figure {
        Figure {
            title: "a < b & c".to_owned(),
            description: "One line.".to_owned(),
            x: axis(&[1.0, 10.0, 100.0], true),
            y: axis(&[-1.0, 0.0, 1.0], false),
            panels: vec![Panel { heading: String::new(), lines }],
            rule: Some(ReferenceLine { label: "level".to_owned(), y: 0.5 }),
        }
    }

    fn line(label: &str, points: &[(f64, f64)]) -> FigureLine {
        FigureLine::curve(label, points.to_vec())
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
    fn figures_of_one_page_share_looks_and_nothing_else() {
        let figure = figure(vec![line("x", &[(1.0, 0.0), (100.0, 1.0)])]);
        let (first, second) = (figure.inline("one-"), figure.inline("two-"));
        assert!(!first.contains("<style>") && first.contains("url(#one-p0)"), "{first}");
        assert_eq!(first.replace("one-", "two-"), second);
    }

    #[test]
    fn dots_are_shown_where_they_lie_within_the_axes_and_not_joined() {
        let points = vec![(1.0, 0.0), (100.0, 1.0), (50.0, 7.0), (f64::NAN, 0.0)];
        let svg = figure(vec![FigureLine::dots("x", points.clone())]).svg();
        // Two points, and one in the key.
        assert_eq!(svg.matches("class=\"dots c0\"").count(), 3, "{svg}");
        assert!(!svg.contains("class=\"line"), "{svg}");
        let both = figure(vec![FigureLine::dotted_curve("x", points)]).svg();
        assert!(both.contains("class=\"dots c0\"") && both.contains("class=\"line c0\""), "{both}");
    }

    #[test]
    fn faint_curves_lie_behind_and_have_no_name() {
        let points = vec![(1.0, 0.0), (100.0, 1.0)];
        let svg = figure(vec![line("x", &points), FigureLine::faint(points.clone())]).svg();
        let (faint, line) = (svg.find("class=\"faint\""), svg.find("class=\"line c0\""));
        assert!(faint.is_some() && faint < line, "{svg}");
        // One for the curve and one in the key.
        assert_eq!(svg.matches("class=\"line ").count(), 2, "{svg}");
    }

    #[test]
    fn a_band_lies_behind_its_line_in_the_same_colour() {
        let band = vec![(-0.5, 0.5), (0.0, 1.0)];
        let line = line("x", &[(1.0, 0.0), (100.0, 0.5)]).of("gamma").within(band);
        let figure = figure(vec![line]);
        let (svg, frame) = (figure.svg(), &figure.frames()[0]);
        let (band, curve) = (svg.find("class=\"band c4\""), svg.find("class=\"line c4\""));
        assert!(band.is_some() && band < curve, "{svg}");
        let corner = |x: f64, y: f64| format!("{:.1} {:.1}", frame.x_of(x), frame.y_of(y));
        let path = [corner(1.0, 0.5), corner(100.0, 1.0), corner(100.0, 0.0), corner(1.0, -0.5)];
        assert!(svg.contains(&format!("d=\"M{}Z\"", path.join("L"))), "{svg}");
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
