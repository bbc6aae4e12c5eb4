//! What has every crawl of these tests in common?
#![allow(dead_code, reason = "the binary `instructions` uses a part of this")]

pub(crate) mod disk;
pub(crate) mod rehearsed;
pub(crate) mod sim;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::config::{ReadingConfig, RecordConfig, Take, WalkConfig};
use evercrawl_engine::retention::Keep;
use evercrawl_engine::{FrontierConfig, Pace, PlannerConfig, RetentionConfig, Schedule};
use evercrawl_fetch::{self as fetch, Fetched, HeaderMap, HeaderValue, Response};
use evercrawl_urls::{CanonicalSteps, FilterRules, ScopeKind};

/// The pause after each request to a host.
pub(crate) const DELAY: Duration = Duration::from_secs(1);

/// A polite crawl of the seeds' hosts, with little room for each of its parts.
pub(crate) fn small_crawl() -> WalkConfig {
    WalkConfig {
        noise_off: Vec::new(),
        reading: ReadingConfig {
            agent: "evercrawl".into(),
            steps: CanonicalSteps::default(),
            skip_types: Vec::new(),
            unpack: evercrawl_extract::decode::DecodeLimits::default(),
            take: Take::default(),
            topic: None,
            regions: Default::default(),
            records: RecordConfig { level: 1, requests: true },
        },
        scope: ScopeKind::Host,
        rules: FilterRules::default(),
        frontier: FrontierConfig {
            active_hosts: 5,
            per_host: 1,
            quantum: 7,
            new_only: false,
            discover: 0.5,
            larger_first: false,
            pace: Pace { host: DELAY, ..Pace::default() },
        },
        schedule: Schedule::default(),
        plan: PlannerConfig::default(),
        sitemaps: true,
        hold_mirrors: true,
        topic_tags: Vec::new(),
        retention: RetentionConfig {
            archive: Keep::default(),
            visits: Keep::default(),
            every: Duration::from_secs(86_400),
        },
    }
}

/// An archive that begins with file `first_serial`, full at `roll_at` bytes.
pub(crate) fn archive_settings(first_serial: u32, roll_at: u64) -> archive::Settings {
    archive::Settings {
        prefix: "sim".into(),
        host: "sim".into(),
        software: "evercrawl".into(),
        operator: String::new(),
        user_agent: String::new(),
        robots: "obey".into(),
        is_part_of: String::new(),
        roll_at,
        first_serial,
    }
}

/// The segments in a directory that nobody waits for.
pub(crate) fn unsynced(dir: &Path) -> Arc<archive::FileSegments> {
    Arc::new(archive::FileSegments::on(Arc::new(disk::SimDisk::default()), dir))
}

/// An answer that took so long to come.
pub(crate) fn fetched(
    status: u16,
    fields: &[(&'static str, &str)],
    body: String,
    took: Duration,
) -> Fetched {
    let (mut head, mut headers) = (format!("HTTP/1.1 {status} \r\n"), HeaderMap::new());
    for (name, value) in fields {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let response = Response {
        head: head.into(),
        interim: bytes::Bytes::new(),
        status,
        headers,
        body: body.into(),
        truncated: None,
        chunked: false,
        protocol: fetch::Protocol::Http11,
        tls: None,
    };
    Fetched {
        result: Ok(response),
        request_bytes: bytes::Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"),
        times: fetch::Times { total: took, ..fetch::Times::default() },
        ip: Some([127, 0, 0, 1].into()),
        bytes_on_wire: 0,
    }
}
