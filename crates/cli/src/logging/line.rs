//! How does a log line read?

use std::fmt::Write;

use evercrawl_model::Time;
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::Format;

/// Writes each event as a line, with the spans that it lies in.
pub(super) struct LineWriter<W> {
    format: Format,
    now: fn() -> Time,
    write: W,
}

impl<W: Fn(&[u8])> LineWriter<W> {
    /// Lines in `format`, with times from `now`, are given to `write` whole.
    pub(super) fn new(format: Format, now: fn() -> Time, write: W) -> Self {
        LineWriter { format, now, write }
    }
}

impl<S, W> Layer<S> for LineWriter<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&[u8]) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = ctx.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = ctx.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let spans = spans.map(|span| {
            let fields = span.extensions().get::<Fields>().map(|fields| fields.0.clone());
            (span.name(), fields.unwrap_or_default())
        });
        let line = Line {
            timestamp: (self.now)().rfc3339(),
            level: event.metadata().level(),
            target: event.metadata().target(),
            message: fields.take_message(),
            fields: fields.0,
            spans: spans.collect(),
        };
        let mut text = match self.format {
            Format::Text => line.text(),
            Format::Json => line.json(),
        };
        text.push('\n');
        (self.write)(text.as_bytes());
    }
}

/// What a line says.
struct Line<'a> {
    timestamp: String,
    level: &'a Level,
    target: &'a str,
    message: String,
    fields: FieldList,
    spans: Vec<(&'static str, FieldList)>,
}

type FieldList = Vec<(&'static str, Value)>;

/// The order in which JSON has it.
#[derive(Serialize)]
struct JsonLine<'a> {
    timestamp: &'a str,
    level: &'a str,
    target: &'a str,
    message: &'a str,
    fields: Map<String, Value>,
    spans: Vec<Map<String, Value>>,
}

impl Line<'_> {
    fn text(&self) -> String {
        let mut text = format!("{} {:>5} ", self.timestamp, self.level);
        for (name, fields) in &self.spans {
            let fields: Vec<_> = fields.iter().map(field_text).collect();
            // A string takes all that is written to it, here and below.
            let _ = write!(text, "{name}{{{}}}: ", fields.join(" "));
        }
        let _ = write!(text, "{}: {}", self.target, escape_controls(&self.message));
        for field in &self.fields {
            let _ = write!(text, " {}", field_text(field));
        }
        text
    }

    fn json(&self) -> String {
        let spans = self.spans.iter().map(|(name, fields)| {
            let mut span = map(fields);
            span.insert("name".to_owned(), (*name).into());
            span
        });
        let line = JsonLine {
            timestamp: &self.timestamp,
            level: self.level.as_str(),
            target: self.target,
            message: &self.message,
            fields: map(&self.fields),
            spans: spans.collect(),
        };
        serde_json::to_string(&line).unwrap_or_default()
    }
}

fn map(fields: &FieldList) -> Map<String, Value> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// `name=value`; the value is quoted where it would not be one word.
fn field_text((name, value): &(&'static str, Value)) -> String {
    match value {
        Value::String(text) if is_a_word(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    }
}

fn is_a_word(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace() && !"\"={}\u{feff}".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

/// What servers say may be in a message: it must neither end the line nor move the cursor.
fn escape_controls(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// The fields of an event or span, in their order.
#[derive(Default)]
struct Fields(FieldList);

impl Fields {
    fn push(&mut self, field: &Field, value: Value) {
        match self.0.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, old)) => *old = value,
            None => self.0.push((field.name(), value)),
        }
    }

    fn take_message(&mut self) -> String {
        let at = self.0.iter().position(|(name, _)| *name == "message");
        match at.map(|at| self.0.remove(at)) {
            Some((_, Value::String(message))) => message,
            _ => String::new(),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.push(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry::Registry;

    use super::*;

    /// What is written while `work` is done.
    fn written(format: Format, work: impl FnOnce()) -> String {
        let text = Arc::new(Mutex::new(Vec::new()));
        let into = text.clone();
        let write = move |line: &[u8]| into.lock().unwrap().extend_from_slice(line);
        let now = || Time::from_millis(1_800_000_000_123);
        let subscriber = Registry::default().with(LineWriter::new(format, now, write));
        tracing::subscriber::with_default(subscriber, work);
        let text = text.lock().unwrap().clone();
        String::from_utf8(text).unwrap()
    }

    fn work() {
        let span = tracing::debug_span!("visit", page = 7u64, bytes = tracing::field::Empty);
        let _in = span.enter();
        span.record("bytes", 12u64);
        tracing::warn!(target: "t", host = "a.org", why = "no \"answer\"\n", ok = false, "host blocked");
    }

    #[test]
    fn text_is_one_line_with_utc_time_spans_and_fields() {
        let expected = "2027-01-15T08:00:00.123Z  WARN visit{page=7 bytes=12}: t: host blocked \
                        host=a.org why=\"no \\\"answer\\\"\\n\" ok=false\n";
        assert_eq!(written(Format::Text, work), expected);
    }

    #[test]
    fn json_is_one_object_a_line() {
        let line = written(Format::Json, work);
        let expected = "{\"timestamp\":\"2027-01-15T08:00:00.123Z\",\"level\":\"WARN\",\"target\":\"t\",\
            \"message\":\"host blocked\",\
            \"fields\":{\"host\":\"a.org\",\"ok\":false,\"why\":\"no \\\"answer\\\"\\n\"},\
            \"spans\":[{\"bytes\":12,\"name\":\"visit\",\"page\":7}]}\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn what_a_server_says_cannot_end_a_line_or_move_the_cursor() {
        let text = written(Format::Text, || tracing::info!("a\nb\u{1b}[2J {}", "c"));
        assert_eq!(text.lines().count(), 1);
        assert!(text.ends_with("a\\nb\\u{1b}[2J c\n"), "{text}");
    }
}
