//! When is a message sent, and what if it does not arrive? In order a channel; back-off from 5 seconds to an hour for
//! three days, then it is given up and can be sent once more by hand.

use evercrawl_model::Time;
use evercrawl_rules::{ChannelRule, Rules};

use crate::answer::Verdict;
use crate::channels::{Channel, SecretReader};
use crate::error::NotifyError;
use crate::message::Message;
use crate::outbox::{Delivery, DeliveryState, Hit, Outbox};
use crate::quiet;

const FIRST_PAUSE_MS: u64 = 5_000;
const LONGEST_PAUSE_MS: u64 = 3_600_000;
const PATIENCE_MS: u64 = 3 * 86_400_000;
/// Hits in one message.
const MOST_HITS: usize = 50;

/// Sends what waits in the outbox.
#[derive(Debug, Default)]
pub struct Sender {
    /// For telling once what is wrong with a channel.
    told: std::collections::HashSet<String>,
}

/// What became of the messages of one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    /// Messages that arrived.
    pub delivered: u64,
    /// Messages that did not, and why.
    pub troubles: Vec<String>,
    /// When there is something to do next, in milliseconds; `None` until there are other hits.
    pub next_ms: Option<u64>,
}

/// What a channel has to do.
enum Task {
    Send(Box<Delivery>),
    Wait(u64),
    Nothing,
}

impl Sender {
    /// Sends what is due at `now`. `chance` is a number from 0 to 1.
    pub fn round(
        &mut self,
        rules: &Rules,
        outbox: &mut Outbox,
        secrets: SecretReader<'_>,
        now: &dyn Fn() -> Time,
        chance: &mut dyn FnMut() -> f64,
    ) -> Result<Sent, NotifyError> {
        let mut sent = Sent::default();
        for rule in &rules.channels {
            let channel = match Channel::open(rule, secrets) {
                Ok(channel) => channel,
                Err(error) => {
                    let error = error.to_string();
                    if self.told.insert(error.clone()) {
                        sent.troubles.push(error);
                    }
                    continue;
                }
            };
            // What is there is sent message by message; the first that does not arrive ends the round.
            loop {
                match task(rule, outbox, now().millis())? {
                    Task::Nothing => break,
                    Task::Wait(until) => {
                        sent.next_ms = Some(sent.next_ms.map_or(until, |next| next.min(until)));
                        break;
                    }
                    Task::Send(delivery) => {
                        deliver(&channel, *delivery, outbox, now, chance(), &mut sent)?;
                    }
                }
            }
        }
        Ok(sent)
    }
}

fn task(rule: &ChannelRule, outbox: &Outbox, now_ms: u64) -> Result<Task, NotifyError> {
    if outbox.is_disabled(&rule.name) {
        return Ok(Task::Nothing);
    }
    if let Some(open) = outbox.open_delivery(&rule.name) {
        return Ok(match open.next_ms > now_ms {
            true => Task::Wait(open.next_ms),
            false => Task::Send(Box::new(open.clone())),
        });
    }
    let waiting: Vec<&Hit> = outbox
        .hits_for(&rule.name)
        .iter()
        .filter(|hit| rule.takes(&hit.rule, hit.fault))
        .filter(|hit| outbox.may_be_told(hit) && !outbox.is_told(&rule.name, &hit.id))
        .collect();
    let Some(first) = waiting.first() else { return Ok(Task::Nothing) };
    let is_urgent = |hit: &&&Hit| rule.urgent.contains(&hit.rule);
    let quiet = rule.quiet.as_ref().map_or(Ok(None), |quiet| quiet::ends_in(quiet, now_ms));
    let quiet = quiet.map_err(|why| NotifyError::Channel(rule.name.clone(), why))?;
    let urgent: Vec<&Hit> = waiting.iter().filter(is_urgent).copied().collect();
    let chosen = match (quiet, urgent.is_empty()) {
        (Some(wait), true) => return Ok(Task::Wait(now_ms + wait)),
        (Some(_), false) => urgent,
        (None, false) => waiting,
        (None, true) => match batch_ends(rule, first, now_ms) {
            Some(until) => return Ok(Task::Wait(until)),
            None => waiting,
        },
    };
    let hits: Vec<String> = chosen.iter().take(MOST_HITS).map(|hit| hit.id.clone()).collect();
    Ok(Task::Send(Box::new(Delivery {
        id: format!("{}.{}", hits[0], rule.name),
        channel: rule.name.clone(),
        hits,
        state: DeliveryState::Waiting,
        attempts: 0,
        first_ms: now_ms,
        at_ms: now_ms,
        next_ms: now_ms,
        answer: None,
    })))
}

/// Until when hits are gathered.
fn batch_ends(rule: &ChannelRule, first: &Hit, now_ms: u64) -> Option<u64> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time in milliseconds"
    )]
    let batch = (rule.batch? * 1000.0) as u64;
    let until = Time::parse_iso(&first.time).ok()?.millis() + batch;
    (until > now_ms).then_some(until)
}

fn deliver(
    channel: &Channel,
    mut delivery: Delivery,
    outbox: &mut Outbox,
    now: &dyn Fn() -> Time,
    chance: f64,
    sent: &mut Sent,
) -> Result<(), NotifyError> {
    // What is in the message is written down first: a repetition after a crash is the same message.
    if delivery.attempts == 0 {
        outbox.put(delivery.clone())?;
    }
    let hits = delivery.hits.iter().filter_map(|id| outbox.hit(id).cloned()).collect();
    let message = Message {
        id: delivery.id.clone(),
        channel: delivery.channel.clone(),
        hits,
        is_test: false,
    };
    let verdict = channel.send(&message, now());
    let now_ms = now().millis();
    delivery.attempts += 1;
    delivery.at_ms = now_ms;
    match verdict {
        Verdict::Delivered => {
            delivery.state = DeliveryState::Delivered;
            delivery.answer = None;
            sent.delivered += 1;
        }
        Verdict::Gone { why } => {
            sent.troubles.push(format!("{}: {why}; the channel is off", delivery.id));
            delivery.state = DeliveryState::Failed;
            delivery.answer = Some(why);
            outbox.disable(&delivery.channel, true)?;
        }
        Verdict::Again { why, after } => {
            let gives_up = now_ms.saturating_sub(delivery.first_ms) >= PATIENCE_MS;
            delivery.state = if gives_up { DeliveryState::Failed } else { DeliveryState::Waiting };
            delivery.next_ms = now_ms + pause(delivery.attempts, after, chance);
            let then = if gives_up { "given up" } else { "sent again later" };
            sent.troubles.push(format!("{}: {why}; {then}", delivery.id));
            delivery.answer = Some(why);
        }
    }
    outbox.put(delivery)
}

/// Milliseconds until the next attempt: as the receiver says, else twice as long each time, with some chance.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "milliseconds"
)]
fn pause(attempts: u32, after: Option<f64>, chance: f64) -> u64 {
    let doubled = FIRST_PAUSE_MS.saturating_mul(1 << attempts.saturating_sub(1).min(12));
    let own = doubled.min(LONGEST_PAUSE_MS) as f64 * (0.8 + 0.4 * chance);
    let asked = after.map_or(0.0, |seconds| (seconds * 1000.0).min(86_400_000.0));
    own.max(asked) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_an_hour_and_heed_the_receiver() {
        assert_eq!([1, 2, 3, 20].map(|n| pause(n, None, 0.5)), [5_000, 10_000, 20_000, 3_600_000]);
        assert_eq!(pause(1, Some(60.0), 0.5), 60_000);
        assert_eq!(pause(5, Some(1.0), 0.0), 64_000);
        assert!(pause(1, None, 1.0) == 6_000 && pause(1, Some(1e12), 0.0) == 86_400_000);
    }
}
