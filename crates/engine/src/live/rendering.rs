//! Which pages are rendered, how many at once, and with how much CPU?

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evercrawl_fetch::Response;
use evercrawl_model::{PageKind, Time};
use evercrawl_render::{PageToRender, Rendered, Renderer, SubRequest};
use evercrawl_state::Store;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_local;
use tracing::warn;
use url::Url;

use super::SystemClock;
use super::sub_requests::{SubRequests, header_pairs};
use crate::frontier::Lease;
use crate::process::unpack;

/// Pages that are rendered at once: most of the time they wait for the pauses of their hosts.
pub(super) const AT_ONCE: usize = 8;
/// CPU that may be saved up: what the budget gives in so many seconds.
const SAVED: f64 = 10.0;

/// Renders the pages of one walk.
pub(super) struct Rendering<S> {
    pub(super) renderer: Renderer,
    pub(super) requests: Arc<SubRequests<S>>,
    pub(super) at_once: Semaphore,
    pub(super) cpu: CpuBudget,
    pub(super) clock: SystemClock,
}

/// CPU that the browser may use, in seconds a second.
pub(super) struct CpuBudget {
    rate: f64,
    /// What may be used, and when that was.
    level: Mutex<(f64, Time)>,
}

impl CpuBudget {
    pub(super) fn new(rate: f64, now: Time) -> Self {
        CpuBudget { rate, level: Mutex::new((rate * SAVED, now)) }
    }

    /// How long until any may be used; zero: now.
    fn wait(&self, now: Time) -> Duration {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = level.0 + self.rate * now.since(level.1).as_secs_f64();
        *level = (saved.min(self.rate * SAVED), now);
        Duration::try_from_secs_f64(-level.0 / self.rate).unwrap_or_default()
    }

    fn take(&self, cpu: Duration) {
        self.level.lock().unwrap_or_else(PoisonError::into_inner).0 -= cpu.as_secs_f64();
    }
}

impl<S: Store + 'static> Rendering<S> {
    /// Renders an answer, if it is a page; `None` where it is none, and where nothing could be read of it.
    pub(super) async fn render(&self, lease: &Lease, response: &Response) -> Option<Box<Rendered>> {
        let page = self.page(lease, response)?;
        let _one_of_few = self.at_once.acquire().await.ok()?;
        loop {
            let wait = self.cpu.wait(self.clock.now());
            if wait.is_zero() {
                break;
            }
            tokio::time::sleep(wait).await;
        }
        let _lent = self.requests.lend(lease, &page.url);
        let (sender, mut queue) = mpsc::unbounded_channel::<SubRequest>();
        let requests = self.requests.clone();
        spawn_local(async move {
            while let Some(asked) = queue.recv().await {
                let requests = requests.clone();
                spawn_local(async move {
                    let answer = requests.answer(&asked).await;
                    let _ = asked.reply.send(answer);
                });
            }
        });
        let rendered = self.renderer.render(&page, &sender).await;
        let rendered =
            rendered.inspect_err(|error| warn!(url = %page.url, %error, "cannot render"));
        let rendered = rendered.ok()?;
        self.cpu.take(rendered.usage.cpu);
        (!rendered.frames.is_empty()).then(|| Box::new(rendered))
    }

    /// What the browser is given; `None` where it would make no page of it.
    fn page(&self, lease: &Lease, response: &Response) -> Option<PageToRender> {
        let is_html = response.header("content-type").is_some_and(|kind| {
            let kind = kind.trim_start().to_ascii_lowercase();
            kind.starts_with("text/html") || kind.starts_with("application/xhtml+xml")
        });
        let is_whole = response.truncated.is_none() && matches!(response.status, 200 | 203);
        if !is_html || !is_whole || lease.row.kind != PageKind::Page {
            return None;
        }
        let body = response.body.whole();
        let decoded = unpack(response, &body, self.requests.manner.unpack);
        Some(PageToRender {
            url: Url::parse(&lease.row.url).ok()?,
            status: response.status,
            headers: header_pairs(response),
            screenshot: false,
            body: decoded.bytes.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_render_that_used_more_than_was_saved_lets_the_next_one_wait() {
        let start = Time::from_secs(1_000_000);
        let budget = CpuBudget::new(0.5, start);
        assert_eq!(budget.wait(start), Duration::ZERO);
        budget.take(Duration::from_secs(7));
        assert_eq!(budget.wait(start), Duration::from_secs(4));
        assert_eq!(budget.wait(start.after(Duration::from_secs(4))), Duration::ZERO);
        let long = start.after(Duration::from_secs(4000));
        assert_eq!(budget.wait(long), Duration::ZERO);
        budget.take(Duration::from_secs(6));
        assert_eq!(
            budget.wait(long),
            Duration::from_secs(2),
            "no more than ten seconds' worth is saved"
        );
    }
}
