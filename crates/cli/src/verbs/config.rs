//! `evercrawl config show`: every setting, its value, and who set it.

use serde_json::json;

use crate::args::Common;
use crate::settings::Value;
use crate::{crawl_config, exit, print};

pub(crate) fn show(common: &Common, json: bool) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(common, None)?;
    let mut out = print::data();
    if json {
        for (key, value) in settings.iter() {
            let line = json!({
                "name": key.name,
                "value": value.items.join(", "),
                "from": value.origin.to_string(),
                "default": key.default,
                "help": key.help,
            });
            print::json_line(&mut out, &line)?;
        }
        return Ok(exit::OK);
    }
    let row = |name: &str, value: &Value, help: &str| {
        let shown = if value.items.is_empty() { "-".to_owned() } else { value.items.join(", ") };
        vec![name.to_owned(), shown, value.origin.to_string(), help.to_owned()]
    };
    let rows: Vec<_> = settings.iter().map(|(key, value)| row(key.name, value, key.help)).collect();
    print::table(&mut out, &["setting", "value", "from", "what it is"], &rows)?;
    Ok(exit::OK)
}
