//! Which URLs does a crawl take, and where does it look for them? From the settings.

use evercrawl_extract::LinkSources;
use evercrawl_urls::{DEFAULT_EXTENSIONS, FilterRules};

use crate::settings::Settings;

/// The filters for URLs.
pub(crate) fn filter_rules(settings: &Settings) -> anyhow::Result<FilterRules> {
    let optional = |name| {
        settings
            .get(name, |text| text.parse().map_err(|_| format!("`{text}` is not a valid number")))
    };
    let extensions = settings.items("crawl.skip_extensions");
    let default = || DEFAULT_EXTENSIONS.iter().map(|&e| e.to_owned());
    let pages_only = link_sources(settings)? == LinkSources::Pages;
    let extensions = match extensions {
        [word] if word == "none" => Vec::new(),
        [word] if word == "default" && !pages_only => Vec::new(),
        [word, less @ ..] if word == "default" => {
            let stays = |one: &String| !less.iter().any(|l| l.strip_prefix('-') == Some(one));
            let more = less.iter().filter(|l| !l.starts_with('-')).cloned();
            default().filter(stays).chain(more).collect()
        }
        list => list.to_vec(),
    };
    Ok(FilterRules {
        include: settings.items("crawl.include").to_vec(),
        exclude: settings.items("crawl.exclude").to_vec(),
        denied_hosts: settings.items("crawl.deny_hosts").to_vec(),
        extensions,
        max_depth: optional("crawl.depth")?,
        max_length: settings.number("crawl.max_url_length")?,
        ..FilterRules::default()
    })
}

/// In which places links are looked for.
pub(crate) fn link_sources(settings: &Settings) -> anyhow::Result<LinkSources> {
    let all = settings.need("crawl.links", |text| match text {
        "pages" => Ok(false),
        "all" => Ok(true),
        _ => Err(format!("`{text}` is not a place to look for links; use pages or all")),
    })?;
    let requisites = settings.flag("crawl.page_requisites")?;
    Ok(match (all, requisites) {
        (true, _) => LinkSources::All,
        (false, true) => LinkSources::Requisites,
        (false, false) => LinkSources::Pages,
    })
}
