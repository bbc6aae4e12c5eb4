//! Of which words is an expression made?

use std::fmt;

use super::FilterError;

/// A word of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Quoted(String),
    Operator(&'static str),
    Open,
    Close,
    Comma,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Quoted(text) => f.write_str(text),
            Token::Operator(text) => f.write_str(text),
            Token::Open => f.write_str("("),
            Token::Close => f.write_str(")"),
            Token::Comma => f.write_str(","),
        }
    }
}

/// As they are written, and what they mean; longer ones first.
const OPERATORS: [(&str, &str); 10] = [
    ("==", "="),
    ("!=", "!="),
    ("<>", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("!~", "!~"),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("~", "~"),
];

/// Divides an expression into its words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, FilterError> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '\'' | '"' => quoted(rest, first)?,
            _ => match OPERATORS.iter().find(|(written, _)| rest.starts_with(written)) {
                Some((written, meaning)) => (Token::Operator(meaning), written.len()),
                None => word(rest)?,
            },
        };
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

/// Text between two quotes; a quote in it is doubled.
fn quoted(text: &str, quote: char) -> Result<(Token, usize), FilterError> {
    let (mut inner, mut at) = (String::new(), 1);
    while let Some(end) = text[at..].find(quote) {
        inner.push_str(&text[at..at + end]);
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return Ok((Token::Quoted(inner), at));
        }
        inner.push(quote);
        at += 1;
    }
    Err(FilterError::new(format!("a closing {quote} is missing after `{}`", &text[1..])))
}

fn word(text: &str) -> Result<(Token, usize), FilterError> {
    let ends = |c: char| c.is_whitespace() || "()',\"=<>!~".contains(c);
    let end = text.find(ends).unwrap_or(text.len());
    if end == 0 {
        let odd = text.chars().next().unwrap_or_default();
        return Err(FilterError::new(format!(
            "`{odd}` is unexpected; operators are = != < <= > >= ~ !~"
        )));
    }
    Ok((Token::Word(text[..end].to_owned()), end))
}
