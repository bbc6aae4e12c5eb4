//! What does the text of a selector mean?

use super::nth::Nth;
use super::{Combinator, Complex, Simple, Test};

/// The longest text, the most parts in it, and how deep `:not()` and its kin nest.
const LONGEST: usize = 4096;
const MOST_PARTS: usize = 200;
const DEEPEST: usize = 4;

/// Reads a list of selectors.
pub(super) fn read(text: &str) -> Result<Vec<Complex>, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let mut reader = Reader { rest: text, parts: 0 };
    let list = reader.list(0)?;
    match reader.rest.chars().next() {
        None => Ok(list),
        Some(found) => Err(format!("`{found}` is not expected {}", reader.place())),
    }
}

struct Reader<'a> {
    rest: &'a str,
    parts: usize,
}

impl Reader<'_> {
    fn list(&mut self, depth: usize) -> Result<Vec<Complex>, String> {
        let mut list = Vec::new();
        loop {
            self.skip_space();
            list.push(self.complex(depth)?);
            self.skip_space();
            if !self.take(',') {
                return Ok(list);
            }
        }
    }

    fn complex(&mut self, depth: usize) -> Result<Complex, String> {
        let mut parts = vec![(Combinator::Descendant, self.compound(depth)?)];
        loop {
            let spaced = self.skip_space();
            let combinator = match self.combinator() {
                Some(combinator) => combinator,
                None if self.rest.is_empty() || self.rest.starts_with([',', ')']) => break,
                None if spaced => Combinator::Descendant,
                None => break,
            };
            self.skip_space();
            parts.push((combinator, self.compound(depth)?));
        }
        Ok(Complex { parts })
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let found = match self.rest.chars().next()? {
            '>' => Combinator::Child,
            '+' => Combinator::Next,
            '~' => Combinator::Later,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        Some(found)
    }

    fn compound(&mut self, depth: usize) -> Result<Vec<Simple>, String> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(format!("it has more than {MOST_PARTS} parts"));
        }
        let mut simple = Vec::new();
        let any = self.take('*');
        if !any && let Some(name) = self.name() {
            simple.push(Simple::Type(name.to_ascii_lowercase()));
        }
        loop {
            match self.rest.chars().next() {
                Some('#') => simple.push(Simple::Id(self.marked_name("an id")?)),
                Some('.') => simple.push(Simple::Class(self.marked_name("a class")?)),
                Some('[') => simple.push(self.attribute()?),
                Some(':') => simple.push(self.pseudo_class(depth)?),
                _ => break,
            }
        }
        match simple.is_empty() && !any {
            false => Ok(simple),
            true if self.rest.starts_with('/') => {
                Err("this looks like XPath; CSS selectors are understood, such as `main .price`"
                    .to_owned())
            }
            true => Err(format!("an element is missing {}", self.place())),
        }
    }

    fn marked_name(&mut self, what: &str) -> Result<String, String> {
        self.rest = &self.rest[1..];
        self.name().ok_or_else(|| format!("{what} has no name {}", self.place()))
    }

    fn attribute(&mut self) -> Result<Simple, String> {
        self.rest = &self.rest[1..];
        self.skip_space();
        let name =
            self.name().ok_or_else(|| format!("an attribute has no name {}", self.place()))?;
        let name = name.to_ascii_lowercase();
        self.skip_space();
        let test = self.test();
        let (mut value, mut any_case) = (String::new(), false);
        if test != Test::There {
            self.skip_space();
            value = self.value()?;
            if self.skip_space() || !self.rest.starts_with(']') {
                any_case = self.take('i') || self.take('I');
                let _ = !any_case && (self.take('s') || self.take('S'));
                self.skip_space();
            }
        }
        match self.take(']') {
            true => Ok(Simple::Attribute { name, test, value, any_case }),
            false => Err(format!("`]` is missing after the attribute `{name}`")),
        }
    }

    fn test(&mut self) -> Test {
        let tests = [
            ("=", Test::Equals),
            ("~=", Test::Word),
            ("|=", Test::Dash),
            ("^=", Test::Begins),
            ("$=", Test::Ends),
            ("*=", Test::Contains),
        ];
        for (sign, test) in tests {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return test;
            }
        }
        Test::There
    }

    fn value(&mut self) -> Result<String, String> {
        let Some(quote) = self.rest.chars().next().filter(|first| matches!(first, '"' | '\''))
        else {
            return self.value_name().ok_or_else(|| format!("a value is missing {}", self.place()));
        };
        self.rest = &self.rest[1..];
        let mut value = String::new();
        while let Some(next) = self.rest.chars().next() {
            if next == quote {
                self.rest = &self.rest[1..];
                return Ok(value);
            }
            value.extend(self.character());
        }
        Err(format!("the closing {quote} is missing"))
    }

    /// A value without quotes. CSS asks for a name; digits are understood as well.
    fn value_name(&mut self) -> Option<String> {
        let length =
            self.rest.find(|c: char| c == ']' || c.is_whitespace()).unwrap_or(self.rest.len());
        let value = self.rest[..length].to_owned();
        self.rest = &self.rest[length..];
        (!value.is_empty()).then_some(value)
    }

    fn pseudo_class(&mut self, depth: usize) -> Result<Simple, String> {
        if self.rest.starts_with("::") {
            return Err("`::` chooses no element; leave it out".to_owned());
        }
        let name = self.marked_name("a pseudo-class")?.to_ascii_lowercase();
        let place = |nth, of_name, from_end| Ok(Simple::Place { nth, of_name, from_end });
        match name.as_str() {
            "root" => return Ok(Simple::Root),
            "first-child" => return place(Nth::FIRST, false, false),
            "last-child" => return place(Nth::FIRST, false, true),
            "first-of-type" => return place(Nth::FIRST, true, false),
            "last-of-type" => return place(Nth::FIRST, true, true),
            "only-child" => return Ok(Simple::Only { of_name: false }),
            "only-of-type" => return Ok(Simple::Only { of_name: true }),
            "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                let (of_name, from_end) = (name.ends_with("type"), name.contains("last"));
                return place(self.nth(&name)?, of_name, from_end);
            }
            "not" | "is" | "where" | "has" if self.take('(') => {}
            "not" | "is" | "where" | "has" => return Err(format!("`:{name}` needs `(`")),
            _ => return Err(format!("`:{name}` is not understood; {KNOWN}")),
        }
        if depth >= DEEPEST {
            return Err(format!("`:not()` and its kin nest deeper than {DEEPEST}"));
        }
        let simple = match name.as_str() {
            "has" => Simple::Has(self.relative(depth + 1)?),
            "not" => Simple::Not(self.list(depth + 1)?),
            _ => Simple::Is(self.list(depth + 1)?),
        };
        self.skip_space();
        match self.take(')') {
            true => Ok(simple),
            false => Err(format!("`)` is missing after `:{name}(`")),
        }
    }

    fn relative(&mut self, depth: usize) -> Result<Vec<(Combinator, Complex)>, String> {
        let mut list = Vec::new();
        loop {
            self.skip_space();
            let combinator = self.combinator().unwrap_or(Combinator::Descendant);
            self.skip_space();
            let complex = self.complex(depth)?;
            if complex.parts.len() > 1 {
                return Err(
                    "`:has()` takes one simple selector, such as `:has(> .price)`".to_owned()
                );
            }
            list.push((combinator, complex));
            self.skip_space();
            if !self.take(',') {
                return Ok(list);
            }
        }
    }

    fn nth(&mut self, name: &str) -> Result<Nth, String> {
        let bad = || {
            format!("`:{name}` needs a place in brackets, such as `:{name}(2)` or `:{name}(2n+1)`")
        };
        let end = self.rest.find(')').filter(|_| self.rest.starts_with('(')).ok_or_else(bad)?;
        let nth = Nth::read(&self.rest[1..end]).ok_or_else(bad)?;
        self.rest = &self.rest[end + 1..];
        Ok(nth)
    }

    /// A name, with its escapes resolved.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(next) = self.rest.chars().next() {
            let is_part =
                next.is_alphanumeric() || matches!(next, '-' | '_' | '\\') || !next.is_ascii();
            let is_digit_first = name.is_empty() && next.is_ascii_digit();
            if !is_part || is_digit_first || next.is_whitespace() {
                break;
            }
            name.extend(self.character());
        }
        (!name.is_empty()).then_some(name)
    }

    /// A character, or what an escape stands for.
    fn character(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next != '\\' {
            return Some(next);
        }
        let digits = self.rest.chars().take(6).take_while(char::is_ascii_hexdigit).count();
        if digits == 0 {
            let escaped = self.rest.chars().next()?;
            self.rest = &self.rest[escaped.len_utf8()..];
            return Some(escaped);
        }
        let code = u32::from_str_radix(&self.rest[..digits], 16).unwrap_or_default();
        self.rest = &self.rest[digits..];
        if let Some(space) = self.rest.chars().next().filter(|next| next.is_ascii_whitespace()) {
            self.rest = &self.rest[space.len_utf8()..];
        }
        Some(char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let spaced = rest.len() < self.rest.len();
        self.rest = rest;
        spaced
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Where the reader stands, in words.
    fn place(&self) -> String {
        match self.rest.trim() {
            "" => "at the end".to_owned(),
            rest => format!("at `{}`", rest.chars().take(20).collect::<String>()),
        }
    }
}

const KNOWN: &str = "known are :first-child, :last-child, :only-child, :nth-child(), :nth-last-child(), their kin \
    -of-type, :not(), :is(), :where(), :has() and :root";
