//! Where does a value of a panel lie, and how are lines, marks and words put there?

use std::fmt::Write;

use super::{Axis, BOTTOM, DOT, FigureLine, HEIGHT, LineShape, LineStyle, TOP, escaped};

/// The place of a panel, and its axes.
pub(super) struct Frame<'a> {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
}

impl Frame<'_> {
    pub(super) fn bottom(&self) -> f64 {
        HEIGHT - BOTTOM
    }

    pub(super) fn x_of(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.share(value)
    }

    pub(super) fn y_of(&self, value: f64) -> f64 {
        self.bottom() - (self.bottom() - TOP) * self.y.share(value)
    }

    pub(super) fn write_axes(&self, out: &mut String, is_first: bool) -> std::fmt::Result {
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

    /// Fills what lies between the lowest and the highest that each point may be.
    pub(super) fn write_band(
        &self,
        out: &mut String,
        clip: &str,
        look: LineStyle,
        line: &FigureLine,
    ) -> std::fmt::Result {
        let ends = || {
            line.points.iter().zip(&line.band).map(|(point, (low, high))| (point.0, *low, *high))
        };
        let top = ends().map(|(x, _, high)| (x, high));
        let bottom = ends().rev().map(|(x, low, _)| (x, low));
        let outline: Vec<(f64, f64)> = top.chain(bottom).filter(|(_, y)| y.is_finite()).collect();
        if outline.is_empty() {
            return Ok(());
        }
        let (class, path) = (look.class(), self.path(&outline));
        writeln!(out, "<path class=\"band {class}\" clip-path=\"url(#{clip})\" d=\"{path}Z\"/>")
    }

    pub(super) fn write_line(
        &self,
        out: &mut String,
        clip: &str,
        look: LineStyle,
        line: &FigureLine,
    ) -> std::fmt::Result {
        if line.drawn != LineShape::Dots {
            let class = match line.drawn {
                LineShape::Faint => "faint".to_owned(),
                _ => format!("line {}", look.class()),
            };
            let path = self.path(&line.points);
            writeln!(out, "<path class=\"{class}\" clip-path=\"url(#{clip})\" d=\"{path}\"/>")?;
        }
        if line.drawn.has_dots() {
            for &(x, y) in line.points.iter().filter(|point| self.holds(**point)) {
                dot(out, look, (self.x_of(x), self.y_of(y)))?;
            }
        }
        Ok(())
    }

    /// Whether a point lies within the axes. Dots on an axis are shown whole, so they are not clipped.
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        let within = 0.0..=1.0;
        within.contains(&self.x.share(x)) && within.contains(&self.y.share(y))
    }

    /// The path through all points that are numbers; the others break it.
    pub(super) fn path(&self, points: &[(f64, f64)]) -> String {
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

pub(super) fn segment(
    out: &mut String,
    class: &str,
    from: (f64, f64),
    to: (f64, f64),
) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(out, "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>")
}

/// A mark whose shape goes with its colour.
pub(super) fn dot(out: &mut String, look: LineStyle, (x, y): (f64, f64)) -> std::fmt::Result {
    let (class, d) = (look.class(), DOT);
    let full = if look.is_full() { "full " } else { "" };
    let path = match look.shape() {
        0 => format!(
            "M{:.1} {y:.1}a{d} {d} 0 1 0 {} 0a{d} {d} 0 1 0 -{} 0z",
            x - d,
            2.0 * d,
            2.0 * d
        ),
        1 => format!("M{:.1} {:.1}h{}v{}h-{}z", x - d, y - d, 2.0 * d, 2.0 * d, 2.0 * d),
        2 => format!("M{x:.1} {:.1}l{} {}h-{}z", y - 1.2 * d, 1.2 * d, 2.2 * d, 2.4 * d),
        3 => format!("M{x:.1} {:.1}l{1} {1}l-{1} {1}l-{1} -{1}z", y - 1.3 * d, 1.3 * d),
        _ => format!("M{x:.1} {:.1}l-{} -{}h{}z", y + 1.2 * d, 1.2 * d, 2.2 * d, 2.4 * d),
    };
    writeln!(out, "<path class=\"dots {full}{class}\" d=\"{path}\"/>")
}

pub(super) fn text(
    out: &mut String,
    how: &str,
    place: (f64, f64),
    words: &str,
) -> std::fmt::Result {
    if words.is_empty() {
        return Ok(());
    }
    let (space, (x, y)) = (if how.is_empty() { "" } else { " " }, place);
    writeln!(out, "<text{space}{how} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(words))
}
