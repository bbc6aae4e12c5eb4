//! Is noise told from news? A thousand pages with clocks, counters, tokens and blocks that take turns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evercrawl_compare::{Outline, PageMemory, SiteMemory};

const SITES: usize = 20;
const PAGES: usize = 50;
const SENTENCES: usize = 30;

/// Draws numbers; the same ones each time.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn sentence(&mut self) -> String {
        let mut words: Vec<String> = (0..7 + self.below(9)).map(|_| self.word()).collect();
        // Some sentences have numbers in them, and words of time.
        match self.below(6) {
            0 => words[3] = self.below(3000).to_string(),
            1 => words[2] = "today".to_owned(),
            _ => {}
        }
        words.join(" ")
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so",
            "tu", "va",
        ];
        (0..2 + self.below(2)).map(|_| SYLLABLES[self.below(16)]).collect()
    }

    fn token(&mut self) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        (0..24).map(|_| char::from(LETTERS[self.below(64)])).collect()
    }
}

struct Site {
    menu: Vec<String>,
    footer: Vec<String>,
    advertisements: Vec<String>,
    memory: SiteMemory,
}

impl Site {
    fn new(draw: &mut Draw) -> Self {
        Site {
            menu: (0..8).map(|_| draw.word()).collect(),
            footer: (0..4).map(|_| draw.sentence()).collect(),
            advertisements: (0..6).map(|_| draw.sentence()).collect(),
            memory: SiteMemory::default(),
        }
    }
}

struct Page {
    sentences: Vec<String>,
    /// Other pages it may point to, of which it shows one.
    related: Vec<String>,
    visitors: usize,
    memory: Option<Vec<u8>>,
}

impl Page {
    fn new(draw: &mut Draw) -> Self {
        Page {
            sentences: (0..SENTENCES).map(|_| draw.sentence()).collect(),
            related: (0..4).map(|_| draw.sentence()).collect(),
            visitors: 1000 + draw.below(100_000),
            memory: None,
        }
    }

    fn edit(&mut self, draw: &mut Draw) {
        let at = draw.below(SENTENCES);
        self.sentences[at] = draw.sentence();
    }

    fn text(&mut self, site: &Site, draw: &mut Draw) -> String {
        self.visitors += 1 + draw.below(9);
        let mut lines = site.menu.clone();
        lines.push(format!("It is {}:{:02}:{:02}", draw.below(24), draw.below(60), draw.below(60)));
        let mut paragraphs = self.sentences.chunks(5).map(|part| part.join(". "));
        lines.extend(paragraphs.by_ref().take(2));
        lines.push("Advertisement".to_owned());
        lines.push(site.advertisements[draw.below(site.advertisements.len())].clone());
        lines.extend(paragraphs.by_ref().take(2));
        lines.push("See also".to_owned());
        lines.push(self.related[draw.below(self.related.len())].clone());
        lines.extend(paragraphs);
        lines.push(format!("{} visitors", self.visitors));
        lines.push(format!("Session {}", draw.token()));
        lines.extend(site.footer.iter().cloned());
        lines.join("\n")
    }

    /// Visits the page; true when there is news.
    fn visit(&mut self, number: u64, site: &mut Site, draw: &mut Draw) -> bool {
        let text = self.text(site, draw);
        let (memory, score) = look(self.memory.as_deref(), &text, number, &mut site.memory);
        self.memory = Some(memory);
        score > 0.0
    }
}

/// Looks at a page as the crawler does; returns what is remembered of it and how much is news.
fn look(memory: Option<&[u8]>, text: &str, page: u64, site: &mut SiteMemory) -> (Vec<u8>, f64) {
    let outline = Outline::of_text(text);
    let Some(bytes) = memory else { return (PageMemory::new(&outline).to_bytes(), 1.0) };
    let mut memory = PageMemory::from_bytes(bytes).unwrap();
    let findings = memory.compare_visit(text, &outline, site, page);
    site.record_passages(page, &findings.differing);
    if let Some(untold) = &findings.untold {
        site.record_large_difference(page, untold);
    }
    *site = SiteMemory::from_bytes(&site.to_bytes());
    let bytes = memory.to_bytes();
    assert!(bytes.len() <= PageMemory::LONGEST, "{}", bytes.len());
    (bytes, findings.score.unwrap_or(1.0))
}

struct World {
    draw: Draw,
    sites: Vec<(Site, Vec<Page>)>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut draw = Draw(seed);
        let site =
            |draw: &mut Draw| (Site::new(draw), (0..PAGES).map(|_| Page::new(draw)).collect());
        let sites = (0..SITES).map(|_| site(&mut draw)).collect();
        World { draw, sites }
    }

    /// Visits every page once, after an edit of a sentence on each page that `edits` says. Returns
    /// how many pages of each kind had news: those edited, and the others.
    fn round(&mut self, edits: impl Fn(usize) -> bool) -> (usize, usize) {
        let (mut found, mut false_alarms) = (0, 0);
        for (site, pages) in &mut self.sites {
            for (number, page) in pages.iter_mut().enumerate() {
                if edits(number) {
                    page.edit(&mut self.draw);
                }
                let news = page.visit(number as u64 * 7919, site, &mut self.draw);
                *(if edits(number) { &mut found } else { &mut false_alarms }) += usize::from(news);
            }
        }
        (found, false_alarms)
    }
}

#[test]
fn noise_is_learned_and_edits_of_a_sentence_are_found() {
    let mut world = World::new(1);
    let all = SITES * PAGES;
    let alarms: Vec<usize> = (1..=8).map(|_| world.round(|_| false).1).collect();
    eprintln!("pages with news, visit by visit, where there was none: {alarms:?}");
    assert_eq!(alarms[..3], [all; 3], "nothing can be known at the first visits");
    assert!(alarms[4..].iter().sum::<usize>() * 100 <= 4 * all, "false alarms: {alarms:?}");
    let (mut edited, mut found, mut false_alarms) = (0, 0, 0);
    for visit in 9..=13 {
        let (hits, alarms) = world.round(|page| page % 5 == visit % 5);
        edited += all / 5;
        found += hits;
        false_alarms += alarms;
    }
    eprintln!("edits found: {found} of {edited}; false alarms: {false_alarms} of {}", 4 * edited);
    assert!(found * 100 >= 99 * edited, "{found} of {edited} edits");
    assert!(false_alarms * 100 <= 4 * edited, "{false_alarms} false alarms");
}

#[test]
fn a_new_footer_of_a_site_is_news_on_a_few_pages_only() {
    let mut world = World::new(2);
    for _ in 1..=6 {
        world.round(|_| false);
    }
    for (site, _) in &mut world.sites {
        site.footer = (0..4).map(|_| world.draw.sentence()).collect();
    }
    let (_, first) = world.round(|_| false);
    let (_, then) = world.round(|_| false);
    eprintln!("pages with news after {SITES} sites got a new footer: {first}, then {then}");
    assert!((SITES..=4 * SITES).contains(&first), "{first}");
    assert!(then * 100 <= SITES * PAGES, "{then}");
}

/// A menu of forty entries and a footer are too much to be told passage by passage.
#[test]
fn a_new_template_of_a_site_is_news_on_a_page_or_two_and_edits_are_still_found() {
    let mut world = World::new(3);
    for (site, _) in &mut world.sites {
        site.menu = (0..30).map(|_| world.draw.word()).collect();
    }
    for _ in 1..=6 {
        world.round(|_| false);
    }
    for (site, _) in &mut world.sites {
        site.menu = (0..40).map(|_| world.draw.word()).collect();
        site.footer = (0..4).map(|_| world.draw.sentence()).collect();
    }
    let edited = SITES * PAGES / 5;
    let (found, first) = world.round(|page| page % 5 == 4);
    let (_, then) = world.round(|_| false);
    eprintln!(
        "after {SITES} sites got a new template: news on {first} pages of {}, then {then}; {found} of \
         {edited} edits made at the same time were found",
        4 * edited
    );
    assert!((SITES..=4 * SITES).contains(&first), "{first}");
    assert!(found * 100 >= 95 * edited, "{found} of {edited}");
    assert!(then * 100 <= SITES * PAGES, "{then}");
}

/// Visits one page of a site of its own, text by text; returns how much was news each time.
fn scores<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<f64> {
    let mut site = SiteMemory::default();
    let mut memory: Option<Vec<u8>> = None;
    let visit = |text: T| {
        let (bytes, score) = look(memory.as_deref(), text.as_ref(), 1, &mut site);
        memory = Some(bytes);
        score
    };
    texts.into_iter().map(visit).collect()
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
    let texts = (0..40).map(|visit| {
        headlines.remove(0);
        headlines.push(draw.sentence());
        page_with(&format!("{}\nMade at 12:{visit}", headlines.join("\n")))
    });
    let scores = scores(texts);
    assert!(scores.iter().all(|&score| score > 0.02), "{scores:?}");
}

#[test]
fn what_seldom_returns_is_news_each_time() {
    let state = |visit: usize| {
        let state = if (visit / 6).is_multiple_of(2) { "All is well" } else { "We have an outage" };
        page_with(&format!("{state}\nAsked at 12:{visit}"))
    };
    let scores = scores((0..40).map(state));
    for (visit, score) in scores.iter().enumerate().skip(4) {
        assert_eq!(*score > 0.0, visit % 6 == 0, "visit {visit}: {scores:?}");
    }
}

#[test]
fn a_number_that_seldom_differs_is_news_and_one_that_always_does_is_not() {
    let price =
        |visit: usize| page_with(&format!("Price\n{}.50\n{visit} visitors", 12 + visit / 7));
    let scores = scores((0..30).map(price));
    for (visit, score) in scores.iter().enumerate().skip(4) {
        assert_eq!(*score > 0.0, visit % 7 == 0, "visit {visit}: {scores:?}");
    }
}

#[test]
fn a_clock_that_stopped_is_believed_again() {
    let clock = |visit: usize| page_with(&format!("Version {}", visit.min(6) + visit / 20));
    let scores = scores((0..22).map(clock));
    assert!(scores[4..20].iter().all(|&score| score == 0.0), "{scores:?}");
    assert!(scores[20] > 0.0, "{scores:?}");
}

#[test]
fn a_page_alone_on_its_site_learns_what_takes_turns() {
    let mut draw = Draw(5);
    let quotations: Vec<String> = (0..5).map(|_| draw.sentence()).collect();
    let texts: Vec<String> =
        (0..60).map(|_| page_with(&format!("Quotation\n{}", quotations[draw.below(5)]))).collect();
    let scores = scores(&texts);
    let alarms = scores[12..].iter().filter(|&&score| score > 0.0).count();
    assert!(alarms <= 2, "{scores:?}");
    let edited = texts[59].replacen("\nQuotation", " and more\nQuotation", 1);
    assert!(self::scores(texts.iter().map(String::as_str).chain([edited.as_str()]))[60] > 0.0);
}

#[test]
fn the_score_is_the_share_of_words_that_are_news() {
    let lines = |edited: usize| -> String {
        let word = |n: usize| if n < edited { "other" } else { "usual" };
        (0..50)
            .map(|n| {
                format!("{} words of line {}\n", word(n), ["a", "b", "c"][n % 3].repeat(n + 1))
            })
            .collect()
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
fn the_places_of_noise_are_those_that_tick() {
    let text =
        |n: usize| format!("A sentence that stays as it is\nIt is 12:{n:02} now\nMore words here");
    let mut memory = PageMemory::new(&Outline::of_text(&text(0)));
    let site = SiteMemory::default();
    assert_eq!(memory.noise_ranges(&text(1), &site, 1), []);
    for n in 1..8 {
        memory.compare_visit(&text(n), &Outline::of_text(&text(n)), &site, 1);
    }
    let shown = text(30);
    let places: Vec<&str> = memory
        .noise_ranges(&shown, &site, 1)
        .into_iter()
        .map(|place| shown[place].trim())
        .collect();
    assert_eq!(places, ["It is 12:30 now"]);
}

#[test]
fn news_at_every_visit_have_no_place_of_noise() {
    let mut draw = Draw(5);
    let mut news =
        || format!("A sentence that stays as it is\n{}\nMore words here", draw.sentence());
    let mut memory = PageMemory::new(&Outline::of_text(&news()));
    let site = SiteMemory::default();
    for _ in 0..20 {
        let text = news();
        memory.compare_visit(&text, &Outline::of_text(&text), &site, 1);
        assert_eq!(memory.noise_ranges(&text, &site, 1), [], "{text}");
    }
}
