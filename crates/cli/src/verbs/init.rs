//! `evercrawl init`: a data directory with a short configuration file.

use std::io::Write;

use evercrawl_engine::DataDir;

use super::take;
use crate::args::Init;
use crate::settings::{Origin, Settings};
use crate::{crawl_config, exit, print};

pub(crate) fn run(args: &Init) -> anyhow::Result<u8> {
    // What would be refused by the first crawl is not written.
    let mut given = Settings::defaults();
    for (name, value) in [("identity.contact", &args.contact), ("identity.user_agent", &args.agent)]
    {
        if let Some(value) = value {
            given.set(name, vec![value.clone()], Origin::Flag)?;
        }
    }
    crawl_config::fetch_config(&given)?;
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    let path = dir.path().join("evercrawl.toml");
    let shown = path.display();
    if path.exists() {
        return Err(exit::Failure::config(format!("{shown} already exists; edit it instead")));
    }
    std::fs::write(&path, template(args.contact.as_deref(), args.agent.as_deref()))?;
    if args.json {
        let line = serde_json::json!({"data": dir.path(), "configuration": path});
        return Ok(print::json_line(&mut print::data(), &line).map(|()| exit::OK)?);
    }
    writeln!(print::data(), "{shown}")?;
    let data = dir.path().display();
    if args.contact.is_none() {
        eprintln!("next: set identity.contact in {shown}, so that site operators can reach you");
    }
    eprintln!("then: evercrawl crawl https://example.org/ --data {data}");
    Ok(exit::OK)
}

/// The settings that are changed most; `evercrawl config show` lists the rest.
pub(crate) fn template(contact: Option<&str>, agent: Option<&str>) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let contact = contact
        .map_or("# contact = \"https://example.org/bot.html\"".to_owned(), |contact| {
            format!("contact = {}", quoted(contact))
        });
    let agent = quoted(agent.unwrap_or("evercrawl"));
    format!(
        "# Evercrawl settings. To list all of them with their values: evercrawl config show

[identity]
# Sent with every request, so that site operators can reach you.
{contact}
user_agent = {agent}

[crawl]
# scope = \"host\"      # around each seed: page, prefix, host, domain or any
# exclude = [\"/private/\"]

[pace]
# delay = \"1s\"        # pause between requests to one host

[budget]
# rate = \"5/s\"        # requests over all hosts

[schedule]
# revisit_every = \"auto\"    # a fixed interval, or auto: the policy decides (1d without a budget)
"
    )
}
