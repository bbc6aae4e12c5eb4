//! Do expressions mean what they say, and are others refused with a reason?

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

const FIELDS: &[Field] = &[
    Field { name: "status", kind: Kind::Number },
    Field { name: "host", kind: Kind::Text },
    Field { name: "bytes", kind: Kind::Size },
    Field { name: "time", kind: Kind::Time },
    Field { name: "seed", kind: Kind::Flag },
    Field { name: "tag", kind: Kind::Words },
    Field { name: "lang", kind: Kind::Text },
];

/// Whether an expression is true of a seed with status 200, 5,000 bytes, two tags and no language.
fn is_true(text: &str) -> bool {
    let tags = ["news".to_owned(), "legal".to_owned()];
    let filter = Filter::parse(text, FIELDS).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut value = |name: &'static str| -> Result<Value<'_>, Infallible> {
        Ok(match name {
            "status" => Value::Number(200.0),
            "host" => Value::Text("a.org".into()),
            "bytes" => Value::Number(5000.0),
            "time" => Value::Time(Time::from_secs(1_794_780_950)),
            "seed" => Value::Flag(true),
            "tag" => Value::Words(&tags),
            _ => Value::Missing,
        })
    };
    filter.matches(&mut value).unwrap()
}

#[test]
fn expressions_mean_what_they_say() {
    for (text, want) in [
        ("status = 200", true),
        ("status == 200 and host = 'a.org'", true),
        ("status=200 and host=a.org", true),
        ("status != 200", false),
        ("status <> 404", true),
        ("status >= 200 and status < 300", true),
        ("status in (301, 302)", false),
        ("status in (404,200)", true),
        ("host ~ '^a\\.'", true),
        ("host !~ org", false),
        ("bytes > 4.9kB and bytes <= 5kB", true),
        ("bytes > 5KiB", false),
        ("time >= 2026-11-15 and time < '2026-11-16'", true),
        ("seed", true),
        ("not seed", false),
        ("seed = false", false),
        ("tag = news", true),
        ("tag = legal and tag != sport", true),
        ("tag ~ ^leg", true),
        ("tag in (sport, news)", true),
        ("lang = de", false),
        ("lang != de", true),
        ("lang = null", true),
        ("lang < de or lang >= de", false),
        ("host = null", false),
        ("host = 'null'", false),
        ("status = 404 or status = 200 and seed", true),
        ("(status = 404 or status = 200) and not seed", false),
        ("NOT (status = 404) AND NOT not seed", true),
        ("host = \"it''s\" or host = 'it''s'", false),
    ] {
        assert_eq!(is_true(text), want, "{text}");
    }
}

#[test]
fn others_are_refused_with_a_reason() {
    let deep = "(".repeat(60) + "seed" + &")".repeat(60);
    for (text, why) in [
        ("", "a field is expected at the end"),
        ("statsu = 200", "`statsu` is not a field; use one of status, host"),
        ("status", "`status` needs an operator and a value, e.g. `status = 200`"),
        ("status =", "`status =` needs a value"),
        ("status = yes", "`yes` is not a value for `status`; use e.g. `200`"),
        ("status = 200 seed", "`seed` is unexpected; connect tests with `and` or `or`"),
        ("(seed", "`)` is missing at the end"),
        ("seed)", "`)` is unexpected"),
        ("host = 'a", "a closing ' is missing after `a`"),
        ("host ~ '('", "`(` is not a regular expression"),
        ("status ~ 2", "`status` is not text"),
        ("tag < b", "`tag` has several words"),
        ("time > soon", "`soon` is not a value for `time`; use e.g. `2026-11-16`"),
        ("status in 200", "`(` is expected before `200`"),
        ("status in (200 201)", "`,` or `)` is expected before `201`"),
        ("status in (200", "`)` is missing at the end"),
        ("status ! 200", "`!` is unexpected"),
        (&deep, "more than 50 brackets are nested"),
        (&"x".repeat(10_001), "a filter has at most 10000 bytes"),
    ] {
        let error = Filter::parse(text, FIELDS).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn fields_are_read_only_where_they_decide() {
    let filter = Filter::parse("status = 404 and lang = de", FIELDS).unwrap();
    assert!(filter.names("lang") && !filter.names("host"));
    let mut read = Vec::new();
    let mut value = |name: &'static str| -> Result<Value<'_>, Infallible> {
        read.push(name);
        Ok(Value::Number(200.0))
    };
    assert!(!filter.matches(&mut value).unwrap());
    assert_eq!(read, ["status"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9 ()'\"=<>!~,é]{0,60}") {
        let _ = Filter::parse(&text, FIELDS);
    }

    #[test]
    fn not_turns_every_answer_round(text in "(status|bytes) (=|!=|<|<=|>|>=) [0-9]{1,4}") {
        prop_assert_ne!(is_true(&text), is_true(&format!("not ({text})")));
    }
}
