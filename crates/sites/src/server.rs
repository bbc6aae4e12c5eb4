//! Which pages, directories and links does a server have, and how deep is each page?

use std::collections::HashMap;
use std::collections::VecDeque;
use std::hash::Hash;

use crate::lists::Lists;

/// The depth of a page that no root leads to.
pub const UNREACHED: u32 = u32::MAX;

/// The pages of one or several servers: their directories, links and depths.
///
/// Pages are numbered from 0. Depth is 1 at a root and one more a link, by the shortest way (S0,
/// section 5.1).
#[derive(Clone, Debug, Default)]
pub struct Server {
    directory: Vec<u32>,
    directories: usize,
    links: Lists,
    back: Lists,
    depth: Vec<u32>,
}

impl Server {
    /// Page i lies in `directories[i]`; `links` go from page to page; depth counts from `roots`.
    ///
    /// A directory may be named by anything that can be compared. Links of a page to itself,
    /// repeated ones and those that name a page that does not exist are left out.
    pub fn new<D: Eq + Hash>(directories: &[D], links: &[(u32, u32)], roots: &[u32]) -> Self {
        let pages = directories.len();
        let (directory, directories) = number(directories);
        let known = |&&(from, to): &&(u32, u32)| {
            from != to && (from as usize) < pages && (to as usize) < pages
        };
        let links = Lists::new(pages, links.iter().filter(known).copied()).into_sets();
        let back = links.reversed(pages);
        let depth = depths(&links, roots);
        Server { directory, directories, links, back, depth }
    }

    /// As [`new`](Self::new), with directories and roots read from the pages' URLs.
    pub fn from_urls<S: AsRef<str>>(urls: &[S], links: &[(u32, u32)]) -> Self {
        let directories: Vec<&str> = urls.iter().map(|url| directory_of(url.as_ref())).collect();
        Server::new(&directories, links, &roots_of(urls))
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.directory.len()
    }

    /// How many directories there are.
    pub fn directories(&self) -> usize {
        self.directories
    }

    /// The directory of `page`, numbered by first appearance.
    pub fn directory(&self, page: u32) -> u32 {
        self.directory.get(page as usize).copied().unwrap_or_default()
    }

    /// The depth of `page`, or [`UNREACHED`].
    pub fn depth(&self, page: u32) -> u32 {
        self.depth.get(page as usize).copied().unwrap_or(UNREACHED)
    }

    /// The pages that `page` links to, ascending.
    pub fn links(&self, page: u32) -> &[u32] {
        self.links.row(page)
    }

    /// The pages that link to `page`, ascending.
    pub(crate) fn linked_from(&self, page: u32) -> &[u32] {
        self.back.row(page)
    }

    /// How many links there are.
    pub fn total_links(&self) -> usize {
        self.links.total()
    }

    /// All pages, shallowest first; equally deep ones by number.
    pub fn by_depth(&self) -> Vec<u32> {
        let mut pages: Vec<u32> = self.numbers().collect();
        pages.sort_by_key(|&page| self.depth(page));
        pages
    }

    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.pages()).unwrap_or(u32::MAX)
    }

    pub(crate) fn same_directory(&self, a: u32, b: u32) -> bool {
        self.directory(a) == self.directory(b)
    }
}

/// The directory part of a URL: all up to the last slash of its path.
///
/// `http://a/x/y.html?q#f` lies in `http://a/x/`, `/x/` in `/x/`, and `http://a` in `http://a`.
pub fn directory_of(url: &str) -> &str {
    let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    let after_host = authority_end(path);
    match path[after_host..].rfind('/') {
        Some(slash) => &path[..after_host + slash + 1],
        None => &path[..after_host],
    }
}

/// The page of each host with the shortest URL: where a reader enters. Ties go to the first.
pub fn roots_of<S: AsRef<str>>(urls: &[S]) -> Vec<u32> {
    let mut best: HashMap<&str, (usize, u32)> = HashMap::new();
    for (page, url) in (0u32..).zip(urls) {
        let url = url.as_ref();
        let entry = best.entry(&url[..authority_end(url)]).or_insert((url.len(), page));
        *entry = (*entry).min((url.len(), page));
    }
    let mut roots: Vec<u32> = best.into_values().map(|(_, page)| page).collect();
    roots.sort_unstable();
    roots
}

pub(crate) fn authority_end(url: &str) -> usize {
    let start = url.find("://").map_or(0, |at| at + 3);
    let rest = &url[start..];
    if start == 0 { 0 } else { start + rest.find(['/', '?', '#']).unwrap_or(rest.len()) }
}

fn number<D: Eq + Hash>(names: &[D]) -> (Vec<u32>, usize) {
    let mut numbers: HashMap<&D, u32> = HashMap::new();
    let numbered = names.iter().map(|name| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(name).or_insert(next)
    });
    (numbered.collect(), numbers.len())
}

fn depths(links: &Lists, roots: &[u32]) -> Vec<u32> {
    let mut depth = vec![UNREACHED; links.len()];
    let mut queue = VecDeque::new();
    for &root in roots {
        if let Some(slot) = depth.get_mut(root as usize) {
            *slot = 1;
            queue.push_back(root);
        }
    }
    while let Some(page) = queue.pop_front() {
        let below = depth[page as usize] + 1;
        for &next in links.row(page) {
            if depth[next as usize] == UNREACHED {
                depth[next as usize] = below;
                queue.push_back(next);
            }
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_directories_of_full_and_bare_urls() {
        for (url, directory) in [
            ("http://a/x/y.html?q=/z#/f", "http://a/x/"),
            ("http://a/x/", "http://a/x/"),
            ("http://a", "http://a"),
            ("http://a?x/y", "http://a"),
            ("/x/y", "/x/"),
            ("/y", "/"),
            ("y", ""),
            ("", ""),
            ("://", "://"),
        ] {
            assert_eq!(directory_of(url), directory, "{url}");
        }
    }

    #[test]
    fn finds_one_root_a_host() {
        let urls = ["http://a/x", "http://b/", "http://a/", "http://b/y", "/q", "/"];
        assert_eq!(roots_of(&urls), [1, 2, 5]);
        assert!(roots_of::<&str>(&[]).is_empty());
    }

    #[test]
    fn depth_takes_the_shortest_way_and_survives_cycles_and_bad_links() {
        let links = [(0, 1), (1, 2), (0, 2), (2, 0), (2, 3), (3, 3), (3, 99), (99, 0), (0, 1)];
        let server = Server::new(&["/"; 5], &links, &[0, 77]);
        let depths: Vec<u32> = (0..5).map(|page| server.depth(page)).collect();
        assert_eq!(depths, [1, 2, 2, 3, UNREACHED]);
        assert_eq!(server.total_links(), 5);
        assert_eq!(server.by_depth(), [0, 1, 2, 3, 4]);
        assert_eq!(server.linked_from(2), [0, 1]);
    }
}
