//! Did it arrive? A 200 may carry an error, so the body is read too.

use serde_json::Value;

/// What an answer means.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It arrived.
    Delivered,
    /// It did not; again later, after so many seconds where the receiver says so.
    Again {
        /// Why.
        why: String,
        /// The seconds.
        after: Option<f64>,
    },
    /// The receiver wants no more messages.
    Gone {
        /// What it said.
        why: String,
    },
}

/// What an HTTP answer means. `retry_after` is in seconds.
pub(crate) fn judge(
    status: u16,
    retry_after: Option<f64>,
    body: &[u8],
    must_say: Option<&str>,
) -> Verdict {
    let text = String::from_utf8_lossy(body);
    let json: Option<Value> = serde_json::from_str(&text).ok();
    let said = short(&text);
    let why = |what: String| if said.is_empty() { what } else { format!("{what}: {said}") };
    if status == 410 {
        return Verdict::Gone { why: why("status 410".to_owned()) };
    }
    let after = retry_after.or_else(|| json.as_ref().and_then(wait_in));
    if !(200..300).contains(&status) {
        return Verdict::Again { why: why(format!("status {status}")), after };
    }
    let is_error = json.as_ref().is_some_and(tells_error)
        || must_say.is_some_and(|must| status != 204 && text.trim() != must)
        || text.contains("Webhook message delivery failed");
    match is_error {
        true => Verdict::Again { why: why(format!("status {status}, but an error")), after },
        false => Verdict::Delivered,
    }
}

/// Whether a JSON object says that something went wrong.
fn tells_error(json: &Value) -> bool {
    let is_false = |name: &str| json.get(name).is_some_and(|value| value == &Value::Bool(false));
    let says = |name: &str| match json.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    };
    let status =
        json.get("status").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    is_false("ok")
        || is_false("success")
        || ["error", "errors", "errcode", "error_code"].into_iter().any(says)
        || matches!(status.as_str(), "error" | "failed" | "failure" | "fail")
}

fn wait_in(json: &Value) -> Option<f64> {
    let found = json.get("retry_after").or_else(|| json.get("parameters")?.get("retry_after"))?;
    // Matrix has milliseconds under another name.
    found.as_f64().or_else(|| Some(json.get("retry_after_ms")?.as_f64()? / 1000.0))
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_200_may_carry_an_error() {
        for (status, body, must, delivered) in [
            (200, "", None, true),
            (204, "", Some("ok"), true),
            (200, "ok", Some("ok"), true),
            (200, "no_service", Some("ok"), false),
            (200, r#"{"ok":true,"result":{}}"#, None, true),
            (200, r#"{"ok":false,"description":"chat not found"}"#, None, false),
            (200, r#"{"error":"no such key"}"#, None, false),
            (200, r#"{"error":null,"errors":[]}"#, None, true),
            (200, r#"{"success":false}"#, None, false),
            (200, r#"{"status":"error"}"#, None, false),
            (200, "Webhook message delivery failed with error: HTTP 429", None, false),
            (200, "<h1>Thanks</h1>", None, true),
            (202, "1", None, true),
            (302, "", None, false),
            (500, "oops", None, false),
        ] {
            let verdict = judge(status, None, body.as_bytes(), must);
            assert_eq!(verdict == Verdict::Delivered, delivered, "{status} {body}: {verdict:?}");
        }
    }

    #[test]
    fn receivers_say_when_and_whether() {
        let after = |retry, body: &str| match judge(429, retry, body.as_bytes(), None) {
            Verdict::Again { after, .. } => after,
            _ => None,
        };
        assert_eq!(after(Some(7.0), ""), Some(7.0));
        assert_eq!(after(None, r#"{"parameters":{"retry_after":5}}"#), Some(5.0));
        assert_eq!(after(None, r#"{"retry_after":0.5}"#), Some(0.5));
        assert_eq!(
            judge(410, None, b"bye", None),
            Verdict::Gone { why: "status 410: bye".to_owned() }
        );
    }
}
