//! Which worlds come with the program?

use super::spec::WorldSpec;
use crate::Malformed;

/// A world that comes with the program: its name and its TOML.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// What it is called.
    pub name: &'static str,
    /// Its description, to be read, saved and changed.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$(Shipped { name: $name, text: include_str!(concat!("../../worlds/", $name, ".toml")) }),*]
    };
}

/// All of them: sites as one meets them, then worlds that isolate one difficulty each.
pub static SHIPPED: [Shipped; 16] = shipped![
    "news",
    "wiki",
    "shop",
    "docs",
    "forum",
    "archive",
    "government",
    "blogs",
    "university",
    "ticker",
    "mixed",
    "poisson",
    "bursts",
    "drift",
    "seasons",
    "million",
];

impl Shipped {
    /// The one that is called `name`.
    pub fn find(name: &str) -> Option<&'static Shipped> {
        SHIPPED.iter().find(|world| world.name == name)
    }

    /// What its TOML says.
    pub fn spec(&self) -> Result<WorldSpec, Malformed> {
        WorldSpec::parse(&format!("{}.toml", self.name), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_world_is_sound_and_says_what_it_is() {
        for shipped in &SHIPPED {
            let spec = shipped.spec().unwrap();
            assert!(spec.about.len() > 20 && spec.about.ends_with('.'), "{}", shipped.name);
            assert!(shipped.text.lines().count() < 80, "{}: one page", shipped.name);
            assert!(
                spec.classes.iter().all(|class| class.name != "pages" || spec.classes.len() == 1)
            );
            if spec.pages <= 20_000 {
                let world = spec.world(shipped.name, 1, 0.0);
                assert!(world.pages.len() < 3 * spec.pages as usize, "{}", shipped.name);
            }
        }
        assert!(Shipped::find("million").is_some() && Shipped::find("billion").is_none());
    }
}
