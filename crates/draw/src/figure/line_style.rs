//! By which colour, dash and mark is a method known, whichever figure it is in?
//!
//! A policy, or a method of the documents, wears the same look wherever it is drawn, so that a reader
//! who has found it once finds it again. There are more of them than colours that can be told apart;
//! those that share one differ by their dashes.

use super::Panel;

/// How many colours there are.
const COLOURS: usize = 10;

/// How many shapes of marks there are.
const SHAPES: usize = 5;

/// Who wears each colour, by dash. Those that are most often beside each other come first.
const WEARERS: [[&str; 4]; COLOURS] = [
    ["index", "sampling-true", "webfountain", "tianwang"],
    ["A", "sampling+A", "S1", ""],
    ["B", "sampling+B", "S1-components", "optimal"],
    ["C", "sampling+C", "adaptive-stormcrawler", "adaptive"],
    ["gamma", "sampling", "sampling-eq17", "sampling-derived"],
    ["uniform", "", "", ""],
    ["hist", "proportional", "sampling-proportional", ""],
    ["C1", "open", "chile", "chile-literal"],
    ["oracle", "C-then-B", "", ""],
    ["clairvoyant", "bfs", "", ""],
];

/// A colour, and how it is worn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineStyle {
    colour: usize,
    dash: usize,
}

impl LineStyle {
    /// The look of a policy; `None` if it is none.
    pub(super) fn of(policy: &str) -> Option<LineStyle> {
        let dash = |wearers: &[&str; 4]| wearers.iter().position(|name| *name == policy);
        let mut looks = WEARERS.iter().map(dash).enumerate();
        looks.find_map(|(colour, dash)| Some(LineStyle { colour, dash: dash? }))
    }

    /// The looks of a panel's lines: that of its policy for each that has one, and for the others, in
    /// their order, colours that nobody else there wears.
    pub(super) fn of_panel(panel: &Panel) -> Vec<LineStyle> {
        let own = || panel.lines.iter().filter_map(|line| line.look);
        let is_free = |colour: &usize| own().all(|look| look.colour != *colour);
        let mut free: Vec<usize> = (0..COLOURS).filter(is_free).collect();
        if free.is_empty() {
            free.extend(0..COLOURS);
        }
        let mut others = free.into_iter().cycle();
        let mut next = || LineStyle { colour: others.next().unwrap_or_default(), dash: 0 };
        panel.lines.iter().map(|line| line.look.unwrap_or_else(&mut next)).collect()
    }

    /// Its classes in the style sheet.
    pub(super) fn class(self) -> String {
        match self.dash {
            0 => format!("c{}", self.colour),
            dash => format!("c{} d{dash}", self.colour),
        }
    }

    /// The shape of its mark.
    pub(super) fn shape(self) -> usize {
        (self.colour + self.dash) % SHAPES
    }

    /// Whether its mark is filled: there are twice as many colours as shapes.
    pub(super) fn is_full(self) -> bool {
        self.colour >= SHAPES
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::registry::ALL;

    use super::*;
    use crate::figure::FigureLine;

    #[test]
    fn every_policy_has_a_look_of_its_own() {
        let mut worn = Vec::new();
        for policy in ALL {
            let look =
                LineStyle::of(policy.name).unwrap_or_else(|| panic!("{} has none", policy.name));
            assert!(!worn.contains(&look), "{}: {look:?}", policy.name);
            worn.push(look);
        }
        assert_eq!(LineStyle::of("nobody"), None);
    }

    #[test]
    fn others_get_colours_that_are_left() {
        let line = |label: &str| FigureLine::curve(label, Vec::new());
        let lines = vec![line("x"), line("ours").of("index"), line("y")];
        let panel = Panel { heading: String::new(), lines };
        let classes: Vec<String> =
            LineStyle::of_panel(&panel).iter().map(|look| look.class()).collect();
        assert_eq!(classes, ["c1", "c0", "c2"]);
    }
}
