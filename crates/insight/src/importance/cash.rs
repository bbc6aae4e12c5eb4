//! How is OPIC cash accounted for, one visit at a time? Converts between the state's rows and the OPIC types.

use evercrawl_model::{Importance, LinkEvidence};
use evercrawl_rank::{OpicAccount, OpicTotals};
use evercrawl_state::LinkEvidenceTotal;

use super::weight::DAMPING;

/// The window of history: this many times all existing cash must change hands.
const WINDOW: f64 = 8.0;

/// The totals stored in the state.
pub fn till(total: LinkEvidenceTotal) -> OpicTotals {
    let [accounts, cash, given, now] = total;
    let till = OpicTotals::new(DAMPING, WINDOW * cash);
    OpicTotals { accounts: accounts as u64, cash, given, now, ..till }
}

/// The totals, as the state stores them.
pub fn total(till: &OpicTotals) -> LinkEvidenceTotal {
    [till.accounts as f64, till.cash, till.given, till.now]
}

/// A page's account, from its link evidence.
pub fn account(claim: &LinkEvidence) -> OpicAccount {
    let [claim, history, visited] = claim.numbers;
    OpicAccount { claim, history, visited }
}

/// An account, as the state stores it.
pub fn numbers(account: &OpicAccount) -> [f64; 3] {
    [account.claim, account.history, account.visited]
}

/// A page's importance, by the cash that it received.
pub fn importance(till: &OpicTotals, account: &OpicAccount) -> Importance {
    Importance::from_ratio(till.importance(account) * till.accounts as f64 / till.cash)
}

/// The importance of a page never visited, by the cash that it holds.
pub fn at_once(till: &OpicTotals, account: &OpicAccount) -> Importance {
    Importance::from_ratio(till.cash_of(account) * till.accounts as f64 / till.cash)
}
