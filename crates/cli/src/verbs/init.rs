//! `evercrawl init`: a data directory with a short configuration file.

use std::io::Write;

use evercrawl_engine::DataDir;

use super::take;
use crate::args::Init;
use crate::{exit, print};

pub(crate) fn run(args: &Init) -> anyhow::Result<u8> {
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    let path = dir.path().join("evercrawl.toml");
    let shown = path.display();
    if path.exists() {
        return Err(exit::Failure::config(format!("{shown} exists already; edit it as you like")));
    }
    std::fs::write(&path, template(args.contact.as_deref(), args.agent.as_deref()))?;
    writeln!(print::data(), "{shown}")?;
    let data = dir.path().display();
    if args.contact.is_none() {
        eprintln!("next: put your address into {shown} as identity.contact");
    }
    eprintln!("then: evercrawl crawl https://example.org/ --data {data}");
    Ok(exit::OK)
}

/// What people change, and nothing else; `evercrawl config show` lists the rest.
fn template(contact: Option<&str>, agent: Option<&str>) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let contact = contact
        .map_or("# contact = \"https://example.org/bot.html\"".to_owned(), |contact| {
            format!("contact = {}", quoted(contact))
        });
    let agent = quoted(agent.unwrap_or("evercrawl"));
    format!(
        "# Evercrawl. Every setting with its default: evercrawl config show

[identity]
# Who crawls: servers see this in every request.
{contact}
agent = {agent}

[crawl]
# scope = \"host\"      # page | prefix | host | domain | any, around each seed
# exclude = [\"/private/\"]

[pace]
# delay = \"1s\"        # pause after each request to a host

[budget]
# rate = \"5/s\"        # requests over all hosts

[schedule]
# recrawl = \"auto\"    # a fixed interval; auto: the policy's choice with a budget, else 1d
"
    )
}
