//! Invented exchanges and the settings that tests share.

use std::sync::Arc;

use evercrawl_archive::{Exchange, RealDisk, Settings, payload_digest};
use evercrawl_model::Time;

pub(crate) const NOW: Time = Time::from_millis(1_794_780_950_007);
pub(crate) const CAP: usize = 1 << 24;

pub(crate) fn settings(roll_at: u64) -> Settings {
    Settings {
        prefix: "test".into(),
        host: "crawler-1.example.org".into(),
        software: "Evercrawl test".into(),
        operator: "Åse, ase@example.org".into(),
        user_agent: "Evercrawl (+https://example.org/bot)".into(),
        robots: "obey".into(),
        is_part_of: "tests".into(),
        roll_at,
        first_serial: 1,
        disk: Arc::new(RealDisk),
    }
}

pub(crate) fn page<'a>(uri: &'a str, date: Time, payload: &'a [u8]) -> Exchange<'a> {
    Exchange {
        uri,
        date,
        ip: Some([192, 0, 2, 1].into()),
        request: b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
        payload,
        payload_digest: payload_digest(payload),
        truncated: None,
        protocol: "http/1.1",
        tls: None,
        identified_type: None,
        metadata: &[],
    }
}

pub(crate) fn id(n: usize) -> [u8; 16] {
    (n as u128 + 1).to_be_bytes()
}
