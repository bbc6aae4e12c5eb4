//! Where does a form lead whose button anybody could press, without filling in anything?

use super::super::links::{LinkKind, LinkPlace};
use super::PlaceReader;
use super::attributes::Attributes;

/// The most fields of a form, and the longest query that they make.
const MOST_FIELDS: usize = 64;
const LONGEST_QUERY: usize = 1024;
/// The most buttons of a form that are each pressed once.
const MOST_BUTTONS: usize = 4;

/// A form being read.
#[derive(Default)]
pub(super) struct Form {
    action: String,
    /// Sent by POST or not at all: never pressed, since that may change something.
    sends: bool,
    /// A field wants something that only a reader knows.
    needs_filling: bool,
    query: Query,
    buttons: Vec<Button>,
    select: Option<Select>,
}

/// A list to choose from; what is sent is the first option, or the one that is selected.
struct Select {
    name: String,
    value: Option<String>,
}

#[derive(Default)]
struct Button {
    action: Option<String>,
    field: Option<(String, String)>,
}

/// Fields as a browser would send them.
#[derive(Clone, Default)]
struct Query {
    text: String,
    fields: usize,
}

impl Query {
    fn add(&mut self, name: &str, value: &str) {
        self.fields += 1;
        if !self.text.is_empty() {
            self.text.push('&');
        }
        encode(name, &mut self.text);
        self.text.push('=');
        encode(value, &mut self.text);
    }

    fn is_too_long(&self) -> bool {
        self.fields > MOST_FIELDS || self.text.len() > LONGEST_QUERY
    }
}

/// As `application/x-www-form-urlencoded`.
fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

impl PlaceReader<'_> {
    pub(super) fn take_form(&mut self, tag: &Attributes) {
        let element = tag.tag.as_str();
        match element {
            "form" => {
                self.end_form();
                self.form = Some(Form::of(tag));
            }
            "isindex" => {
                let action = tag.get("action").unwrap_or_default();
                self.sink.add(action, LinkKind::Submission, LinkPlace::Markup);
            }
            "button" | "input" if self.form.is_none() => self.take_lone_button(tag),
            _ => self.form.iter_mut().for_each(|form| form.take(tag)),
        }
    }

    /// A button outside of its form; what it would send is not known here.
    fn take_lone_button(&mut self, tag: &Attributes) {
        if let (Some(action), false) = (tag.get("formaction"), sends(tag, "formmethod")) {
            self.sink.add(action, LinkKind::Submission, LinkPlace::Markup);
        }
    }

    pub(super) fn end_form(&mut self) {
        let Some(mut form) = self.form.take() else { return };
        form.end_select();
        for address in form.addresses() {
            self.sink.add(&address, LinkKind::Submission, LinkPlace::Markup);
        }
    }
}

/// Whether a form or button is sent by another method than GET.
fn sends(tag: &Attributes, attribute: &str) -> bool {
    tag.is(attribute, "post") || tag.is(attribute, "dialog")
}

impl Form {
    fn of(tag: &Attributes) -> Self {
        let action = tag.get("action").unwrap_or_default().trim_ascii().to_owned();
        Form { action, sends: sends(tag, "method"), ..Form::default() }
    }

    fn take(&mut self, tag: &Attributes) {
        if tag.get("disabled").is_some() {
            return;
        }
        match tag.tag.as_str() {
            "input" => self.input(tag),
            "button" if !tag.is("type", "button") && !tag.is("type", "reset") => self.button(tag),
            "textarea" if tag.get("name").is_some() => self.needs_filling = true,
            "select" => {
                self.end_select();
                let name = tag.get("name").filter(|name| !name.is_empty());
                self.select = name.map(|name| Select { name: name.to_owned(), value: None });
            }
            "option" => self.option(tag),
            _ => {}
        }
    }

    fn input(&mut self, tag: &Attributes) {
        let kind = tag.get("type").unwrap_or("text").trim_ascii().to_ascii_lowercase();
        let name = tag.get("name").unwrap_or_default();
        let value = tag.get("value");
        match kind.as_str() {
            "submit" | "image" => self.button(tag),
            "button" | "reset" => {}
            "file" | "password" => self.needs_filling = true,
            _ if name.is_empty() => {}
            "checkbox" | "radio" => {
                if tag.get("checked").is_some() {
                    self.query.add(name, value.unwrap_or("on"));
                }
            }
            "hidden" => self.query.add(name, value.unwrap_or_default()),
            _ => match value.filter(|value| !value.is_empty()) {
                Some(value) => self.query.add(name, value),
                None => self.needs_filling = true,
            },
        }
    }

    fn button(&mut self, tag: &Attributes) {
        if self.buttons.len() >= MOST_BUTTONS || sends(tag, "formmethod") {
            return;
        }
        let name = tag.get("name").filter(|name| !name.is_empty());
        let value = tag.get("value").unwrap_or_default();
        let field = name.map(|name| (name.to_owned(), value.to_owned()));
        self.buttons.push(Button { action: tag.get("formaction").map(str::to_owned), field });
    }

    fn option(&mut self, tag: &Attributes) {
        let Some(select) = &mut self.select else { return };
        match tag.get("value") {
            Some(value) if select.value.is_none() || tag.get("selected").is_some() => {
                select.value = Some(value.to_owned());
            }
            Some(_) => {}
            // Its text would be sent, which is not read here.
            None => self.needs_filling = true,
        }
    }

    fn end_select(&mut self) {
        if let Some(Select { name, value: Some(value) }) = self.select.take() {
            self.query.add(&name, &value);
        }
    }

    /// Where its buttons lead; nowhere if it is sent by POST, or not without being filled in.
    fn addresses(mut self) -> Vec<String> {
        if self.sends || self.needs_filling {
            return Vec::new();
        }
        if self.buttons.is_empty() {
            self.buttons.push(Button::default());
        }
        let address = |button: &Button| {
            let mut query = self.query.clone();
            button.field.iter().for_each(|(name, value)| query.add(name, value));
            let action = button.action.as_deref().unwrap_or(&self.action);
            (!query.is_too_long()).then(|| submitted(action, &query.text))
        };
        self.buttons.iter().filter_map(address).collect()
    }
}

/// The action with the query in place of its own.
fn submitted(action: &str, query: &str) -> String {
    let bare = action.split(['?', '#']).next().unwrap_or_default();
    if query.is_empty() { bare.to_owned() } else { format!("{bare}?{query}") }
}
