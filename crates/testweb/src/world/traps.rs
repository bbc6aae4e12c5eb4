//! How does a page without end look? Calendars and mazes, for hosts that have one.

use super::bytes::{push, push_number};
use super::{Host, Trap, World};

impl Trap {
    /// Where links lead into the trap; sessions have no entrance, since one is always inside.
    pub(crate) fn entrance(self) -> Option<&'static str> {
        match self {
            Trap::Calendar => Some("/calendar/2026/1"),
            Trap::Maze => Some("/maze/"),
            Trap::Session => None,
        }
    }
}

impl World {
    /// Appends a page of the host's trap when the path leads into it; says whether it did.
    pub(crate) fn push_trap(&self, out: &mut Vec<u8>, host: &Host, path: &str) -> bool {
        match host.trap {
            Some(Trap::Calendar) => match read_month(path) {
                Some((year, month)) => push_month(out, year, month),
                None => return false,
            },
            Some(Trap::Maze) if path.starts_with("/maze/") && path.ends_with('/') => push_turn(out),
            _ => return false,
        }
        true
    }
}

fn read_month(path: &str) -> Option<(u64, u64)> {
    let (year, month) = path.strip_prefix("/calendar/")?.split_once('/')?;
    let (year, month) = (year.parse::<u32>().ok()?, month.parse().ok()?);
    (1..=12).contains(&month).then_some((u64::from(year), month))
}

fn push_month(out: &mut Vec<u8>, year: u64, month: u64) {
    push(out, "<!DOCTYPE html>\n<title>Calendar</title>\n<p>No entries this month.</p>\n");
    let months = year * 12 + month - 1;
    for (label, at) in
        [("Next", months + 1), ("Previous", months.saturating_sub(1)), ("Next year", months + 12)]
    {
        push(out, "<a href=\"/calendar/");
        push_number(out, at / 12);
        out.push(b'/');
        push_number(out, at % 12 + 1);
        push(out, "\">");
        push(out, label);
        push(out, "</a>\n");
    }
}

fn push_turn(out: &mut Vec<u8>) {
    push(out, "<!DOCTYPE html>\n<title>Maze</title>\n<p>Left or right?</p>\n");
    push(out, "<a href=\"foo/\">left</a>\n<a href=\"foo/bar/\">right</a>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;

    #[test]
    fn a_calendar_leads_on_and_on() {
        let world = World::new(WorldConfig::calm());
        let host = Host { trap: Some(Trap::Calendar), ..world.host(0) };
        let mut page = Vec::new();
        assert!(world.push_trap(&mut page, &host, "/calendar/2026/12"));
        assert!(String::from_utf8(page).unwrap().contains("href=\"/calendar/2027/1\""));
        for path in
            ["/calendar/2026/13", "/calendar/2026/0", "/calendar/", "/calendar/x/1", "/maze/"]
        {
            assert!(!world.push_trap(&mut Vec::new(), &host, path), "{path}");
        }
    }
}
