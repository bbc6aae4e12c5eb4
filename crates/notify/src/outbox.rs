//! Which hits are there, what was decided of them, and which were delivered? Three files in `DATA/alerts` that only
//! grow: `hits.jsonl`, `decisions.jsonl`, `deliveries.jsonl`; and the cursor in the log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::NotifyError;
use crate::journal::{Journal, replace};

/// A rule found something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The rule and the number in the log: `terms.4711`.
    pub id: String,
    /// The rule.
    pub rule: String,
    /// The number in the log.
    pub seq: u64,
    /// When the page was visited.
    pub time: String,
    /// The page.
    pub url: String,
    /// Its host.
    pub host: String,
    /// Its title.
    pub title: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What the visit found: `changed`, `new`, `gone`.
    pub change: String,
    /// The passage that shows it.
    pub quote: String,
    /// The fields that the condition asks for.
    pub fields: BTreeMap<String, String>,
    /// The same evidence on the same page is the same state of affairs.
    #[serde(default)]
    pub evidence: String,
    /// Whether it is a fault, such as a region that is missing.
    #[serde(default)]
    pub fault: bool,
    /// SHA-1 of the content.
    #[serde(default)]
    pub digest: Option<String>,
    /// Seconds after which a second visit has to agree, before it is told.
    #[serde(default)]
    pub confirm: Option<f64>,
}

/// What was decided of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It was dealt with.
    Done,
    /// It is a false alarm: the same passage of the same host is not told again.
    False,
    /// A second visit agreed.
    Confirmed,
    /// A second visit did not agree.
    Dropped,
}

#[derive(Debug, Serialize, Deserialize)]
struct DecisionLine {
    hit: String,
    decision: Decision,
    time: String,
}

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is to be sent, or was and did not arrive.
    Waiting,
    /// It arrived.
    Delivered,
    /// It was given up.
    Failed,
}

/// A message to a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The first hit and the channel: `terms.4711.team`.
    pub id: String,
    /// The channel.
    pub channel: String,
    /// The hits in it.
    pub hits: Vec<String>,
    /// How far it has come.
    pub state: DeliveryState,
    /// How often it was sent.
    pub attempts: u32,
    /// When it was first sent, and when this was written, in milliseconds.
    pub first_ms: u64,
    /// When this was written.
    pub at_ms: u64,
    /// When it is sent next.
    pub next_ms: u64,
    /// What the receiver said last.
    #[serde(default)]
    pub answer: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum DeliveryLine {
    Delivery(Delivery),
    Channel {
        channel: String,
        disabled: bool,
        /// So many hits were there before it.
        #[serde(default)]
        begins: Option<usize>,
    },
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct CursorFile {
    after: Option<u64>,
}

/// What is kept of hits and deliveries.
#[derive(Debug)]
pub struct Outbox {
    dir: PathBuf,
    hits: Vec<Hit>,
    places: HashMap<String, usize>,
    /// The last evidence of each rule on each page.
    evidence: HashMap<(String, String), String>,
    decisions: HashMap<String, Decision>,
    false_alarms: HashSet<(String, String, String)>,
    deliveries: BTreeMap<String, Delivery>,
    /// The hits that are in a message, by channel.
    told: HashMap<String, HashSet<String>>,
    disabled: HashSet<String>,
    /// How many hits were there before a channel was.
    begins: HashMap<String, usize>,
    cursor: Option<u64>,
    journals: Journals,
    /// Keeps others out as long as it is open.
    _lock: File,
}

#[derive(Debug)]
struct Journals {
    hits: Journal,
    decisions: Journal,
    deliveries: Journal,
}

impl Outbox {
    /// Opens what is kept in the data directory `data`; `None` where another process has it open.
    pub fn open(data: &Path) -> Result<Option<Self>, NotifyError> {
        let dir = data.join("alerts");
        let failed = |error| NotifyError::File(dir.clone(), error);
        fs::create_dir_all(&dir).map_err(failed)?;
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).open(dir.join("lock"));
        let lock = lock.map_err(failed)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let (hits, all_hits) = Journal::open::<Hit>(&dir.join("hits.jsonl"))?;
        let (decisions, all_decisions) =
            Journal::open::<DecisionLine>(&dir.join("decisions.jsonl"))?;
        let (deliveries, all_deliveries) =
            Journal::open::<DeliveryLine>(&dir.join("deliveries.jsonl"))?;
        let cursor = fs::read(dir.join("cursor.json")).ok();
        let cursor = cursor.and_then(|text| serde_json::from_slice::<CursorFile>(&text).ok());
        let mut outbox = Outbox {
            hits: Vec::new(),
            places: HashMap::new(),
            evidence: HashMap::new(),
            decisions: HashMap::new(),
            false_alarms: HashSet::new(),
            deliveries: BTreeMap::new(),
            told: HashMap::new(),
            disabled: HashSet::new(),
            begins: HashMap::new(),
            cursor: cursor.and_then(|cursor| cursor.after),
            journals: Journals { hits, decisions, deliveries },
            dir,
            _lock: lock,
        };
        all_hits.into_iter().for_each(|hit| outbox.note_hit(hit));
        all_decisions.into_iter().for_each(|line| outbox.note_decision(&line.hit, line.decision));
        all_deliveries.into_iter().for_each(|line| outbox.note_delivery(line));
        Ok(Some(outbox))
    }

    fn note_hit(&mut self, hit: Hit) {
        if self.places.insert(hit.id.clone(), self.hits.len()).is_none() {
            self.evidence.insert((hit.rule.clone(), hit.url.clone()), hit.evidence.clone());
            self.hits.push(hit);
        }
    }

    fn note_decision(&mut self, id: &str, decision: Decision) {
        if decision == Decision::False
            && let Some(hit) = self.places.get(id).and_then(|place| self.hits.get(*place))
        {
            let what = if hit.quote.is_empty() { &hit.evidence } else { &hit.quote };
            self.false_alarms.insert((hit.rule.clone(), hit.host.clone(), what.clone()));
        }
        self.decisions.insert(id.to_owned(), decision);
    }

    fn note_delivery(&mut self, line: DeliveryLine) {
        match line {
            DeliveryLine::Delivery(delivery) => {
                let told = self.told.entry(delivery.channel.clone()).or_default();
                told.extend(delivery.hits.iter().cloned());
                self.deliveries.insert(delivery.id.clone(), delivery);
            }
            DeliveryLine::Channel { channel, disabled, begins } => {
                if let Some(begins) = begins {
                    self.begins.insert(channel.clone(), begins);
                }
                match disabled {
                    true => self.disabled.insert(channel),
                    false => self.disabled.remove(&channel),
                };
            }
        }
    }

    /// The number of the last row of the log that was judged.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// Whether it is known from where on the log is judged.
    pub fn has_begun(&self) -> bool {
        self.dir.join("cursor.json").exists()
    }

    /// Rows of the log are judged from after this one on.
    pub fn begin(&mut self, after: Option<u64>) -> Result<(), NotifyError> {
        let text = serde_json::to_vec(&CursorFile { after }).unwrap_or_default();
        replace(&self.dir.join("cursor.json"), &text)?;
        self.cursor = after;
        Ok(())
    }

    /// Keeps hits, and then notes that all rows up to `after` were judged. Hits that are known are kept once.
    pub fn keep(&mut self, hits: Vec<Hit>, after: Option<u64>) -> Result<Vec<Hit>, NotifyError> {
        let new: Vec<Hit> =
            hits.into_iter().filter(|hit| !self.places.contains_key(&hit.id)).collect();
        self.journals.hits.add(&new)?;
        new.iter().cloned().for_each(|hit| self.note_hit(hit));
        if after.is_some() && after != self.cursor {
            self.begin(after)?;
        }
        Ok(new)
    }

    /// All hits, the earliest first.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// A hit.
    pub fn hit(&self, id: &str) -> Option<&Hit> {
        self.places.get(id).and_then(|place| self.hits.get(*place))
    }

    /// What was decided of a hit.
    pub fn decision(&self, id: &str) -> Option<Decision> {
        self.decisions.get(id).copied()
    }

    /// Decides a hit.
    pub fn decide(
        &mut self,
        id: &str,
        decision: Decision,
        time: String,
    ) -> Result<(), NotifyError> {
        if !self.places.contains_key(id) {
            return Err(NotifyError::Unknown(format!(
                "there is no hit `{id}`; `evercrawl hits` lists them"
            )));
        }
        self.journals.decisions.add(&[DecisionLine { hit: id.to_owned(), decision, time }])?;
        self.note_decision(id, decision);
        Ok(())
    }

    /// Whether a passage, or other evidence, of a host was decided to be a false alarm of a rule.
    pub(crate) fn is_false(&self, rule: &str, host: &str, what: &str) -> bool {
        !what.is_empty()
            && self.false_alarms.contains(&(rule.to_owned(), host.to_owned(), what.to_owned()))
    }

    /// Whether the last hit of a rule on a page had this evidence.
    pub(crate) fn was_told(&self, rule: &str, url: &str, evidence: &str) -> bool {
        self.evidence.get(&(rule.to_owned(), url.to_owned())).is_some_and(|last| last == evidence)
    }

    /// Hits that wait for a second visit.
    pub(crate) fn unconfirmed(&self) -> impl Iterator<Item = &Hit> {
        self.hits
            .iter()
            .filter(|hit| hit.confirm.is_some() && !self.decisions.contains_key(&hit.id))
    }

    /// Whether a hit may be told.
    pub(crate) fn may_be_told(&self, hit: &Hit) -> bool {
        match self.decision(&hit.id) {
            None => hit.confirm.is_none(),
            Some(Decision::Confirmed) => true,
            Some(Decision::Done | Decision::False | Decision::Dropped) => false,
        }
    }

    /// All deliveries, by their ids.
    pub fn deliveries(&self) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values()
    }

    /// The message that a channel has not taken yet.
    pub(crate) fn open_delivery(&self, channel: &str) -> Option<&Delivery> {
        self.deliveries
            .values()
            .find(|one| one.channel == channel && one.state == DeliveryState::Waiting)
    }

    /// Notes that a channel is there from now on: earlier hits are not for it.
    pub fn meet(&mut self, channel: &str) -> Result<(), NotifyError> {
        if self.begins.contains_key(channel) {
            return Ok(());
        }
        let begins = Some(self.hits.len());
        let line = DeliveryLine::Channel { channel: channel.to_owned(), disabled: false, begins };
        self.journals.deliveries.add(std::slice::from_ref(&line))?;
        self.note_delivery(line);
        Ok(())
    }

    /// The hits since a channel is there.
    pub(crate) fn hits_for(&self, channel: &str) -> &[Hit] {
        let begins = self.begins.get(channel).copied().unwrap_or(self.hits.len());
        self.hits.get(begins..).unwrap_or_default()
    }

    /// Whether a hit is in a message to a channel.
    pub(crate) fn is_told(&self, channel: &str, hit: &str) -> bool {
        self.told.get(channel).is_some_and(|told| told.contains(hit))
    }

    /// Writes down how far a message has come.
    pub(crate) fn put(&mut self, delivery: Delivery) -> Result<(), NotifyError> {
        let line = DeliveryLine::Delivery(delivery);
        self.journals.deliveries.add(std::slice::from_ref(&line))?;
        self.note_delivery(line);
        Ok(())
    }

    /// Whether a receiver said that it wants no more messages.
    pub fn is_disabled(&self, channel: &str) -> bool {
        self.disabled.contains(channel)
    }

    /// Notes whether a channel takes messages.
    pub fn disable(&mut self, channel: &str, disabled: bool) -> Result<(), NotifyError> {
        if self.is_disabled(channel) == disabled {
            return Ok(());
        }
        let line = DeliveryLine::Channel { channel: channel.to_owned(), disabled, begins: None };
        self.journals.deliveries.add(std::slice::from_ref(&line))?;
        self.note_delivery(line);
        Ok(())
    }

    /// Sends a message once more that was given up.
    pub fn retry(&mut self, id: &str, now_ms: u64) -> Result<(), NotifyError> {
        let Some(delivery) =
            self.deliveries.get(id).filter(|one| one.state == DeliveryState::Failed)
        else {
            return Err(NotifyError::Unknown(format!("there is no failed delivery `{id}`")));
        };
        let again = Delivery {
            state: DeliveryState::Waiting,
            attempts: 0,
            first_ms: now_ms,
            at_ms: now_ms,
            next_ms: now_ms,
            ..delivery.clone()
        };
        let channel = again.channel.clone();
        self.put(again)?;
        self.disable(&channel, false)
    }
}
