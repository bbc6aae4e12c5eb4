//! What is known of a page while it runs: what it asked for, and what it has cost?

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use url::Url;

use crate::config::{Assets, RenderConfig};
use crate::held::{Asked, Held};
use crate::meter::Meter;
use crate::rendered::{
    Ended, Exchange, ExchangeResult, Lead, LeadKind, PageToRender, Rendered, SubAnswer, SubRequest,
    Usage,
};

const MOST_LEADS: usize = 5000;
/// Exchanges that are noted; a page that asks for so many is ended anyway.
const MOST_NOTED: usize = 5000;

/// What is known of the page that runs.
pub(crate) struct Run<'a> {
    pub(crate) page: &'a PageToRender,
    pub(crate) config: &'a RenderConfig,
    pub(crate) requests: &'a mpsc::UnboundedSender<SubRequest>,
    pub(crate) answers: mpsc::UnboundedReceiver<(Held, SubAnswer)>,
    pub(crate) answered: mpsc::UnboundedSender<(Held, SubAnswer)>,
    pub(crate) asked: Asked,
    pub(crate) held: usize,
    pub(crate) pending: usize,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) leads: Vec<Lead>,
    pub(crate) usage: Usage,
    pub(crate) ended: Option<Ended>,
    pub(crate) last_tick: Instant,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        page: &'a PageToRender,
        config: &'a RenderConfig,
        requests: &'a mpsc::UnboundedSender<SubRequest>,
    ) -> Self {
        let (answered, answers) = mpsc::unbounded_channel();
        Run {
            page,
            config,
            requests,
            answers,
            answered,
            asked: Asked::default(),
            held: 0,
            pending: 0,
            exchanges: Vec::new(),
            leads: Vec::new(),
            usage: Usage::default(),
            ended: None,
            last_tick: Instant::now(),
        }
    }

    /// A picture needs images and fonts.
    pub(crate) fn assets(&self) -> Assets {
        if self.page.screenshot { Assets::Request } else { self.config.assets }
    }

    /// Passes a request on; its answer comes by the queue of answers.
    pub(crate) fn ask(&mut self, held: Held, url: Url) {
        let (reply, answer) = oneshot::channel();
        let (headers, kind) = (held.passed_on(), held.kind.clone());
        self.asked.requests += 1;
        self.pending += 1;
        // Where nobody takes it, the reply is dropped, and that is a refusal.
        let _ = self.requests.send(SubRequest { url, headers, kind, reply });
        let answered = self.answered.clone();
        tokio::spawn(async move {
            let refused = || SubAnswer::Refused("not answered".to_owned());
            let answer = answer.await.unwrap_or_else(|_| refused());
            let _ = answered.send((held, answer));
        });
    }

    pub(crate) fn note(&mut self, held: &Held, result: ExchangeResult) {
        if self.exchanges.len() < MOST_NOTED {
            let (url, method, kind) = (held.url.clone(), held.method.clone(), held.kind.clone());
            self.exchanges.push(Exchange { url, method, kind, result });
        }
    }

    pub(crate) fn lead(&mut self, url: &str, kind: LeadKind) {
        if self.leads.len() < MOST_LEADS {
            self.leads.push(Lead { url: url.to_owned(), kind });
        }
    }

    /// Counts the time since the last tick, and ends what has reached a cap.
    pub(crate) fn tick(&mut self, meter: &Meter, number: u64) {
        let now = Instant::now();
        let passed = now - self.last_tick;
        self.last_tick = now;
        if self.pending > 0 {
            self.usage.waited += passed;
        } else {
            self.usage.wall += passed;
        }
        let (caps, usage) = (&self.config.caps, &self.usage);
        let (cpu, memory) = meter.sample(number);
        self.ended = match () {
            () if self.ended.is_some() => self.ended,
            () if cpu > caps.cpu => Some(Ended::Cpu),
            () if usage.wall > caps.wall => Some(Ended::Wall),
            () if usage.wall + usage.waited > caps.total => Some(Ended::Total),
            () if memory > caps.memory => Some(Ended::Memory),
            () => None,
        };
    }
}

impl Rendered {
    /// Of a page of which nothing was read yet.
    pub(crate) fn empty(page: &PageToRender, ended: Ended) -> Self {
        Rendered {
            url: page.url.to_string(),
            title: String::new(),
            frames: Vec::new(),
            after_clicks: Vec::new(),
            leads: Vec::new(),
            exchanges: Vec::new(),
            ended,
            usage: Usage::default(),
            screenshot: None,
        }
    }
}
