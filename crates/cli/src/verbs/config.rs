//! `evercrawl config show`: every setting, its value, and who set it.

use serde_json::json;

use crate::access::host_rules;
use crate::args::Common;
use crate::settings::{Key, Settings, Value};
use crate::{crawl_config, exit, print};

/// What the rules for some hosts mean.
const RULE: &str = "a rule for some hosts";

/// Every setting as JSON.
pub(crate) fn lines(settings: &Settings) -> Vec<serde_json::Value> {
    let setting = |(key, value): (&Key, &Value)| {
        json!({
            "name": key.name,
            "value": settings.shown(key),
            "from": value.origin.to_string(),
            "default": key.default,
            "help": key.help,
        })
    };
    let rule =
        |(name, value, from)| json!({"name": name, "value": value, "from": from, "help": RULE});
    let rules = host_rules::shown(settings).into_iter().map(rule);
    settings.iter().map(setting).chain(rules).collect()
}

pub(crate) fn show(common: &Common, json: bool) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(common, None)?;
    let rules = host_rules::shown(&settings);
    let mut out = print::data();
    if json {
        lines(&settings).iter().try_for_each(|line| print::json_line(&mut out, line))?;
        return Ok(exit::OK);
    }
    let row = |(key, value): (&Key, &Value)| {
        let shown = Some(settings.shown(key)).filter(|shown| !shown.is_empty());
        let shown = shown.unwrap_or_else(|| "-".to_owned());
        vec![key.name.to_owned(), shown, value.origin.to_string(), key.help.to_owned()]
    };
    let mut rows: Vec<_> = settings.iter().map(row).collect();
    rows.extend(
        rules.into_iter().map(|(name, value, from)| vec![name, value, from, RULE.to_owned()]),
    );
    print::table(&mut out, &["setting", "value", "from", "meaning"], &rows)?;
    Ok(exit::OK)
}
