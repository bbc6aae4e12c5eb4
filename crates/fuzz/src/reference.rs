//! What do others say to the same input? Implementations that share no code with ours, and that are
//! too plain to be wrong, or everybody's.

use url::Url;

/// What browsers make of a link: the document's URL, without fragment, user name and password. `None`
/// where it leads to no web page.
pub(crate) fn browser_link(base: &str, href: &str) -> Option<String> {
    let mut url = Url::parse(base).ok()?.join(href).ok()?;
    url.set_fragment(None);
    let _ = (url.set_username(""), url.set_password(None));
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

/// A robots.txt without liberties, as RFC 9309 has it: groups of agents and rules.
#[derive(Debug, Default)]
pub(crate) struct Robots {
    groups: Vec<Group>,
}

#[derive(Debug, Default)]
struct Group {
    agents: Vec<&'static str>,
    rules: Vec<(bool, String)>,
}

impl Robots {
    /// Makes one of any bytes: a few at a time for each line.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut robots = Robots::default();
        for line in bytes.chunks(8).take(24) {
            match line[0] % 6 {
                0 => robots.agent("evercrawl"),
                1 => robots.agent("*"),
                2 => robots.agent("evercrawler"),
                kind => robots.rule(kind == 3, path(&line[1..], b"ab/*?.", kind == 4)),
            }
        }
        robots
    }

    fn agent(&mut self, name: &'static str) {
        match self.groups.last_mut().filter(|group| group.rules.is_empty()) {
            Some(group) => group.agents.push(name),
            None => self.groups.push(Group { agents: vec![name], rules: Vec::new() }),
        }
    }

    fn rule(&mut self, allow: bool, pattern: String) {
        if let Some(group) = self.groups.last_mut() {
            group.rules.push((allow, pattern));
        }
    }

    /// The file, as a site would serve it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for group in &self.groups {
            group.agents.iter().for_each(|agent| text += &format!("User-agent: {agent}\n"));
            for (allow, pattern) in &group.rules {
                text += &format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" });
            }
        }
        text
    }

    /// Whether `agent` may fetch `path`: the longest pattern that fits decides, Allow among equals.
    pub(crate) fn allows(&self, agent: &str, path: &str) -> bool {
        let is_named = self.groups.iter().any(|group| group.agents.contains(&agent));
        let name = if is_named { agent } else { "*" };
        let rules = self.groups.iter().filter(|group| group.agents.contains(&name));
        let rules = rules.flat_map(|group| &group.rules);
        let fitting = rules.filter(|(_, pattern)| fits(pattern.as_bytes(), path.as_bytes()));
        fitting.map(|(allow, pattern)| (pattern.len(), *allow)).max().is_none_or(|best| best.1)
    }
}

/// A path of these letters, as many as there are bytes, perhaps bound to its end.
pub(crate) fn path(bytes: &[u8], letters: &[u8], bound: bool) -> String {
    let letters = bytes.iter().map(|byte| char::from(letters[usize::from(*byte) % letters.len()]));
    std::iter::once('/').chain(letters).chain(bound.then_some('$')).collect()
}

/// Whether a pattern fits the beginning of a path: the definition, letter by letter.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|from| fits(rest, &path[from..])),
        [letter, rest @ ..] => path.first() == Some(letter) && fits(rest, &path[1..]),
    }
}
