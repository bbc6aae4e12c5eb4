//! What does a stored robots.txt say?

use evercrawl_model::RobotsCopy;
use evercrawl_robots::{Access, RobotsTxt, availability};

/// Whether a robots.txt that could not be had keeps its whole host waiting.
pub fn keeps_waiting(copy: &RobotsCopy) -> bool {
    availability(Some(copy.status)) == Access::DisallowAll
}

/// The rules in a stored robots.txt.
pub fn read_robots(copy: &RobotsCopy, agent: &str) -> RobotsTxt {
    RobotsTxt::from_response((copy.status > 0).then_some(copy.status), &copy.body, agent)
}
