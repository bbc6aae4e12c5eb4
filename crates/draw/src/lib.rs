//! How are numbers drawn, so that they can be read on any screen, in the dark, and on paper?
//!
//! All drawings are SVG without scripts, fonts or `style` attributes of their own: a page's policy may forbid these.
//! Colours are classes; a style sheet says what they are in the light, in the dark and on paper.
//!
//! [`Figure`] is a line chart for documents and reports, with its key and all its words in the drawing. The charts of
//! [`chart`] stand in screens: they take the width they are given, and their words keep their size.

pub mod chart;
mod figure;

pub use figure::{Axis, Figure, FigureLine, LineShape, Panel, ReferenceLine, STYLE, escaped};
