//! What is kept of each page, to draw its changes from? As little as will do, for millions of pages.

use evercrawl_policy::{Days, NEVER};

/// What a page's changes depend on; all else is drawn again when it is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// Changes a day by itself, before the season and all that changes rates.
    pub(super) rate: f32,
    /// The same after its class's turn.
    pub(super) later: f32,
    pub(super) born: f32,
    pub(super) dies: f32,
    pub(super) group: u32,
    pub(super) class: u8,
    pub(super) hub: bool,
}

impl Line {
    /// Whether it never changes by itself.
    pub(super) fn is_still(&self) -> bool {
        self.rate <= 0.0 && self.later <= 0.0
    }
}

/// The lines of all pages, without the columns that say nothing.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pages: Vec<Short>,
    /// Rates after the turn; none where nothing turns.
    later: Vec<f32>,
    /// Birth and death; none where all pages are there all the time.
    lives: Vec<[f32; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Short {
    rate: f32,
    group: u32,
    class: u8,
    hub: bool,
}

impl Lines {
    /// Births before `start` matter only where pages are `aging`.
    pub(super) fn new(lines: &[Line], aging: bool, start: Days) -> Self {
        let turns = lines.iter().any(|line| line.later != line.rate);
        let moves = |line: &Line| f64::from(line.born) > start || f64::from(line.dies) < NEVER;
        let lives = aging || lines.iter().any(moves);
        let short =
            |&Line { rate, group, class, hub, .. }: &Line| Short { rate, group, class, hub };
        Lines {
            pages: lines.iter().map(short).collect(),
            later: lines.iter().filter(|_| turns).map(|line| line.later).collect(),
            lives: lines.iter().filter(|_| lives).map(|line| [line.born, line.dies]).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn get(&self, page: u32) -> Option<Line> {
        let page = page as usize;
        let &Short { rate, group, class, hub } = self.pages.get(page)?;
        let later = self.later.get(page).copied().unwrap_or(rate);
        let always = [f32::NEG_INFINITY, f32::INFINITY];
        let [born, dies] = self.lives.get(page).copied().unwrap_or(always);
        Some(Line { rate, later, born, dies, group, class, hub })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was_where_it_matters() {
        let old = Line {
            rate: 0.5,
            later: 0.5,
            born: -9.0,
            dies: f32::INFINITY,
            group: 3,
            class: 1,
            hub: true,
        };
        let lines = |line: Line, aging| Lines::new(&[line], aging, 0.0);
        assert_eq!(lines(old, true).get(0), Some(old));
        let unborn = Line { born: f32::NEG_INFINITY, ..old };
        assert_eq!(lines(old, false).get(0), Some(unborn), "its age says nothing");
        for line in
            [Line { later: 2.0, ..unborn }, Line { born: 4.0, ..old }, Line { dies: 9.0, ..old }]
        {
            assert_eq!(lines(line, false).get(0), Some(line));
        }
        assert_eq!(lines(old, false).get(1), None);
        assert!(size_of::<Short>() <= 12, "there are millions of them");
    }
}
