//! Where has a page gone? What was learned of it goes with it.
//!
//! Where the page is now is a page of its own, with visits of its own. Which of the two was met first is
//! chance: a site that was moved links to its new addresses before its old ones are visited again.

use evercrawl_model::{HostKey, PageKey};
use evercrawl_state::{PageRow, StateError, Store, View};

use crate::process::Processed;
use crate::walk::consequences::{Consequence, Consequences, Note};

/// Where a page is by now that was found to have moved for good.
pub(in crate::walk) fn target(processed: &Processed) -> Option<(HostKey, Box<str>)> {
    let found = processed.links.found.first().filter(|_| processed.visited.visit.is_move())?;
    Some((found.page.host, found.url.clone()))
}

/// Tells the host that a page moved to of what was learned of the page.
pub(in crate::walk) fn hand_over<S: Store>(
    view: &View<S>,
    page: PageKey,
    target: Option<(HostKey, Box<str>)>,
) -> Result<Consequences, StateError> {
    let Some((to, url)) = target else { return Ok(Vec::new()) };
    let note = |former| Note::PageMoved { to, url, former: Box::new((page, former)) };
    Ok(view.page(page)?.map(note).map(Consequence::Note).into_iter().collect())
}

/// The page that moved for good to the one of `row`, which has not been visited yet. It may be of another host,
/// whose rows are read here: the redirect was noted before anything was known of the page that it leads to.
pub(in crate::walk) fn former<S: Store>(
    view: &View<S>,
    row: &PageRow,
) -> Result<Option<(PageKey, PageRow)>, StateError> {
    let Some(via) = row.via.filter(|_| row.hops > 0 && row.past.is_none()) else { return Ok(None) };
    let former = view.page(via)?.filter(PageRow::is_moved);
    Ok(former.map(|row| (via, row)))
}
