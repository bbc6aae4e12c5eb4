//! `evercrawl fetch`: fetches one URL and shows the response; stores nothing.

mod rendered;
mod sub_requests;

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::sync::Arc;

use evercrawl_compare::{Digest, Fingerprint};
use evercrawl_engine::{header_links, outcome_of_answer};
use evercrawl_extract::decode::{self, DecodeLimits};
use evercrawl_extract::{
    Content, Document, Extraction, Extractor, HtmlOptions, LinkKind, LinkPlace, LinkSources,
    Unreadable, refresh_target,
};
use evercrawl_fetch::{Client, Hop, Request, Response};
use evercrawl_model::{Cause, Outcome};
use serde_json::{Value, json};

use crate::args::Fetch;
use crate::exit::Failure;
use crate::units::{show_counted, show_duration, show_size};
use crate::url_rules::link_sources;
use crate::{access, crawl_config, exit, print};

pub(crate) fn run(args: &Fetch) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, Some(&args.rules))?;
    let url = super::canonical(&settings, &args.url)?;
    let request = Request::new(url.as_str()).map_err(|error| Failure::usage(error.to_string()))?;
    let mut config = crawl_config::fetch_config(&settings)?;
    config.access = access::read(&settings, &args.common.data)?.access;
    let proxy = config.access.proxy_for(request.url()).map(ToString::to_string);
    // What is missing should be known before anything is asked.
    let rendering = args.render.then(|| rendered::Rendering::new(&settings)).transpose()?;
    let client = Client::new(config).map_err(|error| Failure::config(error.to_string()))?;
    let client = Arc::new(client);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hops = runtime.block_on(client.fetch_following(&request, 10));
    for hop in &hops[..hops.len().saturating_sub(1)] {
        if let (Ok(response), false) = (&hop.fetched.result, args.json) {
            eprintln!("{} {}", response.status, print::plain(hop.url.as_str()));
        }
    }
    let Some(last) = hops.last() else { return Ok(exit::UNREACHABLE) };
    match &last.fetched.result {
        Ok(response) if let Some(rendering) = rendering => {
            rendering.show(args, (last, response), &client, &runtime)
        }
        Ok(response) if args.body => body(response),
        Ok(response) => {
            let sources = link_sources(&settings)?;
            show(args, last, response, (hops.len() - 1, sources, proxy))
        }
        Err(failure) => {
            let failure = anyhow::Error::from(failure.clone());
            Err(failure.context(print::plain(last.url.as_str())))
        }
    }
}

/// The body without its content coding, and what is wrong with the answer.
fn read(response: &Response) -> (Vec<u8>, (Outcome, Option<Cause>)) {
    let (codings, body) = (response.content_codings(), response.body.whole());
    let decoded = decode::decode(&codings, &body, DecodeLimits::default());
    let judged = outcome_of_answer(response, Some(&decoded), false);
    (decoded.bytes.into_owned(), judged)
}

fn body(response: &Response) -> anyhow::Result<u8> {
    let mut out = print::data();
    let (unpacked, judged) = read(response);
    out.write_all(&unpacked)?;
    out.flush()?;
    Ok(warn(judged))
}

/// Says what is wrong with an answer, if anything is.
fn warn((outcome, cause): (Outcome, Option<Cause>)) -> u8 {
    match cause.filter(|_| matches!(outcome, Outcome::Cut | Outcome::Protocol)) {
        Some(cause) => {
            eprintln!("{}: {}", cause.code(), cause.words());
            exit::UNEXPECTED
        }
        None => exit::OK,
    }
}

fn show(
    args: &Fetch,
    hop: &Hop,
    response: &Response,
    (redirects, sources, proxy): (usize, LinkSources, Option<String>),
) -> anyhow::Result<u8> {
    let content_type = response.header("content-type");
    let (unpacked, judged) = read(response);
    let document = Document { bytes: &unpacked, content_type, url: hop.url.as_str() };
    let mut extractor = Extractor::new();
    let options = HtmlOptions { sources, ..HtmlOptions::default() };
    let extracted = extractor.extract(&document, &options);
    let found = found_links(hop, response, &extracted, sources);
    let mut out = print::data();
    if args.json {
        let mut line = summary(hop, response, &extracted);
        line["redirects"] = redirects.into();
        line["outcome"] = judged.0.code().into();
        line["cause"] = judged.1.map(Cause::code).into();
        line["proxy"] = proxy.into();
        line["links"] = found.len().into();
        line["link_list"] = found.iter().map(FoundLink::to_json).collect();
        print::json_line(&mut out, &line)?;
    } else {
        write_words(&mut out, hop, response, (&extracted, &found))?;
        if let Some(proxy) = proxy {
            writeln!(out, "proxy   {proxy} ({})", access::PROXY_LOOKS_UP)?;
        }
    }
    out.flush()?;
    Ok(warn(judged))
}

/// A link, resolved, with what it is for and where it stands.
struct FoundLink {
    url: String,
    kind: &'static str,
    place: &'static str,
}

impl FoundLink {
    fn to_json(&self) -> Value {
        json!({ "url": self.url, "kind": self.kind, "place": self.place })
    }
}

/// Every address that a response names, once for each kind and place.
fn found_links(
    hop: &Hop,
    response: &Response,
    extracted: &Extraction<'_>,
    sources: LinkSources,
) -> Vec<FoundLink> {
    let base = match &extracted.content {
        Content::Page(page) => page.base.as_deref(),
        Content::Listing(listing) => {
            let entries = listing.entries.iter().map(|entry| entry.url.clone());
            return entries.map(|url| FoundLink { url, kind: "entry", place: "listing" }).collect();
        }
        _ => None,
    };
    let own = &hop.url;
    let base = base.and_then(|href| own.join(href).ok()).unwrap_or_else(|| own.clone());
    let headers = header_links(response, sources);
    let in_headers = headers.links().iter().map(|link| (own, link));
    let refresh = response.header_address("refresh");
    let refresh = refresh.as_deref().and_then(refresh_target).map(|href| FoundLink {
        url: resolved(own, href),
        kind: LinkKind::Refresh.name(),
        place: LinkPlace::Header.name(),
    });
    let all = extracted.links.iter().map(|link| (&base, link)).chain(in_headers);
    let mut seen = HashSet::new();
    all.map(|(base, link)| FoundLink {
        url: resolved(base, link.href),
        kind: link.kind.name(),
        place: link.place.name(),
    })
    .chain(refresh)
    .filter(|link| seen.insert((link.url.clone(), link.kind, link.place)))
    .collect()
}

fn resolved(base: &url::Url, href: &str) -> String {
    base.join(href).map_or_else(|_| href.to_owned(), String::from)
}

/// What was read from a document: its title and its text.
fn contents<'a>(extracted: &'a Extraction<'_>) -> (Option<&'a str>, &'a str) {
    match &extracted.content {
        Content::Page(page) => (page.title.as_deref(), page.text.as_str()),
        Content::Text(text) => (None, text.as_ref()),
        Content::Listing(_) | Content::Nothing => (None, ""),
    }
}

/// How many links stand in each kind of place.
fn by_place(found: &[FoundLink]) -> String {
    let mut counts = BTreeMap::new();
    found.iter().for_each(|link| *counts.entry(link.place).or_insert(0_usize) += 1);
    let parts = counts.iter().map(|(place, count)| format!("{count} {place}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    if parts.is_empty() { "0".to_owned() } else { parts }
}

fn summary(hop: &Hop, response: &Response, extracted: &Extraction<'_>) -> Value {
    let (title, text) = contents(extracted);
    let simhash = Fingerprint::of_text(text).map(|print| format!("{:016x}", print.to_bits()));
    let headers: Vec<_> = response
        .headers
        .iter()
        .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]))
        .collect();
    json!({
        "url": hop.url.as_str(),
        "status": response.status,
        "ip": hop.fetched.ip,
        "headers": headers,
        "kind": extracted.kind.mime(),
        "unreadable": extracted.unreadable.map(Unreadable::name),
        "charset": extracted.charset,
        "bytes": response.body.len(),
        "digest": format!("sha1:{}", Digest::of_bytes(&response.body.whole())),
        "title": title,
        "text_bytes": text.len(),
        "simhash": simhash,
        "ms": u64::try_from(hop.fetched.times.total.as_millis()).unwrap_or(u64::MAX),
    })
}

fn write_words(
    out: &mut impl Write,
    hop: &Hop,
    response: &Response,
    (extracted, found): (&Extraction<'_>, &[FoundLink]),
) -> std::io::Result<()> {
    let (title, text) = contents(extracted);
    let links = show_counted(found.len() as u64, "link");
    let (body, words) = (response.body.len() as u64, text.len() as u64);
    let charset = extracted.charset.unwrap_or("-");
    let times = hop.fetched.times;
    out.write_all(print_head(&response.head).as_bytes())?;
    writeln!(out)?;
    writeln!(out, "title   {}", print::plain(title.unwrap_or("-")))?;
    let unreadable = extracted.unreadable.map_or("", Unreadable::name);
    let not_read = if unreadable.is_empty() { "" } else { ", not read: " };
    writeln!(out, "kind    {}, charset {charset}{not_read}{unreadable}", extracted.kind.mime())?;
    writeln!(out, "body    {}, {} of text, {links}", show_size(body), show_size(words))?;
    writeln!(out, "links   {}", by_place(found))?;
    writeln!(out, "digest  sha1:{}", Digest::of_bytes(&response.body.whole()))?;
    let [all, dns, connect, tls, first] =
        [times.total, times.dns, times.connect, times.tls, times.first_byte].map(show_duration);
    writeln!(out, "time    {all} (dns {dns}, connect {connect}, tls {tls}, first byte {first})")
}

/// The head as it came, line by line, safe to show.
fn print_head(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    text.lines().filter(|line| !line.is_empty()).map(|line| print::plain(line) + "\n").collect()
}
