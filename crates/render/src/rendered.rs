//! What is given to the browser, and what is known of a page once its scripts have run?

use std::time::Duration;

use tokio::sync::oneshot;
use url::Url;

/// A document that was fetched already.
#[derive(Clone, Debug)]
pub struct PageToRender {
    /// Where it came from.
    pub url: Url,
    /// Its status.
    pub status: u16,
    /// Its header fields.
    pub headers: Vec<(String, String)>,
    /// Its body without content coding.
    pub body: Vec<u8>,
    /// Whether to take a picture of it.
    pub screenshot: bool,
}

/// A request of a page. Dropping it refuses it.
#[derive(Debug)]
pub struct SubRequest {
    /// What is asked for, always by GET and by http or https.
    pub url: Url,
    /// Header fields that the page chose, without those that are the client's own.
    pub headers: Vec<(String, String)>,
    /// What it is for, in the browser's word in lower case: `script`, `xhr`, `document` ...
    pub kind: String,
    /// Where the answer goes.
    pub reply: oneshot::Sender<SubAnswer>,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub enum SubAnswer {
    /// A response, its body without content coding.
    Response {
        /// The status.
        status: u16,
        /// The header fields.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// It was not sent, for this reason.
    Refused(String),
    /// It was sent and failed, for this reason.
    Failed(String),
}

/// A page whose scripts ran.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Where the page says that it is: scripts may change it.
    pub url: String,
    /// The title.
    pub title: String,
    /// The page and its frames; the page first. Empty where nothing could be read.
    pub frames: Vec<Frame>,
    /// The same after clicks, where there were any: these may show further links.
    pub after_clicks: Vec<Frame>,
    /// Where scripts would have gone.
    pub leads: Vec<Lead>,
    /// What the page asked for, in the order of the answers.
    pub exchanges: Vec<Exchange>,
    /// Why it ended.
    pub ended: Ended,
    /// What it cost.
    pub usage: Usage,
    /// A picture of it, as PNG.
    pub screenshot: Option<Vec<u8>>,
}

impl Rendered {
    /// What a reader of the page and its frames sees.
    pub fn text(&self) -> String {
        let texts = self.frames.iter().map(|frame| frame.text.trim());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The DOM of the page, where it could be read.
    pub fn dom(&self) -> Option<&str> {
        self.frames.first().map(|frame| frame.html.as_str())
    }
}

/// A document within a page.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Its address.
    pub url: String,
    /// What its relative links refer to.
    pub base: String,
    /// Its title.
    pub title: String,
    /// The text that it shows, with that of shadow roots.
    pub text: String,
    /// Its DOM as markup, shadow roots as templates.
    pub html: String,
}

/// Where a script would have led a reader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lead {
    /// The absolute URL.
    pub url: String,
    /// How.
    pub kind: LeadKind,
}

/// How a script leads elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeadKind {
    /// It changed the page's address.
    History,
    /// It opened a window.
    Window,
    /// It left the page.
    Navigation,
    /// It opened a connection that stays, as of a `WebSocket`.
    Connection,
}

impl LeadKind {
    /// Its name for users.
    pub const fn name(self) -> &'static str {
        match self {
            LeadKind::History => "history",
            LeadKind::Window => "window",
            LeadKind::Navigation => "navigation",
            LeadKind::Connection => "connection",
        }
    }
}

/// A request of a page and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The URL.
    pub url: String,
    /// The method.
    pub method: String,
    /// What it was for.
    pub kind: String,
    /// What came of it.
    pub result: ExchangeResult,
}

/// What came of a request of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeResult {
    /// It was answered.
    Answered {
        /// The status.
        status: u16,
        /// Bytes of body.
        bytes: usize,
    },
    /// It was not sent.
    Refused(String),
    /// It was sent and failed.
    Failed(String),
}

/// Why a rendering ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its virtual time was over: nothing more was to come.
    Settled,
    /// The cap on CPU.
    Cpu,
    /// The cap on time without waiting.
    Wall,
    /// The cap on all time.
    Total,
    /// Far more requests than the cap.
    Requests,
    /// The cap on memory.
    Memory,
    /// The page's process crashed.
    Crashed,
    /// It answered no more.
    Hung,
}

impl Ended {
    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            Ended::Settled => "settled",
            Ended::Cpu => "cpu_cap",
            Ended::Wall => "wall_cap",
            Ended::Total => "total_cap",
            Ended::Requests => "request_cap",
            Ended::Memory => "memory_cap",
            Ended::Crashed => "crashed",
            Ended::Hung => "hung",
        }
    }
}

/// What a rendering cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU of the browser; of several pages at once, a share.
    pub cpu: Duration,
    /// Time without waiting for answers.
    pub wall: Duration,
    /// Time that was spent on waiting for answers.
    pub waited: Duration,
    /// Requests that were passed on.
    pub requests: usize,
    /// Bytes of their answers.
    pub bytes: usize,
}
