//! How is cash kept, one visit at a time? [`Till`] and [`Account`] as the state has them.

use evercrawl_model::{Importance, LinkEvidence};
use evercrawl_rank::{Account, Till};
use evercrawl_state::LinkEvidenceTotal;

use super::weight::DAMPING;

/// Over how long history counts: so many times all the cash there is must change hands.
const WINDOW: f64 = 8.0;

/// The till that the state has.
pub fn till(total: LinkEvidenceTotal) -> Till {
    let [accounts, cash, given, now] = total;
    let till = Till::new(DAMPING, WINDOW * cash);
    Till { accounts: accounts as u64, cash, given, now, ..till }
}

/// A till as the state has it.
pub fn total(till: &Till) -> LinkEvidenceTotal {
    [till.accounts as f64, till.cash, till.given, till.now]
}

/// The account that the state has of a page.
pub fn account(claim: &LinkEvidence) -> Account {
    let [claim, history, visited] = claim.numbers;
    Account { claim, history, visited }
}

/// An account as the state has it.
pub fn numbers(account: &Account) -> [f64; 3] {
    [account.claim, account.history, account.visited]
}

/// How many times as much as the average page a page matters.
pub fn importance(till: &Till, account: &Account) -> Importance {
    Importance::of(till.importance(account) * till.accounts as f64 / till.cash)
}

/// The same of a page that nobody has visited yet, by the cash that it has.
pub fn at_once(till: &Till, account: &Account) -> Importance {
    Importance::of(till.cash_of(account) * till.accounts as f64 / till.cash)
}
