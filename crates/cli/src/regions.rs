//! Which parts of pages did the user declare to be what counts? `[[region]]` in a file.

use evercrawl_engine::regions::{DeclaredRegions, RegionRule};

use crate::exit::Failure;
use crate::settings::Settings;

/// The regions of `[[region]]`, in their order.
pub(crate) fn declared(settings: &Settings) -> anyhow::Result<DeclaredRegions> {
    let mut declared = DeclaredRegions::default();
    for (at, table) in settings.host_rules("region").0.iter().enumerate() {
        let bad = |(key, why): (&str, String)| {
            Failure::config(format!("[[region]] number {}, {key}: {why}", at + 1))
        };
        declared.add(&rule(table).map_err(bad)?).map_err(bad)?;
    }
    Ok(declared)
}

fn rule(table: &toml::Table) -> Result<RegionRule, (&str, String)> {
    let keys = ["url", "css", "without"];
    if let Some(unknown) = table.keys().find(|key| !keys.contains(&key.as_str())) {
        return Err((unknown, format!("is not a key of a region; use {}", keys.join(", "))));
    }
    let text = |key: &'static str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err((key, "is not a text".to_owned())),
    };
    let url = text("url")?.ok_or_else(|| {
        ("url", "is missing; use a regular expression, such as url = \"/products/\"".to_owned())
    })?;
    let (css, without) = (text("css")?, without(table)?);
    if css.is_none() && without.is_empty() {
        let why = "is missing; say what counts by css, or what does not by without";
        return Err(("css", why.to_owned()));
    }
    Ok(RegionRule { url, css, without })
}

/// One selector or several.
fn without(table: &toml::Table) -> Result<Vec<String>, (&'static str, String)> {
    let texts = match table.get("without") {
        None => Some(Vec::new()),
        Some(toml::Value::String(text)) => Some(vec![text.clone()]),
        Some(toml::Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        }
        Some(_) => None,
    };
    texts.ok_or_else(|| ("without", "is not a list of CSS selectors".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(text: &str) -> Result<RegionRule, (String, String)> {
        let table: toml::Table =
            toml::from_str(text).map_err(|e| (String::new(), e.to_string()))?;
        rule(&table).map_err(|(key, why)| (key.to_owned(), why))
    }

    #[test]
    fn a_rule_says_what_counts_or_what_does_not() {
        let read = rule_of("url = '/p/'\nwithout = ['nav', '.ad']").unwrap();
        assert_eq!((read.css, read.without.len()), (None, 2));
        let read = rule_of("url = '/p/'\ncss = 'main'\nwithout = 'nav'").unwrap();
        assert_eq!((read.css.as_deref(), read.without.len()), (Some("main"), 1));
    }

    #[test]
    fn mistakes_are_named() {
        let key = |text: &str| rule_of(text).unwrap_err().0;
        assert_eq!(key("css = 'main'"), "url");
        assert_eq!(key("url = '/p/'"), "css");
        assert_eq!(key("url = '/p/'\ncss = 1"), "css");
        assert_eq!(key("url = '/p/'\nwithout = [1]"), "without");
        assert_eq!(key("url = '/p/'\nccs = 'main'"), "ccs");
    }
}
