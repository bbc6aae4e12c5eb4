//! Where exactly is a file wrong, and what is the error there?

/// A file that is not what it should be, with the place to look at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}, column {column}: {message}")]
pub struct Malformed {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The error, and what would be right.
    pub message: String,
}

impl Malformed {
    /// The error at byte `at` of `text`.
    pub fn at(file: &str, text: &str, at: usize, message: impl Into<String>) -> Self {
        let before = String::from_utf8_lossy(&text.as_bytes()[..at.min(text.len())]);
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().map_or(0, |start| start.chars().count());
        Malformed { file: file.to_owned(), line, column, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "a = 1\nü = x\n";
        for (at, line, column) in [(0, 1, 1), (6, 2, 1), (11, 2, 5), (13, 3, 1), (99, 3, 1)] {
            let error = Malformed::at("w.toml", text, at, "no");
            assert_eq!((error.line, error.column), (line, column), "{at}");
        }
        let error = Malformed::at("w.toml", text, 6, "is no key");
        assert_eq!(error.to_string(), "w.toml, line 2, column 1: is no key");
    }
}
