//! How is an error shown: in words, or as JSON where `--json` was given?
//!
//! Both go to standard error, so that standard output has nothing but answers. Under `--json` an error is one
//! line: `{"error":{"code":"usage","exit_code":2,"message":"...","hint":"..."}}`. Where no answer came, `cause` says
//! why, by the same names as in the log of visits.

use std::io::{self, IsTerminal, Write};

use serde_json::json;

use crate::{exit, print};

/// The columns of a terminal that does not tell.
const WIDTH: usize = 80;

/// What went wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    message: String,
    /// What to do; not every error knows.
    hint: Option<String>,
}

impl Complaint {
    /// Messages say what failed, then `; `, then what to do.
    fn of(text: &str) -> Self {
        let text = print::complaint(text);
        let (message, hint) = match text.split_once("; ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (text, None),
        };
        Complaint { message, hint }
    }

    /// What clap says: the mistake in its first paragraph, tips and usage below.
    fn of_usage(text: &str) -> Self {
        let mut paragraphs = text.trim().split("\n\n");
        let first = paragraphs.next().unwrap_or_default();
        let tip = paragraphs.find_map(|text| text.trim().strip_prefix("tip: "));
        let message = first.trim_start_matches("error: ");
        let hint =
            tip.map(one_line).unwrap_or_else(|| "use --help to list what can be given".into());
        Complaint { message: print::complaint(&one_line(message)), hint: Some(hint) }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the command line asks for JSON, so far as it can be read.
pub(crate) fn wants_json(words: &[String]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Shows what ended the process.
pub(crate) fn show(error: &anyhow::Error, as_json: bool) {
    let (text, code) = (format!("{error:#}"), exit::code_of(error));
    match as_json {
        true => write_json(&Complaint::of(&text), code, cause_of(error)),
        false => write_words(&print::complaint(&text)),
    }
}

/// Shows a mistake on the command line that clap found, as JSON.
pub(crate) fn show_usage(error: &clap::Error) {
    write_json(&Complaint::of_usage(&error.render().to_string()), exit::USAGE, None);
}

/// Why no answer came, if that is the error.
fn cause_of(error: &anyhow::Error) -> Option<&'static str> {
    error.downcast_ref::<evercrawl_fetch::Failure>().map(evercrawl_fetch::Failure::code)
}

fn write_json(complaint: &Complaint, code: u8, cause: Option<&str>) {
    let mut error = json!({
        "code": exit::name(code),
        "exit_code": code,
        "message": complaint.message,
        "hint": complaint.hint,
    });
    if let Some(cause) = cause {
        error["cause"] = cause.into();
    }
    // Nobody can be told that nobody can be told.
    let _ = print::json_line(&mut io::stderr().lock(), &json!({ "error": error }));
}

/// In lines that fit a terminal; a program that reads them gets one line.
fn write_words(text: &str) {
    let text = format!("evercrawl: {text}");
    let mut err = io::stderr().lock();
    let width = if err.is_terminal() { print::error_width().unwrap_or(WIDTH) } else { usize::MAX };
    for line in text.lines().flat_map(|line| print::wrapped(line, width)) {
        let _ = writeln!(err, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(message: &str, hint: Option<&str>) -> Complaint {
        Complaint { message: message.to_owned(), hint: hint.map(str::to_owned) }
    }

    #[test]
    fn what_failed_and_what_to_do_are_told_apart() {
        let said = "`5` is not a valid rate; use e.g. `5/s`; or none";
        let want = complaint("`5` is not a valid rate", Some("use e.g. `5/s`; or none"));
        assert_eq!(Complaint::of(said), want);
        assert_eq!(Complaint::of("it broke"), complaint("it broke", None));
    }

    #[test]
    fn mistakes_that_clap_finds_read_the_same() {
        let text = "error: unexpected argument '--jsn' found\n\n  tip: a similar argument exists: \
                    '--json'\n\nUsage: evercrawl urls --json\n\nFor more information, try '--help'.\n";
        let want = complaint(
            "unexpected argument '--jsn' found",
            Some("a similar argument exists: '--json'"),
        );
        assert_eq!(Complaint::of_usage(text), want);
        let bare = Complaint::of_usage("error: a value is required for '--tag <TAG>'");
        assert_eq!(bare.message, "a value is required for '--tag <TAG>'");
        assert!(bare.hint.is_some());
    }

    #[test]
    fn json_is_asked_for_before_the_end_of_flags() {
        let asks = |line: &str| wants_json(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(asks("evercrawl urls --json --nonsense"));
        assert!(!asks("evercrawl crawl -- --json"));
    }
}
