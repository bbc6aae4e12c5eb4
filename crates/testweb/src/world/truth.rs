//! What is true about a page, and how is it reported? One JSON object per page, one line each.

use super::{ChangingPart, InsteadOfNotFound, PageId, Spam, World};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// The truth about a page up to a moment; times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageTruth {
    /// The URL of the page.
    pub url: String,
    /// The name of its host.
    pub host: String,
    /// When it came to be.
    pub created: u64,
    /// When it goes or went away, if ever.
    pub deleted: Option<u64>,
    /// Expected edits in a real day.
    pub rate: f64,
    /// When it changed since the world began.
    pub changes: Vec<u64>,
    /// Its version: the time of the last change, or of its creation. None when it is not alive.
    pub version: Option<u64>,
    /// What a change of it alters, where pages have parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ChangingPart>,
    /// What its host pretends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spam: Option<Spam>,
    /// What is shown in its place, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<InsteadOfNotFound>,
}

impl World {
    /// Tells the truth about a page up to a moment.
    pub fn truth(&self, page: PageId, at_ms: u64) -> PageTruth {
        self.truth_on(page, at_ms, self.config.port)
    }

    pub(crate) fn truth_on(&self, page: PageId, at_ms: u64, port: u16) -> PageTruth {
        let life = self.life(page);
        PageTruth {
            url: self.url_on(page, port),
            host: self.host_name(page.host),
            created: life.created_ms,
            deleted: life.deleted_ms,
            rate: self.rate_per_day(page),
            changes: self.changes_between(page, self.config.origin_ms, at_ms),
            version: self.version_at(page, at_ms),
            part: self.changing_part(page),
            spam: self.spam(page.host),
            instead: self.instead(page, at_ms),
        }
    }

    /// Walks every page that has lived since the world began, up to a moment.
    pub(crate) fn all_pages(&self, until_ms: u64) -> impl Iterator<Item = PageId> {
        (0..self.config.hosts)
            .flat_map(move |host| (0..self.config.pages).map(move |slot| (host, slot)))
            .flat_map(move |(host, slot)| self.tenants(host, slot, until_ms))
    }

    /// Writes the truth about every page as JSON Lines. Meant for worlds of moderate size.
    pub(crate) fn write_truth(&self, out: &mut impl Write, at_ms: u64) -> io::Result<()> {
        self.write_truth_on(out, at_ms, self.config.port)
    }

    pub(crate) fn write_truth_on(
        &self,
        out: &mut impl Write,
        at_ms: u64,
        port: u16,
    ) -> io::Result<()> {
        for page in self.all_pages(at_ms) {
            serde_json::to_writer(&mut *out, &self.truth_on(page, at_ms, port))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;

    #[test]
    fn the_dump_tells_of_every_page_what_asking_tells() {
        let world = World::new(WorldConfig { hosts: 3, ..WorldConfig::demo() });
        let at_ms = world.config().origin_ms + 600_000;
        let mut dump = Vec::new();
        world.write_truth(&mut dump, at_ms).unwrap();
        let lines: Vec<PageTruth> = dump
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert!(lines.len() >= 90, "{}", lines.len());
        for told in lines {
            let truth = world.truth(world.find(&told.url).unwrap(), at_ms);
            // JSON may lose the last bit of a number.
            assert!((told.rate - truth.rate).abs() <= truth.rate * 1e-12);
            assert_eq!(PageTruth { rate: truth.rate, ..told }, truth);
            assert!(truth.changes.iter().all(|&at| at <= at_ms));
        }
    }
}
