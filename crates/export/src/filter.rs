//! Which rows are wanted? Those for which an expression is true, such as `status = 200 and host != "a.org"`.
//!
//! ```text
//! expression = both { "or" both }
//! both       = one { "and" one }
//! one        = "not" one | "(" expression ")" | test
//! test       = field operator value | field "in" "(" value { "," value } ")" | flag
//! operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
//! ```
//!
//! `~` searches a regular expression. A value is a word or is quoted with `'` or `"`. What is missing equals
//! nothing but `null`, and is neither smaller nor larger than anything.

mod lexer;

use std::borrow::Cow;
use std::cmp::Ordering;

use evercrawl_model::Time;
use regex::Regex;

use lexer::{Token, tokens};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A number.
    Number,
    /// A number of bytes: `10kB` is understood.
    Size,
    /// A time: `2026-11-16`, or with hours, minutes and seconds.
    Time,
    /// True or false.
    Flag,
    /// Some words: `=` asks whether one of them is the value.
    Words,
}

/// A field that expressions may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a field of a row holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Missing,
    /// Text.
    Text(Cow<'a, str>),
    /// A number, also of bytes.
    Number(f64),
    /// A time.
    Time(Time),
    /// True or false.
    Flag(bool),
    /// Some words.
    Words(&'a [String]),
}

impl<'a> Value<'a> {
    /// Text, or nothing.
    pub fn text(text: Option<&'a str>) -> Self {
        text.map_or(Value::Missing, |text| Value::Text(text.into()))
    }

    /// A number, or nothing.
    pub fn number(number: Option<impl Into<f64>>) -> Self {
        number.map_or(Value::Missing, |number| Value::Number(number.into()))
    }

    /// A time, or nothing.
    pub fn time(time: Option<Time>) -> Self {
        time.map_or(Value::Missing, Value::Time)
    }
}

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FilterError(String);

impl FilterError {
    fn new(message: impl Into<String>) -> Self {
        FilterError(message.into())
    }
}

/// An expression over the fields of a row.
#[derive(Debug)]
pub struct Filter(Expression);

#[derive(Debug)]
enum Expression {
    Any(Vec<Expression>),
    All(Vec<Expression>),
    Not(Box<Expression>),
    Test { field: Field, test: Test },
}

#[derive(Debug)]
enum Test {
    /// One of these.
    In(Vec<Constant>),
    /// In one of these orders to a value.
    Order(Constant, &'static [Ordering]),
    /// Has a place that a pattern matches.
    Matches(Regex),
}

/// A value in an expression.
#[derive(Debug, PartialEq)]
enum Constant {
    Missing,
    Text(String),
    Number(f64),
    Time(Time),
    Flag(bool),
}

/// The longest expression, and how deep it may be nested.
const LONGEST: usize = 10_000;
const DEEPEST: usize = 50;

impl Filter {
    /// Reads an expression that may name `fields`.
    pub fn parse(text: &str, fields: &'static [Field]) -> Result<Self, FilterError> {
        if text.len() > LONGEST {
            return Err(FilterError::new(format!("a filter has at most {LONGEST} bytes")));
        }
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, fields };
        let expression = parser.expression()?;
        match parser.next() {
            None => Ok(Filter(expression)),
            Some(token) => Err(FilterError::new(format!(
                "`{token}` is unexpected; connect tests with `and` or `or`, e.g. \
                 `status = 200 and depth < 3`"
            ))),
        }
    }

    /// Whether the expression is true of a row, whose fields `value` reads as they are needed.
    pub fn matches<'v, E>(
        &self,
        value: &mut dyn FnMut(&'static str) -> Result<Value<'v>, E>,
    ) -> Result<bool, E> {
        self.0.is_true(value)
    }

    /// Whether the expression names a field.
    pub fn names(&self, field: &str) -> bool {
        self.0.names(field)
    }
}

impl Expression {
    fn is_true<'v, E>(
        &self,
        value: &mut dyn FnMut(&'static str) -> Result<Value<'v>, E>,
    ) -> Result<bool, E> {
        match self {
            Expression::Any(of) => {
                for one in of {
                    if one.is_true(value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expression::All(of) => {
                for one in of {
                    if !one.is_true(value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expression::Not(one) => Ok(!one.is_true(value)?),
            Expression::Test { field, test } => Ok(test.holds(&value(field.name)?)),
        }
    }

    fn names(&self, name: &str) -> bool {
        match self {
            Expression::Any(of) | Expression::All(of) => of.iter().any(|one| one.names(name)),
            Expression::Not(one) => one.names(name),
            Expression::Test { field, .. } => field.name == name,
        }
    }
}

impl Test {
    fn holds(&self, value: &Value<'_>) -> bool {
        match self {
            Test::In(constants) => constants.iter().any(|constant| constant.equals(value)),
            Test::Order(constant, orders) => {
                constant.order_of(value).is_some_and(|order| orders.contains(&order))
            }
            Test::Matches(pattern) => match value {
                Value::Text(text) => pattern.is_match(text),
                Value::Words(words) => words.iter().any(|word| pattern.is_match(word)),
                _ => false,
            },
        }
    }
}

impl Constant {
    /// Reads a value for a field.
    fn read(token: Token, field: Field) -> Result<Self, FilterError> {
        let (text, is_quoted) = match token {
            Token::Word(text) => (text, false),
            Token::Quoted(text) => (text, true),
            other => {
                return Err(FilterError::new(format!(
                    "`{other}` is not a value for `{}`",
                    field.name
                )));
            }
        };
        if !is_quoted && text == "null" {
            return Ok(Constant::Missing);
        }
        let read = match field.kind {
            Kind::Text | Kind::Words => Some(Constant::Text(text.clone())),
            Kind::Number => text.parse().ok().map(Constant::Number),
            Kind::Size => size(&text).map(Constant::Number),
            Kind::Time => Time::parse_iso(&text).ok().map(Constant::Time),
            Kind::Flag => text.parse().ok().map(Constant::Flag),
        };
        read.ok_or_else(|| {
            let example = example(field.kind);
            FilterError::new(format!(
                "`{text}` is not a value for `{}`; use e.g. {example}",
                field.name
            ))
        })
    }

    fn equals(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Constant::Missing, Value::Missing) => true,
            (Constant::Missing, Value::Words(words)) => words.is_empty(),
            (Constant::Text(word), Value::Words(words)) => words.contains(word),
            _ => self.order_of(value) == Some(Ordering::Equal),
        }
    }

    /// How a value stands to this one.
    fn order_of(&self, value: &Value<'_>) -> Option<Ordering> {
        match (value, self) {
            (Value::Text(value), Constant::Text(own)) => Some((**value).cmp(own)),
            (Value::Number(value), Constant::Number(own)) => value.partial_cmp(own),
            (Value::Time(value), Constant::Time(own)) => Some(value.cmp(own)),
            (Value::Flag(value), Constant::Flag(own)) => Some(value.cmp(own)),
            _ => None,
        }
    }
}

fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Words => "`news`",
        Kind::Number => "`200`",
        Kind::Size => "`10kB` or `512`",
        Kind::Time => "`2026-11-16` or `2026-11-16T08:00:00Z`",
        Kind::Flag => "`true` or `false`",
    }
}

/// Reads a number of bytes: `512`, `10kB`, `1MiB`.
fn size(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] = [
        ("", 1.0),
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
    ];
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    Some(number.trim().parse::<f64>().ok()? * factor)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    fields: &'static [Field],
}

impl Parser {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Takes the next token if it is this word.
    fn takes(&mut self, word: &str) -> bool {
        let is_it = matches!(self.tokens.get(self.at), Some(Token::Word(text)) if text.eq_ignore_ascii_case(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, token: &Token) -> Result<(), FilterError> {
        match self.next() {
            Some(found) if found == *token => Ok(()),
            Some(found) => Err(FilterError::new(format!("`{token}` is expected before `{found}`"))),
            None => Err(FilterError::new(format!("`{token}` is missing at the end"))),
        }
    }

    fn expression(&mut self) -> Result<Expression, FilterError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(FilterError::new(format!("more than {DEEPEST} brackets are nested")));
        }
        let mut any = vec![self.both()?];
        while self.takes("or") {
            any.push(self.both()?);
        }
        self.depth -= 1;
        Ok(if any.len() > 1 { Expression::Any(any) } else { any.remove(0) })
    }

    fn both(&mut self) -> Result<Expression, FilterError> {
        let mut all = vec![self.one()?];
        while self.takes("and") {
            all.push(self.one()?);
        }
        Ok(if all.len() > 1 { Expression::All(all) } else { all.remove(0) })
    }

    fn one(&mut self) -> Result<Expression, FilterError> {
        let mut is_negated = false;
        while self.takes("not") {
            is_negated = !is_negated;
        }
        let one = if self.tokens.get(self.at) == Some(&Token::Open) {
            self.at += 1;
            let inner = self.expression()?;
            self.expect(&Token::Close)?;
            inner
        } else {
            self.test()?
        };
        Ok(if is_negated { Expression::Not(Box::new(one)) } else { one })
    }

    fn test(&mut self) -> Result<Expression, FilterError> {
        let field = self.field()?;
        if self.takes("in") {
            let test = Test::In(self.list(field)?);
            return Ok(Expression::Test { field, test });
        }
        let Some(Token::Operator(operator)) = self.tokens.get(self.at).cloned() else {
            if field.kind == Kind::Flag {
                let test = Test::In(vec![Constant::Flag(true)]);
                return Ok(Expression::Test { field, test });
            }
            return Err(FilterError::new(format!(
                "`{}` needs an operator and a value, e.g. `{} = {}`",
                field.name,
                field.name,
                example(field.kind).split('`').nth(1).unwrap_or_default()
            )));
        };
        self.at += 1;
        let missing = || FilterError::new(format!("`{} {operator}` needs a value", field.name));
        let token = self.next().ok_or_else(missing)?;
        Self::compared(field, operator, token)
    }

    fn field(&mut self) -> Result<Field, FilterError> {
        let names = || {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
            names.join(", ")
        };
        let token = self.tokens.get(self.at);
        let Some(Token::Word(name)) = token else {
            let found = token.map_or_else(|| "the end".to_owned(), |token| format!("`{token}`"));
            return Err(FilterError::new(format!("a field is expected at {found}: {}", names())));
        };
        let found = self.fields.iter().find(|field| field.name == name);
        let unknown =
            || FilterError::new(format!("`{name}` is not a field; use one of {}", names()));
        let field = *found.ok_or_else(unknown)?;
        self.at += 1;
        Ok(field)
    }

    fn list(&mut self, field: Field) -> Result<Vec<Constant>, FilterError> {
        self.expect(&Token::Open)?;
        let mut list = Vec::new();
        loop {
            let end = || FilterError::new("`)` is missing at the end");
            list.push(Constant::read(self.next().ok_or_else(end)?, field)?);
            match self.next().ok_or_else(end)? {
                Token::Comma => {}
                Token::Close => return Ok(list),
                other => {
                    return Err(FilterError::new(format!(
                        "`,` or `)` is expected before `{other}`"
                    )));
                }
            }
        }
    }

    fn compared(field: Field, operator: &str, token: Token) -> Result<Expression, FilterError> {
        use Ordering::{Equal, Greater, Less};
        if operator.ends_with('~') {
            let is_text = matches!(field.kind, Kind::Text | Kind::Words);
            let (Token::Word(text) | Token::Quoted(text)) = token else {
                return Err(FilterError::new(format!("`{token}` is not a regular expression")));
            };
            if !is_text {
                return Err(FilterError::new(format!(
                    "`{}` is not text; `~` searches text",
                    field.name
                )));
            }
            let pattern = Regex::new(&text).map_err(|error| {
                FilterError::new(format!("`{text}` is not a regular expression: {error}"))
            })?;
            return Ok(negated(field, Test::Matches(pattern), operator == "!~"));
        }
        let constant = Constant::read(token, field)?;
        let orders: &[Ordering] = match operator {
            "<" => &[Less],
            "<=" => &[Less, Equal],
            ">" => &[Greater],
            ">=" => &[Greater, Equal],
            _ => return Ok(negated(field, Test::In(vec![constant]), operator == "!=")),
        };
        if field.kind == Kind::Words {
            return Err(FilterError::new(format!(
                "`{}` has several words; use `=` or `~`",
                field.name
            )));
        }
        Ok(Expression::Test { field, test: Test::Order(constant, orders) })
    }
}

fn negated(field: Field, test: Test, is_negated: bool) -> Expression {
    let test = Expression::Test { field, test };
    if is_negated { Expression::Not(Box::new(test)) } else { test }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests;
