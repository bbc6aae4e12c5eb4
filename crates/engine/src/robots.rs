//! What does a stored robots.txt say?

use evercrawl_model::{Outcome, RobotsCopy};
use evercrawl_robots::{Access, RobotsTxt, availability};

/// Whether a robots.txt that could not be had keeps its whole host waiting.
pub fn keeps_waiting(copy: &RobotsCopy) -> bool {
    availability(Some(copy.status)) == Access::DisallowAll
}

/// How the request for a robots.txt that did not come ended, as a code; `None` where an answer came, and for copies
/// of earlier versions.
pub fn robots_failure(copy: &RobotsCopy) -> Option<&'static str> {
    let code = std::str::from_utf8(&copy.body).ok().filter(|_| copy.status == 0)?;
    Outcome::ALL.map(Outcome::code).into_iter().find(|known| *known == code)
}

/// The rules in a stored robots.txt.
pub fn read_robots(copy: &RobotsCopy, agent: &str) -> RobotsTxt {
    let body = if copy.status == 0 { &[][..] } else { &copy.body };
    RobotsTxt::from_response((copy.status > 0).then_some(copy.status), body, agent)
}
