//! What is stored per page, to generate its changes from? As little as possible, for millions of pages.

use super::spec::PageClass;

/// What a page's changes depend on; all else is drawn again when it is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CourseLine {
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

impl CourseLine {
    /// Whether it never changes by itself.
    pub(super) fn is_still(&self) -> bool {
        self.rate <= 0.0 && self.later <= 0.0
    }
}

/// The lines of all pages, without the columns that say nothing.
#[derive(Clone, Debug)]
pub(super) struct CourseLines {
    pages: Vec<Short>,
    /// Classes, where there are several.
    classes: Option<Vec<u8>>,
    /// Rates after the turn, where there are turns.
    later: Option<Vec<f32>>,
    /// Birth and death, where it matters when pages come and go.
    lives: Option<Vec<[f32; 2]>>,
}

#[derive(Clone, Copy, Debug)]
struct Short {
    /// The rate, which is never below 0; with the sign of one below for a hub.
    rate: f32,
    group: u32,
}

impl CourseLines {
    /// Keeps of each of `count` lines what matters where pages are of these classes.
    pub(super) fn new(classes: &[PageClass], count: usize) -> Self {
        let turns = classes.iter().any(|class| class.turn.is_some());
        let moves = |class: &PageClass| class.births > 0.0 || class.deaths > 0.0;
        let lives = classes.iter().any(|class| moves(class) || class.fading.is_some());
        CourseLines {
            pages: Vec::with_capacity(count),
            classes: (classes.len() > 1).then(|| Vec::with_capacity(count)),
            later: turns.then(|| Vec::with_capacity(count)),
            lives: lives.then(|| Vec::with_capacity(count)),
        }
    }

    pub(super) fn push(&mut self, line: CourseLine) {
        let CourseLine { rate, later, born, dies, group, class, hub } = line;
        let sign = if hub { -1.0 } else { 1.0 };
        self.pages.push(Short { rate: rate.copysign(sign), group });
        if let Some(column) = &mut self.classes {
            column.push(class);
        }
        if let Some(column) = &mut self.later {
            column.push(later);
        }
        if let Some(column) = &mut self.lives {
            column.push([born, dies]);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn get(&self, page: u32) -> Option<CourseLine> {
        let page = page as usize;
        let &Short { rate, group } = self.pages.get(page)?;
        let (rate, hub) = (rate.abs(), rate.is_sign_negative());
        let class = self.classes.as_ref().map_or(0, |column| column[page]);
        let later = self.later.as_ref().map_or(rate, |column| column[page]);
        let always = [f32::NEG_INFINITY, f32::INFINITY];
        let [born, dies] = self.lives.as_ref().map_or(always, |column| column[page]);
        Some(CourseLine { rate, later, born, dies, group, class, hub })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: CourseLine =
        CourseLine { rate: 0.5, later: 2.0, born: -9.0, dies: 4.0, group: 3, class: 0, hub: true };

    /// What is left of lines where pages are as `text` says.
    fn all_kept<const COUNT: usize>(lines: [CourseLine; COUNT], text: &str) -> [CourseLine; COUNT] {
        let text = format!("pages = 10\n[[class]]\nrate = 1\n{text}");
        let spec = crate::synthetic::WorldSpec::parse("w.toml", &text).unwrap();
        let mut kept = CourseLines::new(&spec.classes, COUNT);
        lines.into_iter().for_each(|line| kept.push(line));
        assert!(kept.len() == COUNT && kept.get(COUNT as u32).is_none());
        std::array::from_fn(|page| kept.get(page as u32).unwrap())
    }

    fn kept(text: &str) -> CourseLine {
        all_kept([LINE; 2], text)[1]
    }

    #[test]
    fn hubs_and_classes_are_told_apart() {
        let line = |rate, class, hub| CourseLine { rate, later: rate, class, hub, ..LINE };
        let lines = [line(0.0, 0, true), line(0.0, 1, false), line(2.0, 1, true)];
        assert_eq!(all_kept(lines, "births = 0.1\n[[class]]\nrate = 2"), lines);
    }

    #[test]
    fn what_matters_of_a_line_is_kept() {
        let always =
            CourseLine { later: 0.5, born: f32::NEG_INFINITY, dies: f32::INFINITY, ..LINE };
        assert_eq!(kept(""), always);
        for life in ["births = 0.1", "deaths = 0.1", "fading = { days = 3 }"] {
            assert_eq!(kept(life), CourseLine { later: 0.5, ..LINE }, "{life}");
        }
        assert_eq!(kept("turn = { week = 3 }"), CourseLine { later: 2.0, ..always });
        assert!(size_of::<Short>() <= 8, "there are millions of them");
    }
}
