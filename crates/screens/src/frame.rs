//! What is around every screen: the head, the way to the other screens, and how else to get the same?

use evercrawl_model::Time;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets;
use crate::words::{argument, visible};

/// What every screen of a collection needs to know beside what it shows.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The collection.
    pub collection: &'a str,
    /// All collections.
    pub collections: &'a [String],
    /// Whether it is being crawled; `None` where that is not known.
    pub running: Option<bool>,
    /// What must be sent with every form.
    pub form_token: &'a str,
    /// Whether whoever looks may change anything.
    pub may_write: bool,
    /// The present time.
    pub now: Time,
    /// Where replays are, once there are any.
    pub replay: Option<&'a str>,
}

/// The screens of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Is all well, and how fresh is it?
    Overview,
    /// What is new for me?
    Changes,
    /// What do we know of a page, what next, and why?
    Page,
    /// Which server holds us up?
    Sites,
    /// What comes, and what should not?
    Queue,
    /// Is the budget spent well?
    Budget,
    /// Why is it not crawled?
    Refusals,
    /// Can I trust the archive, and hand it over?
    Archive,
    /// What do all the figures say?
    Analytics,
    /// What holds, and who said so?
    Settings,
}

impl Place {
    /// All of them, in the order of the list, by what they are for.
    pub const GROUPS: [(&'static str, &'static [Place]); 4] = [
        ("Watch", &[Place::Overview, Place::Changes]),
        (
            "Understand",
            &[Place::Page, Place::Sites, Place::Queue, Place::Refusals, Place::Analytics],
        ),
        ("Steer", &[Place::Budget, Place::Settings]),
        ("Keep", &[Place::Archive]),
    ];

    /// Its name in addresses.
    pub const fn slug(self) -> &'static str {
        match self {
            Place::Overview => "",
            Place::Changes => "changes",
            Place::Page => "page",
            Place::Sites => "sites",
            Place::Queue => "queue",
            Place::Budget => "budget",
            Place::Refusals => "refusals",
            Place::Archive => "archive",
            Place::Analytics => "analytics",
            Place::Settings => "settings",
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Place::Overview => "Overview",
            Place::Changes => "Changes",
            Place::Page => "Pages",
            Place::Sites => "Sites",
            Place::Queue => "Queue",
            Place::Budget => "Budget",
            Place::Refusals => "Refusals",
            Place::Archive => "Archive",
            Place::Analytics => "Analytics",
            Place::Settings => "Settings",
        }
    }

    /// The question that it answers.
    pub const fn question(self) -> &'static str {
        match self {
            Place::Overview => "Is all well, and how fresh is it?",
            Place::Changes => "What is new for me?",
            Place::Page => "What do we know, what comes next, and why?",
            Place::Sites => "Which server holds us up?",
            Place::Queue => "What comes next, and what should not?",
            Place::Budget => "Is it spent well?",
            Place::Refusals => "Why is it not crawled?",
            Place::Archive => "Can I trust it, and hand it over?",
            Place::Analytics => "What do the figures say?",
            Place::Settings => "What holds, and who said so?",
        }
    }
}

/// How else to get what a screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The requests of the API, after `/api/v1/collections/NAME/`.
    pub api: Vec<String>,
    /// The commands, without `--data`.
    pub commands: Vec<String>,
}

impl Elsewhere {
    /// One request and one command.
    pub fn new(api: &str, command: &str) -> Self {
        Elsewhere { api: vec![api.to_owned()], commands: vec![command.to_owned()] }
    }

    /// A further request.
    #[must_use]
    pub fn api(mut self, api: impl Into<String>) -> Self {
        self.api.push(api.into());
        self
    }

    /// A further command.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }
}

impl Frame<'_> {
    /// The address of a screen of this collection.
    pub fn at(&self, place: Place) -> String {
        self.path(place.slug())
    }

    /// An address of this collection.
    pub fn path(&self, rest: &str) -> String {
        format!("/c/{}/{rest}", crate::words::in_query(self.collection))
    }

    /// The address of the screen of a page.
    pub fn page(&self, url: &str) -> String {
        format!("{}?url={}", self.at(Place::Page), crate::words::in_query(url))
    }

    /// A whole screen.
    pub fn screen(&self, place: Place, elsewhere: &Elsewhere, body: &Markup) -> String {
        self.titled(place, (place.name(), place.question()), elsewhere, body)
    }

    /// A whole screen with a title and a question of its own.
    pub fn titled(
        &self,
        place: Place,
        (title, question): (&str, &str),
        elsewhere: &Elsewhere,
        body: &Markup,
    ) -> String {
        let inner = html! {
            a.skip href="#main" { "Skip to content" }
            div.app {
                header.bar {
                    a.brand href="/" { (logo()) span { "Evercrawl" } }
                    details.menu open[false] {
                        summary { "Menu" }
                        (self.navigation(place))
                    }
                }
                aside.side { (self.navigation(place)) }
                main #main tabindex="-1" {
                    div.head {
                        div {
                            h1 { (title) }
                            p.question { (question) }
                        }
                        (self.finder())
                    }
                    (body)
                    (self.elsewhere(elsewhere))
                }
            }
        };
        let stream = format!(
            "/api/v1/collections/{}/changes/stream",
            crate::words::in_query(self.collection)
        );
        document(&format!("{title} · {}", self.collection), Some(&stream), &inner)
    }

    fn navigation(&self, here: Place) -> Markup {
        let state = match self.running {
            Some(true) => ("running", "good"),
            Some(false) => ("stopped", "plain"),
            None => ("unknown", "plain"),
        };
        html! {
            nav aria-label="Screens" {
                div.collection {
                    @if self.collections.len() > 1 {
                        details {
                            summary { strong { (self.collection) } }
                            ul { @for name in self.collections {
                                li { a href=(format!("/c/{}/{}", crate::words::in_query(name), here.slug())) { (name) } }
                            } li { a href="/" { "All collections" } } }
                        }
                    } @else { strong { (self.collection) } }
                    span class=(format!("pill {}", state.1)) { (state.0) }
                }
                @for (group, places) in Place::GROUPS {
                    h2 { (group) }
                    ul {
                        @for place in places {
                            li { a href=(self.at(*place)) aria-current=[(*place == here).then_some("page")] { (place.name()) } }
                        }
                    }
                }
            }
        }
    }

    /// The field that leads to a page.
    fn finder(&self) -> Markup {
        html! {
            form.finder action=(self.at(Place::Page)) method="get" role="search" {
                label.unseen for="find" { "URL of a page" }
                input #find name="url" type="search" placeholder="Why is … ? Paste a URL" autocomplete="off" required;
                button { "Look up" }
            }
        }
    }

    fn elsewhere(&self, elsewhere: &Elsewhere) -> Markup {
        html! {
            footer.elsewhere {
                @if !elsewhere.api.is_empty() {
                    details {
                        summary { "As API call" }
                        @for api in &elsewhere.api {
                            pre { code { "curl -H \"Authorization: Bearer $TOKEN\" \"$SERVER/api/v1/collections/"
                                (crate::words::in_query(self.collection)) "/" (api) "\"" } }
                        }
                    }
                }
                @if !elsewhere.commands.is_empty() {
                    details {
                        summary { "As command" }
                        @for command in &elsewhere.commands {
                            pre { code { "evercrawl " (visible(command)) " --data " (argument(self.collection)) } }
                        }
                    }
                }
            }
        }
    }

    /// A form that changes something, where that is allowed.
    pub fn form(&self, action: &str, inner: &Markup) -> Markup {
        html! {
            @if self.may_write {
                form.act method="post" action=(self.path(action)) {
                    input type="hidden" name="form_token" value=(self.form_token);
                    (inner)
                }
            }
        }
    }
}

/// A whole document.
pub(crate) fn document(title: &str, stream: Option<&str>, inner: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Evercrawl" }
                link rel="icon" href=(assets::path(assets::ICON));
                link rel="stylesheet" href=(assets::path(assets::STYLE));
                @if stream.is_some() { script type="module" src=(assets::path(assets::SCRIPT)) {} }
            }
            body data-stream=[stream] { (inner) }
        }
    }
    .into_string()
}

/// The mark of the program.
pub(crate) fn logo() -> Markup {
    PreEscaped(
        "<svg class=\"logo\" viewBox=\"0 0 24 24\" width=\"22\" height=\"22\" aria-hidden=\"true\">\
         <path d=\"M12 3a9 9 0 1 0 9 9\"/><path d=\"M12 8a4 4 0 1 0 4 4\"/><circle cx=\"18.4\" cy=\"5.6\" r=\"2.2\"/></svg>"
            .to_owned(),
    )
}
