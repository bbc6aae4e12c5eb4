//! How do seeds look before anything is crawled: does robots.txt allow them, and how many pages do sitemaps list?

use std::path::Path;

use evercrawl_extract::decode::{self, DecodeLimits};
use evercrawl_extract::{ContentKind, Document, Listing};
use evercrawl_fetch::{Client, Request};
use evercrawl_query::AddRequest;
use evercrawl_serve::{NewCollection, SeedPreview};
use evercrawl_urls::{Canonical, Seed};

use crate::settings::{Origin, Settings};
use crate::verbs::robots;
use crate::{access, crawl_config, exit, seeds};

/// Seeds that are looked at: each takes some requests.
const MOST_SEEDS: usize = 5;

/// Looks at the first seeds.
pub(super) fn preview(asked: &NewCollection) -> anyhow::Result<Vec<SeedPreview>> {
    let mut settings = Settings::defaults();
    settings.read_environment(std::env::vars())?;
    if let Some(contact) = &asked.contact {
        settings.set("identity.contact", vec![contact.clone()], Origin::Flag)?;
    }
    let steps = crawl_config::steps(&settings)?;
    let lines = asked.seeds.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let look = |line: &str| {
        let request = AddRequest { urls: vec![line.to_owned()], tags: Vec::new() };
        match seeds::parse(&request, steps) {
            Ok(found) => found.first().and_then(|seed| url_of(seed, steps)).map_or_else(
                || unusable(line, "there is no address in it"),
                |url| look_at(line, &url, &settings),
            ),
            Err(error) => unusable(line, &error.to_string()),
        }
    };
    Ok(lines.take(MOST_SEEDS).map(look).collect())
}

/// The host of the first seed, as the name of a collection.
pub(super) fn name_for(asked: &NewCollection) -> Option<String> {
    let steps = crawl_config::steps(&Settings::defaults()).ok()?;
    let request = AddRequest { urls: asked.seeds.clone(), tags: Vec::new() };
    let found = seeds::parse(&request, steps).ok()?;
    let url = url_of(found.first()?, steps)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    Some(url.host().trim_start_matches("www.").chars().map(plain).take(64).collect())
}

fn url_of(seed: &Seed, steps: evercrawl_urls::CanonicalSteps) -> Option<Canonical> {
    seed.target.candidates(steps).into_iter().next()
}

fn unusable(seed: &str, why: &str) -> SeedPreview {
    SeedPreview {
        seed: seed.to_owned(),
        url: None,
        verdict: "unusable".to_owned(),
        reason: Some(why.to_owned()),
        sitemaps: Vec::new(),
        pages_listed: None,
        pages_listed_complete: false,
    }
}

fn look_at(seed: &str, url: &Canonical, settings: &Settings) -> SeedPreview {
    let agent = settings.items("identity.user_agent").first().cloned().unwrap_or_default();
    let fetched = robots::fetch(settings, Path::new("."), url.as_str(), &agent);
    let (robots, source) = match fetched {
        Ok(fetched) => fetched,
        Err(error) => return unusable(seed, &error.to_string()),
    };
    let verdict = robots.verdict_for_url(url.as_str());
    let line = verdict.line.map(|line| format!("line {}: {}", line.number, line.text));
    let mut sitemaps: Vec<String> = robots.sitemaps().take(20).map(str::to_owned).collect();
    if sitemaps.is_empty() {
        sitemaps.push(format!("{}/sitemap.xml", url.origin()));
    }
    let listed = sitemaps.first().and_then(|address| listed(address, settings).ok().flatten());
    SeedPreview {
        seed: seed.to_owned(),
        url: Some(url.as_str().to_owned()),
        verdict: if verdict.allowed { "allowed" } else { "disallowed" }.to_owned(),
        reason: line.or(Some(source)),
        sitemaps: if listed.is_some() { sitemaps } else { Vec::new() },
        pages_listed: listed.map(|(pages, _)| pages),
        pages_listed_complete: listed.is_some_and(|(_, complete)| complete),
    }
}

/// How many addresses a sitemap lists, and whether these are pages and all of them.
fn listed(address: &str, settings: &Settings) -> anyhow::Result<Option<(u64, bool)>> {
    let request = Request::new(address).map_err(|error| exit::Failure::usage(error.to_string()))?;
    let mut config = crawl_config::fetch_config(settings)?;
    config.access = access::read(settings, Path::new("."))?.access;
    let client = Client::new(config).map_err(|error| exit::Failure::config(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut hops = runtime.block_on(client.fetch_following(&request, 5));
    let Some(Ok(response)) = hops.pop().map(|hop| hop.fetched.result) else { return Ok(None) };
    if response.status != 200 {
        return Ok(None);
    }
    let (codings, body) = (response.content_codings(), response.body.whole());
    let unpacked = decode::decode(&codings, &body, DecodeLimits::default());
    let content_type = response.header("content-type");
    let document = Document { bytes: &unpacked.bytes, content_type, url: address };
    let listing = Listing::read_listing(&document);
    let is_index = listing.kind == ContentKind::SitemapIndex;
    let complete = !listing.damaged && !listing.cut && !is_index;
    let pages = listing.entries.len() as u64;
    Ok((pages > 0 || !listing.damaged).then_some((pages, complete)))
}
