//! When is a user to be told? `score >= 2% and words_removed > 0`, `price < 100 or price_change <= -10%`.
//!
//! `and` binds closer than `or`, `not` closer than both; brackets group. A field by itself asks whether it is there, or
//! true. A field without a value on a page compares with nothing: no comparison with it holds.

use crate::facts::{Facts, Field, FieldKind};
use crate::folded::Folded;
use crate::units;

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCondition(pub(crate) String);

/// A condition on what is known of a page and its change.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    root: Expression,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    There(Field),
    Number(Field, Comparison, f64),
    Text(Field, Comparison, String),
    Words(Verb, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    Unequal,
    Contains,
}

/// What is asked of the words of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Contains,
    Appears,
    Disappears,
}

/// How deep brackets nest.
const DEEPEST: usize = 50;

impl Condition {
    /// Reads a condition.
    pub fn read(text: &str) -> Result<Self, BadCondition> {
        let tokens = tokens(text).map_err(BadCondition)?;
        let mut reader = Reader { tokens: &tokens, at: 0 };
        let root = reader.any(0).map_err(BadCondition)?;
        match reader.peek() {
            None => Ok(Condition { text: text.to_owned(), root }),
            Some(token) => Err(BadCondition(format!(
                "{token} is not expected; join conditions by `and` or `or`"
            ))),
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn holds(&self, facts: &Facts<'_>) -> bool {
        holds(&self.root, facts)
    }

    /// The fields that it asks for.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        collect(&self.root, &mut fields);
        fields
    }

    /// The words that it looks for.
    pub(crate) fn words(&self) -> Vec<&str> {
        let mut words = Vec::new();
        collect_words(&self.root, &mut words);
        words
    }
}

fn collect(expression: &Expression, fields: &mut Vec<Field>) {
    match expression {
        Expression::All(list) | Expression::Any(list) => {
            list.iter().for_each(|one| collect(one, fields))
        }
        Expression::Not(one) => collect(one, fields),
        Expression::There(field) | Expression::Number(field, ..) | Expression::Text(field, ..) => {
            fields.push(*field)
        }
        Expression::Words(Verb::Contains, _) => fields.push(Field::Contains),
        Expression::Words(..) => fields.push(Field::Appears),
    }
}

fn collect_words<'a>(expression: &'a Expression, words: &mut Vec<&'a str>) {
    match expression {
        Expression::All(list) | Expression::Any(list) => {
            list.iter().for_each(|one| collect_words(one, words))
        }
        Expression::Words(_, text) => words.push(text),
        _ => {}
    }
}

fn holds(expression: &Expression, facts: &Facts<'_>) -> bool {
    match expression {
        Expression::All(list) => list.iter().all(|one| holds(one, facts)),
        Expression::Any(list) => list.iter().any(|one| holds(one, facts)),
        Expression::Not(one) => !holds(one, facts),
        Expression::There(field) => facts.is_there(*field),
        Expression::Number(field, comparison, value) => {
            facts.number(*field).is_some_and(|found| compares(*comparison, found.total_cmp(value)))
        }
        Expression::Text(field, comparison, value) => {
            facts.text(*field).is_some_and(|found| match comparison {
                Comparison::Contains => Folded::of(&found).text.contains(&Folded::of(value).text),
                _ => compares(*comparison, found.to_lowercase().cmp(&value.to_lowercase())),
            })
        }
        Expression::Words(verb, text) => {
            let wanted = Folded::of(text).text;
            let (now, before) = (facts.now_says(&wanted), facts.before_said(&wanted));
            match verb {
                Verb::Contains => now == Some(true),
                Verb::Appears => now == Some(true) && before == Some(false),
                Verb::Disappears => now == Some(false) && before == Some(true),
            }
        }
    }
}

fn compares(comparison: Comparison, order: std::cmp::Ordering) -> bool {
    match comparison {
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::More => order.is_gt(),
        Comparison::MoreOrEqual => order.is_ge(),
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Contains => false,
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(text) => write!(f, "`{text}`"),
            Token::Quoted(text) => write!(f, "\"{text}\""),
            Token::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

const SIGNS: [&str; 9] = ["<=", ">=", "!=", "==", "<", ">", "=", "(", ")"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        if matches!(first, '"' | '\'') {
            let end =
                rest[1..].find(first).ok_or_else(|| format!("the closing {first} is missing"))?;
            tokens.push(Token::Quoted(rest[1..=end].to_owned()));
            rest = &rest[end + 2..];
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            let is_end = |c: char| c.is_whitespace() || "<>=!()\"'".contains(c);
            let end = rest.find(is_end).unwrap_or(rest.len()).max(first.len_utf8());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_it =
            matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn any(&mut self, depth: usize) -> Result<Expression, String> {
        let mut list = vec![self.all(depth)?];
        while self.take_word("or") {
            list.push(self.all(depth)?);
        }
        Ok(one_or(list, Expression::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Expression, String> {
        let mut list = vec![self.not(depth)?];
        while self.take_word("and") {
            list.push(self.not(depth)?);
        }
        Ok(one_or(list, Expression::All))
    }

    fn not(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return Err(format!("brackets nest deeper than {DEEPEST}"));
        }
        if self.take_word("not") {
            return Ok(Expression::Not(Box::new(self.not(depth + 1)?)));
        }
        if !self.take_sign("(") {
            return self.test();
        }
        let inner = self.any(depth + 1)?;
        match self.take_sign(")") {
            true => Ok(inner),
            false => Err("`)` is missing".to_owned()),
        }
    }

    fn test(&mut self) -> Result<Expression, String> {
        let name = match self.peek() {
            Some(Token::Word(name)) => name.to_ascii_lowercase(),
            Some(token) => {
                return Err(format!("a field is expected instead of {token}; {}", Field::listed()));
            }
            None => return Err(format!("a field is expected at the end; {}", Field::listed())),
        };
        self.at += 1;
        for (word, verb) in [
            ("contains", Verb::Contains),
            ("appears", Verb::Appears),
            ("disappears", Verb::Disappears),
        ] {
            if name == word {
                return self.words(word, verb);
            }
        }
        let field = Field::named(&name)?;
        match self.comparison() {
            Some(comparison) => self.comparison_with(field, comparison),
            None => Ok(Expression::There(field)),
        }
    }

    fn words(&mut self, name: &str, verb: Verb) -> Result<Expression, String> {
        let bracket = self.take_sign("(");
        let Some(Token::Quoted(text)) = self.peek() else {
            return Err(format!(
                "`{name}` needs words in quotation marks, such as {name} \"sold out\""
            ));
        };
        self.at += 1;
        if bracket && !self.take_sign(")") {
            return Err("`)` is missing".to_owned());
        }
        match Folded::of(text).text.is_empty() {
            false => Ok(Expression::Words(verb, text.clone())),
            true => Err(format!("\"{text}\" has no word to look for")),
        }
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let found = match self.peek()? {
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::LessOrEqual,
            Token::Sign(">") => Comparison::More,
            Token::Sign(">=") => Comparison::MoreOrEqual,
            Token::Sign("=" | "==") => Comparison::Equal,
            Token::Sign("!=") => Comparison::Unequal,
            Token::Word(word) if word.eq_ignore_ascii_case("contains") => Comparison::Contains,
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    fn comparison_with(
        &mut self,
        field: Field,
        comparison: Comparison,
    ) -> Result<Expression, String> {
        let name = field.name();
        let text = match self.peek() {
            Some(Token::Word(text) | Token::Quoted(text)) => text.clone(),
            _ => return Err(format!("`{name}` is compared with nothing; give a value")),
        };
        self.at += 1;
        let is_text = matches!(field.kind(), FieldKind::Text | FieldKind::Code(_));
        let orders =
            !matches!(comparison, Comparison::Equal | Comparison::Unequal | Comparison::Contains);
        if is_text && orders || !is_text && comparison == Comparison::Contains {
            return Err(format!(
                "`{name}` cannot be compared so; it is {}",
                field.kind().described()
            ));
        }
        let bad =
            || format!("`{text}` is no value for `{name}`, which is {}", field.kind().described());
        let number = match field.kind() {
            FieldKind::Text => return Ok(Expression::Text(field, comparison, text)),
            FieldKind::Code(codes) => {
                let code = text.to_ascii_lowercase();
                return match codes.contains(&&*code) {
                    true => Ok(Expression::Text(field, comparison, code)),
                    false => Err(format!("{}; use one of {}", bad(), codes.join(", "))),
                };
            }
            FieldKind::Flag => {
                return Err(format!("`{name}` is true or not; write `{name}` or `not {name}`"));
            }
            FieldKind::Duration => units::duration(&text),
            FieldKind::Share => {
                text.strip_suffix('%').unwrap_or(&text).parse().ok().map(|n: f64| n / 100.0)
            }
            FieldKind::Count => text.parse().ok(),
        };
        let needs_unit = field.kind() == FieldKind::Share && !text.ends_with('%');
        match number.filter(|number| number.is_finite() && !needs_unit) {
            Some(number) => Ok(Expression::Number(field, comparison, number)),
            None => Err(bad()),
        }
    }
}

fn one_or(mut list: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    match list.len() {
        1 => list.remove(0),
        _ => many(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_with_what_helps() {
        for (text, why) in [
            ("", "a field is expected at the end; fields are"),
            ("prise < 3", "`prise` is not a field; did you mean `price`?"),
            ("price <", "`price` is compared with nothing"),
            ("price < cheap", "`cheap` is no value for `price`, which is a number"),
            ("score > 2", "`2` is no value for `score`, which is a share, such as 5%"),
            ("unchanged_for > 3", "a duration, such as 14d"),
            ("availability = there", "use one of in_stock"),
            ("availability > in_stock", "cannot be compared so"),
            ("refused = 1", "write `refused` or `not refused`"),
            ("(price < 3", "`)` is missing"),
            ("price < 3 price > 1", "`price` is not expected; join"),
            ("contains sold", "needs words in quotation marks"),
            ("contains \"…\"", "no word to look for"),
            ("title = \"x", "closing \" is missing"),
            ("price < 3 and", "a field is expected at the end"),
            ("xyzzy", "`xyzzy` is not a field; fields are"),
        ] {
            let error = Condition::read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = "(".repeat(100_000);
        assert!(Condition::read(&deep).unwrap_err().to_string().contains("nest deeper"));
        assert!(Condition::read(&"not ".repeat(100_000)).is_err());
    }

    #[test]
    fn all_forms_are_read() {
        for text in [
            "score >= 2% and words_removed > 0",
            "price < 100 or price_change <= -10%",
            "unchanged_for > 14d or gone_for > 1d or refused",
            "phrase or copied_words >= 60",
            "not (change = gone or status >= 500) AND title contains 'Sale'",
            "appears(\"sold out\") or disappears 'in stock' or contains \"x\"",
            "availability == in_stock and price",
        ] {
            let condition = Condition::read(text).unwrap();
            assert_eq!(condition.text(), text);
            assert!(!condition.fields().is_empty());
        }
    }
}
