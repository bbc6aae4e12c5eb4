//! Hosts with pages that change, and show noise.

#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use evercrawl_compare::{
    LinePlace, Outline, PageMemory, SecondLook, SiteMemory, TemplateMemory, VisitText,
};

/// Draws numbers; the same ones each time.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn chance(&mut self, share: f64) -> bool {
        ((self.next() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    pub fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so",
            "tu", "va",
        ];
        (0..2 + self.below(2)).map(|_| SYLLABLES[self.below(16)]).collect()
    }

    pub fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    pub fn sentence(&mut self) -> String {
        let count = 7 + self.below(9);
        self.words(count)
    }

    pub fn token(&mut self) -> String {
        (0..20).map(|_| char::from(b"abcdef0123456789"[self.below(16)])).collect()
    }
}

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    Clock,
    Counter,
    Token,
    /// A block of two words out of so many.
    Teaser(usize),
    Watching,
    Advert,
    /// Four titles out of forty.
    Related,
    /// One of two versions of a sentence.
    Variant,
    /// A notice that is there half of the time.
    Banner,
}

/// How places are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By classes.
    Classes,
    /// Not at all: paragraphs and list items alone.
    Bare,
}

/// Told and true changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub visits: usize,
    pub second_looks: usize,
    pub told: usize,
    pub false_tells: usize,
    pub missed: usize,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.visits += other.visits;
        self.second_looks += other.second_looks;
        self.told += other.told;
        self.false_tells += other.false_tells;
        self.missed += other.missed;
    }

    pub fn precision(&self) -> f64 {
        self.told as f64 / (self.told + self.false_tells).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.told as f64 / (self.told + self.missed).max(1) as f64
    }

    pub fn is_at_least(&self, precision: f64, recall: f64) -> bool {
        self.precision() >= precision && self.recall() >= recall
    }
}

struct Page {
    title: String,
    price: usize,
    stock: usize,
    paragraphs: Vec<String>,
    items: Vec<String>,
    byline: String,
    related: Vec<String>,
    variants: [String; 2],
    memory: Option<Vec<u8>>,
    dirty: bool,
    /// The last text, and its lines without digits, for what is compared with.
    former: [String; 2],
}

/// A host with pages of one template.
pub struct Host {
    draw: Draw,
    layout: Layout,
    noise: Vec<(Noise, bool)>,
    menu: Vec<String>,
    footer: Vec<String>,
    teasers: Vec<String>,
    adverts: Vec<String>,
    variants: [String; 2],
    pages: Vec<Page>,
    pub site: SiteMemory,
    pub template: TemplateMemory,
    counter: usize,
    second: usize,
    /// Prices change between the next visit in doubt and its second look.
    pub changes_before_next_look: bool,
    /// Changes that turned out to be the site's.
    pub site_events: usize,
    /// What an exact digest tells, and a comparison of lines without digits.
    pub others: [Counts; 2],
    text: String,
}

const STOCK: [&str; 4] = ["In stock", "Sold out", "Only two left", "Back soon"];

impl Page {
    fn new(draw: &mut Draw) -> Self {
        Page {
            title: draw.words(4),
            price: 100 + draw.below(9000),
            stock: draw.below(4),
            paragraphs: (0..8)
                .map(|_| format!("{}. {}", draw.sentence(), draw.sentence()))
                .collect(),
            items: (0..5).map(|_| draw.words(3)).collect(),
            byline: format!("By {} {}", draw.word(), draw.word()),
            related: (0..40).map(|_| draw.words(4)).collect(),
            variants: [draw.sentence(), draw.sentence()],
            memory: None,
            dirty: false,
            former: Default::default(),
        }
    }

    /// Changes in one of ten ways.
    fn change(&mut self, draw: &mut Draw) {
        let at = draw.below(self.paragraphs.len());
        match draw.below(10) {
            0 | 1 => self.price += 1 + draw.below(500),
            2 => self.stock = (self.stock + 1 + draw.below(3)) % 4,
            3 => self.paragraphs[at] = draw.sentence(),
            4 => self.paragraphs.insert(at, draw.sentence()),
            5 if self.paragraphs.len() > 5 => drop(self.paragraphs.remove(at)),
            6 => self.items.insert(0, draw.words(3)),
            7 => self.title = draw.words(4),
            8 => self.byline = format!("By {} {}", draw.word(), draw.word()),
            _ => self.paragraphs[at].push_str(&format!(". {}", draw.sentence())),
        }
        self.dirty = true;
    }
}

/// A text that grows by lines, with their places.
struct Written {
    layout: Layout,
    text: String,
    places: Vec<LinePlace>,
}

impl Written {
    fn line(&mut self, tag: &str, class: &str, aside: bool, words: &str) {
        let path = match self.layout {
            Layout::Classes => format!("{tag}.{class}"),
            Layout::Bare => tag.to_owned(),
        };
        let hash = path
            .bytes()
            .fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        let path = (hash >> 20) as u16 & 0xFFF;
        self.places.push(LinePlace { start: self.text.len() as u32, path, aside });
        self.text.push_str(words);
        self.text.push('\n');
    }
}

impl Host {
    pub fn new(seed: u64, layout: Layout, noise: &[(Noise, bool)], pages: usize) -> Self {
        let mut draw = Draw(seed);
        let teasers = noise.iter().find_map(|(noise, _)| match noise {
            Noise::Teaser(pool) => Some(*pool),
            _ => None,
        });
        Host {
            layout,
            noise: noise.to_vec(),
            menu: (0..8).map(|_| draw.word()).collect(),
            footer: (0..4).map(|_| draw.sentence()).collect(),
            teasers: (0..teasers.unwrap_or(1)).map(|_| draw.words(2)).collect(),
            adverts: (0..12).map(|_| draw.words(6)).collect(),
            variants: [draw.words(5), draw.words(5)],
            pages: (0..pages).map(|_| Page::new(&mut draw)).collect(),
            site: SiteMemory::default(),
            template: TemplateMemory::default(),
            counter: 1000,
            second: 0,
            changes_before_next_look: false,
            site_events: 0,
            others: Default::default(),
            text: String::new(),
            draw,
        }
    }

    /// All pages get another price and stock.
    pub fn change_prices(&mut self) {
        for page in &mut self.pages {
            page.price += 1 + self.draw.below(300);
            page.stock = (page.stock + 1 + self.draw.below(3)) % 4;
            page.dirty = true;
        }
    }

    /// Another menu for all pages.
    pub fn change_menu(&mut self) {
        self.menu[3] = self.draw.words(2);
    }

    /// Visits all pages so often, changing each with some chance before; what each round found.
    pub fn run(&mut self, visits: usize, changes: f64) -> Vec<Counts> {
        (0..visits).map(|_| self.round(changes)).collect()
    }

    /// Visits all pages once.
    pub fn round(&mut self, changes: f64) -> Counts {
        let mut counts = Counts::default();
        let slow = self.draw.next();
        for number in 0..self.pages.len() {
            let first = self.pages[number].memory.is_none();
            if !first && self.draw.chance(changes) {
                self.pages[number].change(&mut self.draw);
            }
            let told = self.visit(number, slow, &mut counts);
            self.count_others(number, first);
            let dirty = std::mem::take(&mut self.pages[number].dirty);
            counts.visits += 1;
            if !first {
                counts.told += usize::from(told && dirty);
                counts.false_tells += usize::from(told && !dirty);
                counts.missed += usize::from(!told && dirty);
            }
        }
        counts
    }

    /// What simpler comparisons would have told of the last text that was looked at.
    fn count_others(&mut self, number: usize, first: bool) {
        let page = &mut self.pages[number];
        let text = std::mem::take(&mut self.text);
        let letters = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        for (other, now) in [text, letters].into_iter().enumerate() {
            let told = std::mem::replace(&mut page.former[other], now) != page.former[other];
            if !first {
                let counts = &mut self.others[other];
                counts.told += usize::from(told && page.dirty);
                counts.false_tells += usize::from(told && !page.dirty);
                counts.missed += usize::from(!told && page.dirty);
            }
        }
    }

    fn visit(&mut self, number: usize, slow: u64, counts: &mut Counts) -> bool {
        let (mut score, mut in_doubt) = self.look(number, slow);
        for _ in 0..2 {
            if in_doubt {
                counts.second_looks += 1;
                if std::mem::take(&mut self.changes_before_next_look) {
                    self.change_prices();
                }
                (score, in_doubt) = self.look(number, slow);
            }
        }
        assert!(!in_doubt, "the third look decides");
        score > 0.0
    }

    fn look(&mut self, number: usize, slow: u64) -> (f64, bool) {
        let (text, places) = self.write(number, slow);
        self.text.clone_from(&text);
        let outline = Outline::of_text(&text);
        let page = number as u64 * 7919;
        let Some(bytes) = &self.pages[number].memory else {
            self.pages[number].memory = Some(PageMemory::new(&outline).to_bytes());
            return (0.0, false);
        };
        let mut memory = PageMemory::from_bytes(bytes).unwrap();
        let visit = VisitText {
            text: &text,
            outline: &outline,
            places: &places,
            page,
            site: &self.site,
            template: &self.template,
            second_look: SecondLook::Soon,
            at: 0,
        };
        let findings = memory.compare_visit(&visit);
        let common = self.site.record_passages(page, &findings.differing);
        self.site_events += usize::from(common > 0);
        if let Some(untold) = &findings.untold {
            self.site.record_large_difference(page, untold);
        }
        self.template.record(page, &findings.observed);
        let bytes = self.template.to_bytes();
        assert!(bytes.len() <= TemplateMemory::MOST_BYTES);
        self.template = TemplateMemory::from_bytes(&bytes);
        let bytes = memory.to_bytes();
        assert!(memory.is_in_doubt() || bytes.len() <= PageMemory::LONGEST, "{}", bytes.len());
        self.pages[number].memory = Some(bytes);
        let told = if findings.in_doubt { 0.0 } else { findings.score.unwrap_or(1.0) };
        (told, findings.in_doubt)
    }

    fn write(&mut self, number: usize, slow: u64) -> (String, Vec<LinePlace>) {
        self.second += 1;
        let mut page = Written { layout: self.layout, text: String::new(), places: Vec::new() };
        let shown = &self.pages[number];
        for (class, entry) in self.menu.iter().enumerate() {
            let _ = class;
            page.line("nav/li", "menu", true, entry);
        }
        page.line("h1", "title", false, &shown.title);
        page.line("p", "byline", false, &shown.byline);
        page.line(
            "p",
            "price",
            false,
            &format!("Price {}.{:02}", shown.price / 100, shown.price % 100),
        );
        page.line("p", "stock", false, STOCK[shown.stock]);
        let half = shown.paragraphs.len() / 2;
        shown.paragraphs[..half].iter().for_each(|words| page.line("p", "text", false, words));
        self.write_noise(number, slow, &mut page);
        let shown = &self.pages[number];
        shown.paragraphs[half..].iter().for_each(|words| page.line("p", "text", false, words));
        shown.items.iter().for_each(|words| page.line("ul/li", "items", false, words));
        self.footer.iter().for_each(|words| page.line("footer/p", "foot", true, words));
        (page.text, page.places)
    }

    fn write_noise(&mut self, number: usize, slow: u64, page: &mut Written) {
        for at in 0..self.noise.len() {
            let (noise, turns_slowly) = self.noise[at];
            let salt = slow ^ (number as u64) << 40 ^ (at as u64) << 20;
            let mut own = Draw(if turns_slowly { salt } else { self.draw.next() });
            match noise {
                Noise::Clock => {
                    let (hour, minute) = (self.second / 60 % 24, self.second % 60);
                    page.line(
                        "p",
                        "clock",
                        false,
                        &format!("It is {hour}:{minute:02}:{:02}", own.below(60)),
                    );
                }
                Noise::Counter => {
                    self.counter += 1 + own.below(9);
                    page.line("p", "count", false, &format!("{} visitors so far", self.counter));
                }
                Noise::Token => page.line("p", "token", false, &format!("Request {}", own.token())),
                Noise::Teaser(pool) => {
                    page.line("p", "teaser", false, &self.teasers[own.below(pool)]);
                }
                Noise::Watching => {
                    page.line(
                        "p",
                        "watch",
                        false,
                        &format!("{} people look at this", 2 + own.below(60)),
                    );
                }
                Noise::Advert => {
                    page.line("p", "label", true, "Advertisement");
                    page.line("p", "advert", true, &self.adverts[own.below(12)]);
                }
                Noise::Related => {
                    page.line("h2", "also", false, "See also");
                    for _ in 0..4 {
                        let words = &self.pages[number].related[own.below(40)];
                        page.line("div/li", "related", false, words);
                    }
                }
                Noise::Variant => page.line("p", "call", false, &self.variants[own.below(2)]),
                Noise::Banner => {
                    if own.chance(0.5) {
                        page.line(
                            "div/p",
                            "consent",
                            true,
                            "We value your privacy and use cookies",
                        );
                    }
                }
            }
        }
    }
}
