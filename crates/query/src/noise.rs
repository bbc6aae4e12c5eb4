//! What was learned of a page's noise, and what of its latest version was left out because of it?

use evercrawl_compare::{NoiseReason, Outline, PageMemory};
use evercrawl_state::Store;
use evercrawl_urls::Canonical;
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::diff::versions::Archived;
use crate::source::{QueryError, Source};

/// Passages that are shown at most.
const MOST_SHOWN: usize = 64;

/// What is known of a page's noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseView {
    /// Its canonical URL.
    pub url: String,
    /// Places of noise on the page.
    pub places: u64,
    /// Places of noise on all pages whose URLs are like this one.
    pub template_places: u64,
    /// Whether the last visit is in doubt, and waits for a second look.
    pub in_doubt: bool,
    /// When the version was first seen whose passages follow; `None` where none is archived.
    pub version: Option<At>,
    /// The passages of that version whose differences are not told as news of the page.
    pub passages: Vec<NoisePassage>,
}

/// A passage whose differences are not told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoisePassage {
    /// Why: `drawn`, `alternating`, `rotating`, `site_wide`, `aside` or `time_of_visit`.
    pub reason: String,
    /// Its words.
    pub text: String,
}

/// What is known of the noise of the page at `url`.
pub fn noise<S: Store>(source: &Source<'_, S>, url: &Canonical) -> Result<NoiseView, QueryError> {
    let (key, row) = source.known_page(url)?;
    let memory = row.past.as_ref().and_then(|past| past.memory.as_deref());
    let memory = memory.and_then(PageMemory::from_bytes);
    let template = source.state.template(key.host, &row.url)?;
    let mut view = NoiseView {
        url: row.url.clone(),
        places: memory.as_ref().map_or(0, |memory| memory.noise_places() as u64),
        template_places: template.noise_places() as u64,
        in_doubt: memory.is_some_and(|memory| memory.is_in_doubt()),
        version: None,
        passages: Vec::new(),
    };
    // A page without a version in the archive has no passages to show.
    let Ok(mut archived) = Archived::open(source, url) else { return Ok(view) };
    let Some(version) = archived.versions.first().copied() else { return Ok(view) };
    view.version = Some(At(version.since));
    let masked = archived.masked(&version).to_vec();
    if masked.is_empty() {
        return Ok(view);
    }
    if let Ok(text) = archived.text(&version) {
        view.passages = passages(&text, &masked);
    }
    Ok(view)
}

fn passages(text: &str, masked: &[(u32, NoiseReason)]) -> Vec<NoisePassage> {
    let outline = Outline::of_text(text);
    let mut masked = masked.to_vec();
    masked.sort_unstable_by_key(|(id, reason)| (*id, *reason as u8));
    masked.dedup();
    let mut found: Vec<_> = masked
        .iter()
        .flat_map(|(id, reason)| outline.ranges_of(&[*id]).into_iter().map(|at| (at, *reason)))
        .collect();
    found.sort_unstable_by_key(|(range, _)| range.start);
    let passage = |(range, reason): (std::ops::Range<usize>, NoiseReason)| NoisePassage {
        reason: reason.code().to_owned(),
        text: text.get(range).unwrap_or_default().trim().to_owned(),
    };
    found.into_iter().take(MOST_SHOWN).map(passage).collect()
}
