//! Method A: a directory is a site, and its shallowest pages are its tops.

use crate::partition::Partition;
use crate::server::{Server, UNREACHED};

/// Cuts `server` by directory (S0, section 5.2).
///
/// A directory that no root leads to has only tops: nothing says which of its pages comes first.
pub(crate) fn partition(server: &Server) -> Partition {
    let mut shallowest = vec![UNREACHED; server.directories()];
    for page in server.numbers() {
        let least = &mut shallowest[server.directory(page) as usize];
        *least = (*least).min(server.depth(page));
    }
    let is_top = |page: &u32| server.depth(*page) == shallowest[server.directory(*page) as usize];
    let in_site = |page: u32| (server.directory(page), page);
    let (tops, members): (Vec<u32>, Vec<u32>) = server.numbers().partition(is_top);
    let tops: Vec<_> = tops.into_iter().map(in_site).collect();
    let members: Vec<_> = members.into_iter().map(in_site).collect();
    Partition::build(server, server.directories(), &tops, &members)
}
