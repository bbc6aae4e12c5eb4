//! How does one page run, from its document to what can be read of it?

use std::pin::pin;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout};

use crate::config::RenderConfig;
use crate::connection::{Connection, Event};
use crate::error::RenderError;
use crate::held::{Held, Judgement};
use crate::meter::Meter;
use crate::reading;
use crate::rendered::{
    Ended, ExchangeResult, Frame, Lead, LeadKind, PageToRender, Rendered, SubAnswer, SubRequest,
};
use crate::run::Run;

/// The script that runs before a page's own.
const PATCHES: &str = include_str!("patches.js");

/// How often caps are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How long the browser may take for one command, and for all that is read.
const COMMAND: Duration = Duration::from_secs(3);
/// Time on the page's clock after each round of clicks, and how many rounds.
const AFTER_CLICKS: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 3;
/// A page that asks for so many times its cap is ended.
const REQUESTS_PAST_CAP: usize = 10;
/// A page is at least this large, so that what is shown on scrolling is shown.
const WIDTH: u32 = 1280;
const HEIGHT: u32 = 4000;

/// A tab, in a context that shares nothing with others.
#[derive(Debug)]
pub(crate) struct Tab {
    connection: Connection,
    context: String,
    target: String,
    session: String,
    main_frame: String,
    /// A name in the page that no page can guess.
    secret: String,
    events: mpsc::UnboundedReceiver<Event>,
    listener: mpsc::UnboundedSender<Event>,
    /// Of its workers and frames.
    others: Vec<String>,
    pub(crate) number: u64,
    pub(crate) pages: u64,
}

impl Tab {
    /// Opens a tab that is ready for its first page.
    pub(crate) async fn open(
        connection: &Connection,
        config: &RenderConfig,
        (number, secret): (u64, String),
    ) -> Result<Self, RenderError> {
        let made =
            connection.call("", "Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = text(&made.await?["browserContextId"]);
        let params = json!({ "url": "about:blank", "browserContextId": context, "width": WIDTH, "height": HEIGHT });
        let target = text(&connection.call("", "Target.createTarget", params).await?["targetId"]);
        let params = json!({ "targetId": target, "flatten": true });
        let attached = connection.call("", "Target.attachToTarget", params).await?;
        let session = text(&attached["sessionId"]);
        let (listener, events) = mpsc::unbounded_channel();
        connection.listen(&session, listener.clone());
        let mut tab = Tab {
            connection: connection.clone(),
            context,
            main_frame: target.clone(),
            target,
            session,
            secret,
            events,
            listener,
            others: Vec::new(),
            number,
            pages: 0,
        };
        tab.prepare(config).await?;
        Ok(tab)
    }

    async fn prepare(&mut self, config: &RenderConfig) -> Result<(), RenderError> {
        // What holds requests comes first.
        self.connection.call(&self.session, "Fetch.enable", every_request()).await?;
        self.connection.call(&self.session, "Target.setAutoAttach", attach_all()).await?;
        let patches = PATCHES.replace("NAME", &self.secret);
        let agent = json!({ "userAgent": config.user_agent, "acceptLanguage": "en" });
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 })),
            // What comes from a cache would be an answer that nobody saw.
            ("Network.setCacheDisabled", json!({ "cacheDisabled": true })),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Network.setUserAgentOverride", agent),
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": patches })),
            ("Emulation.setVirtualTimePolicy", json!({ "policy": "pause" })),
        ] {
            self.connection.call(&self.session, method, params).await?;
        }
        Ok(())
    }

    /// Ends the tab and what is left of its page.
    pub(crate) fn close(self) {
        self.connection.stop_listening(&self.session);
        self.others.iter().for_each(|session| self.connection.stop_listening(session));
        let send = |method, params| self.connection.send("", method, params);
        send("Target.closeTarget", json!({ "targetId": self.target }));
        send("Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
    }

    /// Runs a page to its end.
    pub(crate) async fn render(
        &mut self,
        page: &PageToRender,
        (config, meter): (&RenderConfig, &Meter),
        requests: &mpsc::UnboundedSender<SubRequest>,
    ) -> Result<Rendered, RenderError> {
        self.pages += 1;
        while self.events.try_recv().is_ok() {}
        self.connection.listen(&self.session, self.listener.clone());
        let mut run = Run::new(page, config, requests);
        meter.begin(self.number);
        let result = self.run(&mut run, meter).await;
        run.usage.cpu = meter.end(self.number);
        // From now on nobody hears what it asks for.
        self.connection.stop_listening(&self.session);
        self.others.drain(..).for_each(|session| self.connection.stop_listening(&session));
        let mut rendered = result?;
        rendered.usage = run.usage;
        rendered.usage.requests = run.asked.requests;
        rendered.usage.bytes = run.asked.bytes;
        rendered.exchanges = run.exchanges;
        let mut seen = std::collections::HashSet::new();
        rendered.leads.append(&mut run.leads);
        rendered.leads.retain(|lead| seen.insert(lead.url.clone()));
        Ok(rendered)
    }

    async fn run(&mut self, run: &mut Run<'_>, meter: &Meter) -> Result<Rendered, RenderError> {
        self.connection.send(
            &self.session,
            "Page.navigate",
            json!({ "url": run.page.url.as_str() }),
        );
        self.wait(run, meter).await?;
        let ended = run.ended.unwrap_or(Ended::Settled);
        let mut rendered = Rendered::empty(run.page, ended);
        if ended == Ended::Crashed {
            return Ok(rendered);
        }
        if ended != Ended::Settled {
            self.connection.send(&self.session, "Runtime.terminateExecution", json!({}));
            let pause = json!({ "policy": "pause" });
            self.connection.send(&self.session, "Emulation.setVirtualTimePolicy", pause);
        }
        match timeout(2 * COMMAND, self.read(run)).await {
            Ok(read) => rendered.frames = read?,
            Err(_) => rendered.ended = Ended::Hung,
        }
        if let Some(frame) = rendered.frames.first() {
            (rendered.url, rendered.title) = (frame.url.clone(), frame.title.clone());
        }
        if run.page.screenshot && rendered.ended != Ended::Hung {
            rendered.screenshot = self.screenshot(run).await?;
        }
        if rendered.ended == Ended::Settled && run.config.clicks > 0 {
            rendered.after_clicks = self.click(run, meter).await?;
        }
        rendered.leads = self.leads(run).await?;
        Ok(rendered)
    }

    /// Serves the page until it has ended.
    async fn wait(&mut self, run: &mut Run<'_>, meter: &Meter) -> Result<(), RenderError> {
        let mut ticks = interval(TICK);
        run.last_tick = Instant::now();
        while run.ended.is_none() {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.handle(run, &event),
                    None => return Err(RenderError::Gone),
                },
                Some((held, answer)) = run.answers.recv() => self.hand_on(run, &held, &answer),
                _ = ticks.tick() => {
                    if self.connection.is_gone() {
                        return Err(RenderError::Gone);
                    }
                    run.tick(meter, self.number);
                }
            }
        }
        Ok(())
    }

    fn handle(&mut self, run: &mut Run<'_>, event: &Event) {
        let params = &event.params;
        match event.method.as_str() {
            "Fetch.requestPaused" => {
                if let Some(held) = Held::read(&event.session, params, &self.main_frame) {
                    self.answer(run, held);
                }
            }
            "Target.attachedToTarget" => self.attach(params),
            "Emulation.virtualTimeBudgetExpired" if run.asked.has_document => {
                run.ended = Some(Ended::Settled);
            }
            "Page.frameAttached" => run.asked.frames += 1,
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                self.let_time_pass(run.config.caps.virtual_time);
            }
            "Page.javascriptDialogOpening" => {
                let params = json!({ "accept": true });
                self.connection.send(&event.session, "Page.handleJavaScriptDialog", params);
            }
            "Inspector.targetCrashed" if event.session == self.session => {
                run.ended = Some(Ended::Crashed);
            }
            _ => {}
        }
    }

    /// Lets the page's clock run for so long, jumping ahead while nothing happens; it stands still while a request is
    /// held.
    fn let_time_pass(&self, time: Duration) {
        let params = json!({
            "policy": "pauseIfNetworkFetchesPending",
            "budget": time.as_millis() as u64,
            "maxVirtualTimeTaskStarvationCount": 100_000,
        });
        self.connection.send(&self.session, "Emulation.setVirtualTimePolicy", params);
    }

    /// A worker or frame waits until its requests are held as the page's are.
    fn attach(&mut self, params: &Value) {
        let session = text(&params["sessionId"]);
        self.connection.listen(&session, self.listener.clone());
        for (method, params) in [
            ("Fetch.enable", every_request()),
            ("Target.setAutoAttach", attach_all()),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ] {
            self.connection.send(&session, method, params);
        }
        self.others.push(session);
    }

    fn answer(&mut self, run: &mut Run<'_>, held: Held) {
        run.held += 1;
        if run.held > run.config.caps.requests * REQUESTS_PAST_CAP {
            run.ended = Some(Ended::Requests);
        }
        let (method, params) = match held.judge(run.asked, &run.config.caps, run.assets()) {
            Judgement::GiveDocument => {
                run.asked.has_document = true;
                held.document(run.page)
            }
            Judgement::Local => held.local(),
            Judgement::Leave => {
                run.lead(&held.url, LeadKind::Navigation);
                held.own_answer(204, "", b"")
            }
            Judgement::Answer(status, kind, body, noted) => {
                if let Some(reason) = noted {
                    run.note(&held, ExchangeResult::Refused(reason.to_owned()));
                }
                held.own_answer(status, kind, body)
            }
            Judgement::Refuse(reason) => {
                run.note(&held, ExchangeResult::Refused(reason.to_owned()));
                held.refusal()
            }
            Judgement::Ask(url) => return run.ask(held, url),
        };
        self.connection.send(&held.session, method, params);
    }

    fn hand_on(&mut self, run: &mut Run<'_>, held: &Held, answer: &SubAnswer) {
        run.pending = run.pending.saturating_sub(1);
        let ((method, params), result) = held.handed_on(answer);
        if let ExchangeResult::Answered { bytes, .. } = result {
            run.asked.bytes += bytes;
        }
        run.note(held, result);
        self.connection.send(&held.session, method, params);
    }

    /// Sends a command and serves the page meanwhile: it may ask something before it answers.
    async fn call(
        &mut self,
        run: &mut Run<'_>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, RenderError> {
        let connection = self.connection.clone();
        let session = self.session.clone();
        let mut answer = pin!(connection.call(&session, method, params));
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                event = self.events.recv() => match event {
                    Some(event) => self.handle(run, &event),
                    None => return Err(RenderError::Gone),
                },
            }
        }
    }

    /// Reads all frames. A frame that went away meanwhile is left out.
    async fn read(&mut self, run: &mut Run<'_>) -> Result<Vec<Frame>, RenderError> {
        let tree = self.call(run, "Page.getFrameTree", json!({})).await?;
        let mut frames = Vec::new();
        for id in reading::frame_ids(&tree, run.config.caps.frames + 1) {
            let params = json!({ "frameId": id, "worldName": "reader" });
            let world = self.call(run, "Page.createIsolatedWorld", params).await;
            let Ok(world) = accept_refusal(world)? else { continue };
            let read = self.call(run, "Runtime.evaluate", reading::evaluation(&world)).await;
            let Ok(result) = accept_refusal(read)? else { continue };
            frames.extend(reading::frame(&result));
        }
        Ok(frames)
    }

    /// Evaluates a call of the patches' function in the page's own world.
    async fn ask_patches(
        &mut self,
        run: &mut Run<'_>,
        argument: &str,
    ) -> Result<Option<Value>, RenderError> {
        let expression = format!("{}({argument})", self.secret);
        let params = json!({ "expression": expression, "returnByValue": true });
        match timeout(COMMAND, self.call(run, "Runtime.evaluate", params)).await {
            Ok(result) => {
                Ok(accept_refusal(result)?.ok().and_then(|it| it["result"].get("value").cloned()))
            }
            Err(_) => {
                self.connection.send(&self.session, "Runtime.terminateExecution", json!({}));
                Ok(None)
            }
        }
    }

    /// Where scripts would have gone.
    async fn leads(&mut self, run: &mut Run<'_>) -> Result<Vec<Lead>, RenderError> {
        let Some(value) = self.ask_patches(run, "").await? else { return Ok(Vec::new()) };
        let pairs: Vec<(String, String)> =
            value.as_str().and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
        let lead = |(kind, url): (String, String)| {
            let kind = match kind.as_str() {
                "history" => LeadKind::History,
                "window" => LeadKind::Window,
                _ => LeadKind::Connection,
            };
            Lead { url, kind }
        };
        Ok(pairs.into_iter().map(lead).collect())
    }

    /// Does what a reader may do, some elements at a time, and reads what is there then.
    async fn click(&mut self, run: &mut Run<'_>, meter: &Meter) -> Result<Vec<Frame>, RenderError> {
        // What a first click prepares, a second one does.
        for _ in 0..ROUNDS {
            let done = self.ask_patches(run, &run.config.clicks.to_string()).await?;
            if done.as_ref().and_then(Value::as_u64).unwrap_or(0) == 0 {
                break;
            }
            run.ended = None;
            self.let_time_pass(AFTER_CLICKS);
            self.wait(run, meter).await?;
            if run.ended != Some(Ended::Settled) {
                break;
            }
        }
        match timeout(2 * COMMAND, self.read(run)).await {
            Ok(frames) => frames,
            Err(_) => Ok(Vec::new()),
        }
    }

    async fn screenshot(&mut self, run: &mut Run<'_>) -> Result<Option<Vec<u8>>, RenderError> {
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        match timeout(2 * COMMAND, self.call(run, "Page.captureScreenshot", params)).await {
            Ok(taken) => {
                let taken = accept_refusal(taken)?.ok();
                Ok(taken.and_then(|it| BASE64.decode(it["data"].as_str()?.as_bytes()).ok()))
            }
            Err(_) => Ok(None),
        }
    }
}

/// A command that fails since the page is not as it was is not the browser's end.
fn accept_refusal(result: Result<Value, RenderError>) -> Result<Result<Value, ()>, RenderError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(RenderError::Refused { .. }) => Ok(Err(())),
        Err(other) => Err(other),
    }
}

fn every_request() -> Value {
    json!({ "patterns": [{ "urlPattern": "*", "requestStage": "Request" }] })
}

fn attach_all() -> Value {
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
