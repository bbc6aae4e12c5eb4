//! Page: what do we know of it, what comes next, and why?

use evercrawl_query::{ChangeRateStep, HistoryView, Inputs, PageView, Verdict, VisitView, WhyView};
use maud::{Markup, html};

use crate::codes::{self, Tone};
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{badge, card, empty, page_link, table, web_link, wide_card};
use crate::steps::{name_of, schedule_words, words_of};
use crate::words::{
    self, argument, count, in_query, moment, percent, plural, seconds, utc, visible,
};

/// What the screen shows of a page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Where it is in the crawl, and why.
    pub why: &'a WhyView,
    /// Its visits, where it has any.
    pub history: Option<&'a HistoryView>,
}

/// Visits that are listed.
const VISITS_SHOWN: usize = 50;

/// A page.
pub fn page(frame: &Frame<'_>, shown: &Page<'_>) -> String {
    let url = &shown.why.url;
    let body = html! {
        (title_of(frame, shown.why))
        div.grid {
            (next_card(frame, shown.why))
            (known_card(frame, shown.why))
            (steps_card(frame, shown.why))
            @if let Some(history) = shown.history { (history_card(frame, history)) }
            (acts_card(frame, shown.why))
        }
    };
    let of = in_query(url);
    let elsewhere = Elsewhere::new(&format!("page?url={of}"), &format!("why {}", argument(url)))
        .api(format!("page/history?url={of}"))
        .command(format!("history {}", argument(url)))
        .command(format!("diff {}", argument(url)));
    frame.titled(Place::Page, ("Page", Place::Page.question()), &elsewhere, &body)
}

/// The way to a page, where none is asked for: a field, and pages by state.
pub fn lookup(
    frame: &Frame<'_>,
    pages: &[PageView],
    state: Option<&str>,
    next: Option<&str>,
) -> String {
    let states = [
        "new",
        "due",
        "resting",
        "failing",
        "gone",
        "moved",
        "soft_404",
        "login_wall",
        "parked",
        "refused",
    ];
    let link = |code: &'static str| {
        (format!("{}?state={code}", frame.at(Place::Page)), code, state == Some(code))
    };
    let mut links = vec![(frame.at(Place::Page), "all", state.is_none())];
    links.extend(states.map(link));
    let body = html! {
        (crate::parts::choices("State of pages", &links))
        (pages_table(frame, pages))
        @if let Some(next) = next {
            p { a.button.quiet rel="next" href=(format!("{}?{}after={}", frame.at(Place::Page),
                state.map(|state| format!("state={state}&")).unwrap_or_default(), in_query(next))) { "More pages" } }
        }
    };
    let elsewhere = Elsewhere::new("urls?limit=50", "urls --limit 50");
    frame.screen(Place::Page, &elsewhere, &body)
}

/// Pages in a table.
pub(crate) fn pages_table(frame: &Frame<'_>, pages: &[PageView]) -> Markup {
    if pages.is_empty() {
        return empty(
            "No such page.",
            &html! { "Look a URL up above: also one that was never seen." },
        );
    }
    let heads = [
        ("", "Page"),
        ("", "State"),
        ("num", "Visits"),
        ("num", "Changes"),
        ("num", "Last visit"),
        ("num", "Next"),
    ];
    let rows = html! {
        @for page in pages {
            @let (word, tone) = codes::page_state(page.state);
            tr {
                th scope="row" { (page_link(frame, &page.url)) }
                td { (badge(word, tone)) @if let Some(reason) = &page.reason { " " span.soft { (visible(reason)) } } }
                td.num { (count(page.visits.into())) }
                td.num { (count(page.changes.into())) }
                td.num { @if let Some(at) = page.last_visit { (moment(at.0, frame.now)) } @else { "\u{2013}" } }
                td.num { @if let Some(at) = page.next_due { (moment(at.0, frame.now)) } @else { "\u{2013}" } }
            }
        }
    };
    table("Pages", &heads, &rows)
}

fn title_of(frame: &Frame<'_>, why: &WhyView) -> Markup {
    let (word, tone) = why.state.map_or(("never seen", Tone::Plain), codes::page_state);
    html! {
        section.headline.page-title {
            p.big { (badge(word, tone)) " " (web_link(&why.url)) }
            p {
                (visible(&in_a_sentence(why)))
                @if let Some(replay) = frame.replay.filter(|_| why.page.as_ref().is_some_and(|page| page.digest.is_some())) {
                    " " a href=(format!("{replay}/{}", why.url)) rel="noopener noreferrer" { "See how it looked" }
                }
            }
        }
    }
}

/// What comes next, in a sentence.
fn in_a_sentence(why: &WhyView) -> String {
    let refused = why.steps.iter().find(|step| step.verdict == Verdict::Refuse);
    let waits = why.steps.iter().find(|step| step.verdict == Verdict::Wait);
    match (refused, why.page.as_ref(), waits) {
        (Some(step), _, _) => format!("It is not fetched: {}", lower(&words_of(step))),
        (None, Some(page), _) if page.next_due.is_some_and(|at| at <= why.at) => match waits {
            Some(step) => format!("It is due. {}", words_of(step)),
            None => "It is due, and fetched when its turn comes.".to_owned(),
        },
        (None, Some(page), _) => match page.next_due {
            Some(at) => format!("Its next visit is due at {}.", utc(at.0)),
            None => "It is not visited by itself.".to_owned(),
        },
        (None, None, _) => {
            "It would be crawled if a page linked to it, or if you gave it as a seed.".to_owned()
        }
    }
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn next_card(frame: &Frame<'_>, why: &WhyView) -> Markup {
    let rate = why.steps.iter().find_map(|step| match &step.what {
        Inputs::ChangeRate(rate) => Some(rate),
        _ => None,
    });
    let page = why.page.as_ref();
    let body = html! {
        dl.facts {
            dt { "Next visit" }
            dd { @if let Some(at) = page.and_then(|page| page.next_due) { (moment(at.0, frame.now)) span.soft { " " (utc(at.0)) } } @else { "none planned" } }
            dt { "Because" }
            dd { (bound_by(why)) }
            @if let Some(rate) = rate {
                dt { "Changes about every" }
                dd { (seconds(rate.interval_seconds)) span.soft { " (90\u{202f}%: " (seconds(rate.interval_low_seconds)) " to " (seconds(rate.interval_high_seconds)) ")" } }
                dt { "Has changed by now" }
                dd { "with probability " (percent(rate.changed_probability)) }
            }
        }
        @if let Some(rate) = rate { (interval_scale(rate)) }
    };
    card("next", "What comes next", &body)
}

/// The interval of changes with its band, on a scale of time from a minute to a year.
fn interval_scale(rate: &ChangeRateStep) -> Markup {
    use evercrawl_draw::chart::{Chart, Mark};
    let (least, most): (f64, f64) = (1.0, 31_557_600.0);
    let share = |seconds: f64| {
        ((seconds.max(1.0).ln() - least.ln()) / (most.ln() - least.ln())).clamp(0.0, 1.0)
    };
    let ticks =
        [("1 s", 1.0), ("1 min", 60.0), ("1 h", 3_600.0), ("1 day", 86_400.0), ("1 year", most)];
    let (low, high) = (share(rate.interval_low_seconds), share(rate.interval_high_seconds));
    let sentence = format!("A change every {}", seconds(rate.interval_seconds));
    let chart = Chart {
        id: "interval".to_owned(),
        title: "Time from change to change".to_owned(),
        description: sentence.clone(),
        height: 64,
        x_ticks: ticks.map(|(name, seconds)| (share(seconds), name.to_owned())).into(),
        y_ticks: vec![(0.0, String::new())],
        marks: vec![
            Mark::Columns(
                "k0 pale",
                vec![(low, high, 0.8, "nine times in ten it lies here".to_owned())],
            ),
            Mark::Dots("k0", vec![(share(rate.interval_seconds), 0.4, sentence)]),
        ],
    };
    html! { figure.low { (maud::PreEscaped(chart.svg())) } }
}

/// What decides the time of the next visit.
fn bound_by(why: &WhyView) -> String {
    let step = why.steps.iter().find_map(|step| match &step.what {
        Inputs::Schedule(step) => Some(step),
        _ => None,
    });
    match step {
        Some(step) => schedule_words(step),
        None => match why.state {
            None => "it is not known".to_owned(),
            Some(_) => "it waits for its first visit, or is not revisited".to_owned(),
        },
    }
}

fn known_card(frame: &Frame<'_>, why: &WhyView) -> Markup {
    let Some(page) = &why.page else {
        return card(
            "known",
            "What we know",
            &empty(
                "Nothing: it was never seen.",
                &html! {
                    "Add it: " code { "evercrawl add " (visible(&argument(&why.url))) }
                },
            ),
        );
    };
    let body = html! {
        dl.facts {
            dt { "Known since" } dd { (moment(page.found.0, frame.now)) }
            dt { "Found on" }
            dd { @match &page.via { Some(via) => (page_link(frame, via)), None if page.seed => "it is a seed", None => "a list" } }
            dt { "Links from a seed" } dd { (page.depth) }
            dt { "Visits" } dd { (count(page.visits.into())) ", of which " (count(page.changes.into())) " saw a change" }
            @if let Some(at) = page.last_visit { dt { "Last visit" } dd { (moment(at.0, frame.now)) @if let Some(status) = page.status { ", status " (status) } } }
            @if let Some(at) = page.last_change { dt { "Last change" } dd { (moment(at.0, frame.now)) } }
            @if !page.tags.is_empty() { dt { "Tags" } dd { @for tag in &page.tags { span.tag { (visible(tag)) } " " } } }
            @if let Some(digest) = &page.digest { dt { "Content" } dd { code.break { (digest) } @if page.cut { " (cut)" } } }
        }
    };
    card("known", "What we know", &body)
}

fn steps_card(frame: &Frame<'_>, why: &WhyView) -> Markup {
    let body = html! {
        ol.steps {
            @for step in &why.steps {
                @let (word, tone) = verdict(step.verdict);
                li { span.verdict.(tone.class()) title=(word) aria-label=(word) {} div { strong { (name_of(&step.what)) } " " (visible(&words_of(step))) } }
            }
        }
        @if let Some(proxy) = &why.proxy { p.soft { "It would be fetched through " (visible(proxy)) "." } }
    };
    let _ = frame;
    wide_card("why", "Why", &body)
}

fn verdict(verdict: Verdict) -> (&'static str, Tone) {
    match verdict {
        Verdict::Pass => ("lets it pass", Tone::Good),
        Verdict::Refuse => ("refuses it", Tone::Bad),
        Verdict::Wait => ("makes it wait", Tone::Warn),
        Verdict::Info => ("for information", Tone::Plain),
    }
}

fn history_card(frame: &Frame<'_>, history: &HistoryView) -> Markup {
    let heads = [
        ("", "When"),
        ("", "Found"),
        ("", "How it ended"),
        ("num", "Score"),
        ("num", "Bytes"),
        ("num", "Took"),
        ("", ""),
    ];
    let rows = html! {
        @for visit in history.visits.iter().rev().take(VISITS_SHOWN) { (visit_row(frame, &history.url, visit)) }
    };
    let hidden = history.visits.len().saturating_sub(VISITS_SHOWN);
    let body = html! {
        (timeline(history))
        (table("Visits", &heads, &rows))
        @if hidden > 0 { p.soft { (plural(hidden as u64, "earlier visit")) " not listed." } }
    };
    wide_card("history", "History", &body)
}

/// A mark for each visit along time: high where it saw a change.
fn timeline(history: &HistoryView) -> Markup {
    use evercrawl_draw::chart::{Chart, Mark};
    let (Some(first), Some(last)) = (history.visits.first(), history.visits.last()) else {
        return html! {};
    };
    let length = last.time.0.since(first.time.0);
    if history.visits.len() < 2 || length.is_zero() {
        return html! {};
    }
    let share =
        |visit: &VisitView| visit.time.0.since(first.time.0).as_secs_f64() / length.as_secs_f64();
    // Of very many visits, the changes and the last ones are drawn.
    let from = history.visits.len().saturating_sub(400);
    let of = |wanted: &dyn Fn(&str) -> bool, height: f64| -> Vec<(f64, f64, String)> {
        let visits = history.visits.iter().skip(from).filter(|visit| wanted(visit.change.text()));
        visits
            .map(|visit| {
                (
                    share(visit),
                    height,
                    format!("{}: {}", utc(visit.time.0), codes::change(visit.change.text()).0),
                )
            })
            .collect()
    };
    let at = |part: f64| first.time.0.after(length.mul_f64(part));
    let chart = Chart {
        id: "timeline".to_owned(),
        title: "Visits over time".to_owned(),
        description: format!("{} visits", history.visits.len()),
        height: 84,
        x_ticks: [0.0, 0.5, 1.0].map(|part| (part, words::tick(at(part), length))).into(),
        y_ticks: vec![(0.0, String::new())],
        marks: vec![
            Mark::Dots("k5", of(&|code| matches!(code, "same" | "near"), 0.15)),
            Mark::Dots("k3", of(&|code| matches!(code, "failed" | "gone"), 0.5)),
            Mark::Dots("k1", of(&|code| matches!(code, "changed" | "new"), 0.85)),
        ],
    };
    html! {
        (crate::parts::legend(&[("k1", "new or changed"), ("k3", "failed or gone"), ("k5", "unchanged")]))
        figure.low { (maud::PreEscaped(chart.svg())) }
    }
}

fn visit_row(frame: &Frame<'_>, url: &str, visit: &VisitView) -> Markup {
    let (word, tone) = codes::change(visit.change.text());
    let of = visit.url.as_deref().unwrap_or(url);
    html! {
        tr {
            th scope="row" { (moment(visit.time.0, frame.now)) }
            td { (badge(word, tone)) }
            td { (codes::outcome(visit.outcome.text())) @if let Some(cause) = visit.cause { span.soft { " " (cause.text()) } } @if let Some(status) = visit.status { span.soft { " " (status) } } }
            td.num { @if word == "changed" { (percent(visit.score)) } @else { "\u{2013}" } }
            td.num { (words::bytes(visit.bytes)) }
            td.num { (seconds(f64::from(visit.ms) / 1000.0)) }
            td { @if word == "changed" { a href=(format!("{}?url={}&to={}", frame.path("diff"), in_query(of), in_query(&visit.time.to_string()))) { "Words" } } }
        }
    }
}

fn acts_card(frame: &Frame<'_>, why: &WhyView) -> Markup {
    if !frame.may_write {
        return html! {};
    }
    let url = &why.url;
    let host = url.split('/').nth(2).unwrap_or_default();
    let body = html! {
        div.acts {
            (frame.form("check", &html! { input type="hidden" name="url" value=(url); button { "Check now" } }))
            (frame.form("pin", &html! {
                input type="hidden" name="url" value=(url);
                label { "At least every " input.short name="every" value="1h" required pattern="[0-9.]+ ?(s|m|h|d)"; }
                button { "Pin" }
            }))
            (frame.form("unpin", &html! { input type="hidden" name="what" value=(url); button.quiet { "Remove pin" } }))
            (frame.form("pause", &html! { input type="hidden" name="host" value=(host); button.quiet { "Pause " (visible(host)) } }))
            a.button.quiet href=(format!("{}?pattern={}", frame.at(Place::Queue), in_query(&exactly(url)))) { "Exclude\u{2026}" }
        }
    };
    wide_card("acts", "What you can do", &body)
}

/// The pattern that matches a URL and nothing else.
fn exactly(url: &str) -> String {
    let mut pattern = String::from("^");
    for letter in url.chars() {
        if "\\.+*?()|[]{}^$".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "$"
}
