//! Which URL does a page have, and which page does a URL name?

use super::bytes::{push, push_number};
use super::{Fate, Host, HostLayout, PageId, World};

impl World {
    /// The name of a host.
    pub fn host_name(&self, host: u32) -> String {
        format!("h{host}{}", self.config.suffix)
    }

    /// Finds the host that a name, with or without a port, belongs to.
    pub fn find_host(&self, authority: &str) -> Option<u32> {
        let (name, _) = split_port(authority);
        let tail = name.len().checked_sub(self.config.suffix.len())?;
        let (stem, suffix) = name.split_at_checked(tail)?;
        let digits = stem.strip_prefix(['h', 'H'])?;
        let host = plain_number(digits)?;
        (suffix.eq_ignore_ascii_case(&self.config.suffix) && host < self.config.hosts)
            .then_some(host)
    }

    /// The URL of a page.
    pub fn url(&self, page: PageId) -> String {
        self.url_on(page, self.config.port)
    }

    pub(crate) fn url_on(&self, page: PageId, port: u16) -> String {
        let mut url = Vec::new();
        self.push_base(&mut url, page.host, port);
        self.push_path(&mut url, &self.host(page.host), page);
        String::from_utf8(url).unwrap_or_default()
    }

    /// The path of a page, with its query if it has one.
    pub fn path(&self, page: PageId) -> String {
        let mut path = Vec::new();
        self.push_path(&mut path, &self.host(page.host), page);
        String::from_utf8(path).unwrap_or_default()
    }

    /// Finds the page that a URL names, whether it is alive or not.
    pub fn find(&self, url: &str) -> Option<PageId> {
        let (host, target) = self.split_url(url)?;
        self.find_path(&self.host(host), target)
    }

    /// Whether robots.txt, as it is on that host, lets everybody fetch a path. Of hosts outside the world it says no.
    pub fn allows(&self, host_name: &str, path: &str) -> bool {
        self.find_host(host_name).is_some_and(|host| self.host(host).allows(path))
    }

    /// Divides a URL into its host and the target that a request for it names.
    pub(crate) fn split_url<'u>(&self, url: &'u str) -> Option<(u32, &'u str)> {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        let rest = rest.split('#').next()?;
        let (authority, target) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Some((self.find_host(authority)?, if target.is_empty() { "/" } else { target }))
    }

    /// Finds the page of a host that a path names. The path is not taken apart: the number in it leads to a page, and
    /// that
    /// page's own path must then be the same to the letter.
    pub(crate) fn find_path(&self, host: &Host, path: &str) -> Option<PageId> {
        if path == "/" {
            return Some(PageId::first(host.id, 0));
        }
        let (slot, generation) = numbers_in(path)?;
        let page = PageId { host: host.id, slot, generation };
        if slot >= self.config.pages || (generation > 0 && self.cycle(host.id, slot).is_none()) {
            return None;
        }
        let mut real = Vec::with_capacity(path.len());
        self.push_path(&mut real, host, page);
        (real == path.as_bytes()).then_some(page)
    }

    /// Appends `http://name[:port]`.
    pub(crate) fn push_base(&self, out: &mut Vec<u8>, host: u32, port: u16) {
        push(out, "http://h");
        push_number(out, u64::from(host));
        push(out, &self.config.suffix);
        if port != 80 {
            out.push(b':');
            push_number(out, u64::from(port));
        }
    }

    pub(crate) fn push_path(&self, out: &mut Vec<u8>, host: &Host, page: PageId) {
        match self.fate(host, page.slot) {
            Fate::Private => push(out, "/private"),
            Fate::PrivateOpen => push(out, "/private/open"),
            _ => {}
        }
        match host.layout {
            _ if page.slot == 0 => out.push(b'/'),
            HostLayout::Flat => push_file(out, "/p", page, ".html"),
            HostLayout::Query => push_file(out, "/view?id=", page, ""),
            HostLayout::Folders if self.is_section(page.slot) => self.push_folder(out, page.slot),
            HostLayout::Folders => {
                self.push_folder(out, self.parent(page.slot));
                push_file(out, "p", page, ".html");
            }
        }
    }

    fn push_folder(&self, out: &mut Vec<u8>, slot: u32) {
        if slot == 0 {
            return out.push(b'/');
        }
        self.push_folder(out, self.parent(slot));
        push(out, self.prose.word(u64::from(slot)));
        out.push(b'-');
        push_number(out, u64::from(slot));
        out.push(b'/');
    }
}

/// Splits the port off an authority; 80 by default.
pub(crate) fn split_port(authority: &str) -> (&str, u16) {
    match authority.rsplit_once(':') {
        Some((name, port)) => (name, port.parse().unwrap_or(80)),
        None => (authority, 80),
    }
}

fn push_file(out: &mut Vec<u8>, before: &str, page: PageId, after: &str) {
    push(out, before);
    push_number(out, u64::from(page.slot));
    if page.generation > 0 {
        out.push(b'-');
        push_number(out, u64::from(page.generation));
    }
    push(out, after);
}

/// Reads the slot and generation that end a path, before its extension or slash.
fn numbers_in(path: &str) -> Option<(u32, u32)> {
    let stem = path.strip_suffix(".html").or_else(|| path.strip_suffix('/')).unwrap_or(path);
    let digits_from =
        |text: &str| text.bytes().rposition(|byte| !byte.is_ascii_digit()).map(|at| at + 1);
    let last_at = digits_from(stem)?;
    let last = plain_number(&stem[last_at..])?;
    let slot = stem[..last_at]
        .strip_suffix('-')
        .and_then(|before| plain_number(&before[digits_from(before)?..]));
    Some(slot.map_or((last, 0), |slot| (slot, last)))
}

/// Reads a number that is written the one way this world writes it.
fn plain_number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// Takes a session id off the end of a target, so that what is left names a page.
pub(crate) fn take_session(target: &str) -> (&str, Option<u64>) {
    let Some((before, id)) = target.rsplit_once("sid=") else { return (target, None) };
    match (before.strip_suffix(['?', '&']), u64::from_str_radix(id, 16)) {
        (Some(before), Ok(id)) => (before, Some(id)),
        _ => (target, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static WILD: LazyLock<World> =
        LazyLock::new(|| World::new(WorldConfig { pages: 5_000, ..WorldConfig::wild() }));

    proptest! {
        #[test]
        fn every_page_is_found_by_its_url(host in 0u32..200, slot in 0u32..5_000, generation in 0u32..3) {
            let world = &*WILD;
            let mortal = world.cycle(host, slot).is_some();
            let page = PageId { host, slot, generation: if mortal { generation } else { 0 } };
            prop_assert_eq!(world.find(&world.url(page)), Some(page));
        }

        #[test]
        fn no_path_panics(path in "\\PC{0,30}") {
            let world = &*WILD;
            let _ = world.find(&path);
            let _ = world.find(&format!("http://h3.test/{path}"));
            let _ = world.find_host(&path);
            let _ = take_session(&path);
        }
    }

    #[test]
    fn only_the_hosts_of_the_world_have_names() {
        let world = World::new(WorldConfig { hosts: 10, ..WorldConfig::calm() });
        for (name, host) in [
            ("h0.test", Some(0)),
            ("H9.TEST:8080", Some(9)),
            ("h10.test", None),
            ("h01.test", None),
            ("h.test", None),
            ("h1.example", None),
            ("127.0.0.1:80", None),
            ("", None),
        ] {
            assert_eq!(world.find_host(name), host, "{name}");
        }
    }

    #[test]
    fn a_path_that_only_resembles_a_page_is_none() {
        let world = World::new(WorldConfig::calm());
        let host =
            (0..20).map(|id| world.host(id)).find(|host| host.layout == HostLayout::Flat).unwrap();
        let stranger = world.path(PageId::first(host.id, 7));
        assert!(world.find_path(&host, &stranger).is_some());
        for path in
            ["/p07.html", "/x/p7.html", "/p7", "/p7.htm", "/p7-1.html", "/p50.html", "/view?id=7"]
        {
            assert_eq!(world.find_path(&host, path), None, "{path}");
        }
    }

    #[test]
    fn a_session_id_is_taken_off() {
        for (target, want) in [
            ("/?sid=ff", ("/", Some(255))),
            ("/view?id=3&sid=a", ("/view?id=3", Some(10))),
            ("/view?id=3", ("/view?id=3", None)),
            ("/sid=a", ("/sid=a", None)),
            ("/?sid=zz", ("/?sid=zz", None)),
        ] {
            assert_eq!(take_session(target), want);
        }
    }
}
