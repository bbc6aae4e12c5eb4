//! What is news on one page, visit by visit? Texts without tags, so that places are known by what stands around them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod simulated;

use evercrawl_compare::{
    LinePlace, NoiseReason, Outline, PageMemory, SecondLook, SiteMemory, TemplateMemory, VisitText,
};
use simulated::{Draw, Host, Layout, Noise};

/// One page of a host of its own.
#[derive(Default)]
struct Page {
    memory: Option<Vec<u8>>,
    site: SiteMemory,
    template: TemplateMemory,
    second_looks: usize,
    masked: Vec<(u32, NoiseReason)>,
}

impl Page {
    /// Looks at a text; the share of news, and whether it is in doubt.
    fn look(&mut self, text: &str, places: &[LinePlace]) -> (f64, bool) {
        let outline = Outline::of_text(text);
        let Some(bytes) = &self.memory else {
            self.memory = Some(PageMemory::new(&outline).to_bytes());
            return (1.0, false);
        };
        let mut memory = PageMemory::from_bytes(bytes).unwrap();
        let findings = memory.compare_visit(&VisitText {
            text,
            outline: &outline,
            places,
            page: 1,
            site: &self.site,
            template: &self.template,
            second_look: SecondLook::Soon,
            at: 0,
        });
        self.site.record_passages(1, &findings.differing);
        self.template.record(1, &findings.observed);
        self.memory = Some(memory.to_bytes());
        self.masked = findings.masked;
        (findings.score.unwrap_or(1.0), findings.in_doubt)
    }

    /// Visits the page, twice where the first look is in doubt. `text` is told whether it is the second look.
    fn visit(&mut self, text: impl Fn(bool) -> String) -> f64 {
        match self.look(&text(false), &[]) {
            (_, true) => {
                self.second_looks += 1;
                let (score, in_doubt) = self.look(&text(true), &[]);
                assert!(!in_doubt, "a second look decides");
                score
            }
            (score, false) => score,
        }
    }
}

/// The scores of texts that do not depend on the request.
fn scores<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<f64> {
    let mut page = Page::default();
    texts.into_iter().map(|text| page.visit(|_| text.as_ref().to_owned())).collect()
}

/// A page of the same twenty sentences and something else.
fn page_with(other: &str) -> String {
    let mut draw = Draw(3);
    let sentences: Vec<String> = (0..20).map(|_| draw.sentence()).collect();
    format!("{}\n{other}\nThe end", sentences.join(". "))
}

#[test]
fn the_front_page_of_a_newspaper_stays_news() {
    let mut draw = Draw(4);
    let mut headlines: Vec<String> = (0..10).map(|_| draw.sentence()).collect();
    let texts = (0..40).map(|_| {
        headlines.remove(0);
        headlines.push(draw.sentence());
        page_with(&headlines.join("\n"))
    });
    let scores = scores(texts);
    assert!(scores.iter().all(|&score| score > 0.01), "{scores:?}");
}

#[test]
fn what_seldom_returns_is_news_each_time() {
    let state = |visit: usize| {
        let state = if (visit / 6).is_multiple_of(2) { "All is well" } else { "We have an outage" };
        page_with(state)
    };
    let scores = scores((0..40).map(state));
    for (visit, score) in scores.iter().enumerate().skip(1) {
        assert_eq!(*score > 0.0, visit % 6 == 0, "visit {visit}: {scores:?}");
    }
}

#[test]
fn a_price_that_differs_at_every_visit_is_news_and_a_clock_is_not() {
    let mut page = Page::default();
    let text = |visit: usize, second: bool| {
        let clock = format!("Made at 12:{visit}:{}", if second { 41 } else { 7 });
        page_with(&format!("Price\n{}.50\n{clock}", 12 + visit))
    };
    for visit in 0..30 {
        let score = page.visit(|second| text(visit, second));
        assert!(score > 0.0, "the price changed at visit {visit}");
    }
    for visit in 30..50 {
        let score = page.visit(|second| text(29, second).replace("12:29", &format!("12:{visit}")));
        assert_eq!(score, 0.0, "only the clock differs at visit {visit}");
    }
    assert!(page.second_looks <= 4, "{}", page.second_looks);
}

#[test]
fn a_clock_that_stopped_is_believed_again_within_six_visits() {
    let mut page = Page::default();
    let text = |visit: usize, second: bool| {
        page_with(&format!("Version {}", if second { 1000 + visit } else { visit }))
    };
    for visit in 0..50 {
        let score = page.visit(|second| text(visit, second));
        assert!(visit == 0 || score == 0.0, "visit {visit}: {score}");
    }
    for visit in 50..58 {
        assert_eq!(page.visit(|_| text(50, false)), 0.0, "visit {visit}");
    }
    assert!(page.visit(|_| text(99, false)) > 0.0);
    assert!(page.template.noise_places() == 0);
}

#[test]
fn a_clock_is_learned_at_the_first_revisit() {
    let mut page = Page::default();
    page.visit(|_| page_with("It is 10:30"));
    assert_eq!(
        page.visit(|second| page_with(if second { "It is 11:31" } else { "It is 11:30" })),
        0.0
    );
    assert_eq!(page.masked.len(), 1);
    assert_eq!(page.masked[0].1, NoiseReason::Drawn);
    assert_eq!(page.visit(|_| page_with("It is 12:00")), 0.0);
    assert_eq!(page.second_looks, 1);
}

#[test]
fn the_score_is_the_share_of_words_that_are_news() {
    let lines = |edited: usize| -> String {
        let word = |n: usize| if n < edited { "other" } else { "usual" };
        let line = |n: usize| {
            format!("{} words of line {}\n", word(n), ["a", "b", "c"][n % 3].repeat(n + 1))
        };
        (0..50).map(line).collect()
    };
    for edited in [1, 2, 5] {
        let score = scores([lines(0), lines(edited)])[1];
        assert!((score - edited as f64 / 50.0).abs() < 1e-9, "{edited}: {score}");
    }
    assert_eq!(scores([lines(0), lines(0)])[1], 0.0);
    let removed = lines(0).replacen("usual words of line aaaa\n", "", 1);
    let scores = scores([lines(0), removed]);
    assert!((0.015..0.025).contains(&scores[1]), "{scores:?}");
}

#[test]
fn a_change_in_a_menu_of_a_hundred_pages_is_told_on_few_and_once_for_the_site() {
    let mut host = Host::new(11, Layout::Classes, &[(Noise::Clock, false)], 100);
    host.run(4, 0.0);
    host.change_menu();
    let round = host.round(0.0);
    assert_eq!(round.false_tells, 0, "{round:?}");
    assert!(round.second_looks <= 3, "{round:?}");
    assert_eq!(host.site_events, 1);
}

#[test]
fn memories_of_random_noise_stay_within_their_bounds() {
    let mut draw = Draw(12);
    let mut page = Page::default();
    for _ in 0..300 {
        let lines: Vec<String> = (0..draw.below(60)).map(|_| draw.sentence()).collect();
        let places: Vec<LinePlace> = lines
            .iter()
            .scan(0, |start, line| {
                let place = LinePlace {
                    start: *start,
                    path: draw.below(4096) as u16,
                    aside: draw.chance(0.5),
                };
                *start += line.len() as u32 + 1;
                Some(place)
            })
            .collect();
        page.look(&lines.join("\n"), &places);
        let memory = page.memory.as_ref().unwrap();
        let most = match PageMemory::waits_for_second_look(memory) {
            true => PageMemory::LONGEST_IN_DOUBT,
            false => PageMemory::LONGEST,
        };
        assert!(memory.len() <= most, "{}", memory.len());
        assert!(page.template.to_bytes().len() <= TemplateMemory::MOST_BYTES);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_as_memories(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..700)) {
        if let Some(memory) = PageMemory::from_bytes(&bytes) {
            proptest::prop_assert_eq!(PageMemory::from_bytes(&memory.to_bytes()), Some(memory));
        }
        let template = TemplateMemory::from_bytes(&bytes);
        proptest::prop_assert!(template.to_bytes().len() <= TemplateMemory::MOST_BYTES);
        proptest::prop_assert_eq!(TemplateMemory::from_bytes(&template.to_bytes()), template);
    }
}

#[test]
fn pages_of_one_shape_of_url_are_of_one_template() {
    let number = TemplateMemory::number_of;
    assert_eq!(number("http://a.test/p/1"), number("http://a.test/p/27?x=3"));
    assert_eq!(number("http://a.test/news/old-story"), number("http://a.test/news/another"));
    let urls =
        ["http://a.test/", "http://a.test/p/1", "http://a.test/news/x", "http://a.test/a/b/c"];
    let numbers: std::collections::HashSet<u8> = urls.into_iter().map(number).collect();
    assert!(numbers.len() > 2 && numbers.iter().all(|number| *number < 16), "{numbers:?}");
}
