//! How is a message handed to a mail server? SMTP with STARTTLS or TLS from the beginning, and a login; every step with
//! a limit for time. A password is never sent in the clear, except on this machine.

use std::io::{self, Read, Write};

use data_encoding::BASE64;

use crate::allow_private::AllowPrivate;
use crate::post::{connect, secure};

/// The longest answer of a server.
const MOST_ANSWER: usize = 64 << 10;

/// A server that takes mail.
#[derive(Clone)]
pub struct MailServer {
    /// Its name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// When TLS begins.
    pub tls: MailTls,
    /// User and password.
    pub login: Option<(String, String)>,
    /// Which private addresses may be connected to.
    pub allow: AllowPrivate,
}

impl std::fmt::Debug for MailServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MailServer({}:{})", self.host, self.port)
    }
}

/// When TLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// With the first byte.
    AtOnce,
    /// After the greeting, where the server offers it; without it no password is sent.
    IfOffered,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The server could not be reached, or broke off.
    #[error("cannot send to {0}: {1}")]
    Io(String, io::Error),
    /// It refused; the answer begins with a code.
    #[error("{server} answers to {command}: {answer}")]
    Refused {
        /// The server.
        server: String,
        /// What it was told, without secrets.
        command: &'static str,
        /// What it said.
        answer: String,
    },
    /// A password would go over the network in the clear.
    #[error("{0} offers no TLS; the password is not sent in the clear")]
    NoTls(String),
    /// An address has a line break, or the like.
    #[error("`{0}` is not an address for mail")]
    BadAddress(String),
}

impl MailServer {
    fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Hands over a message with its head, lines ended by CR and LF.
    pub fn send(&self, from: &str, to: &[String], message: &str) -> Result<(), MailError> {
        for address in to.iter().map(String::as_str).chain([from]) {
            if address.is_empty()
                || address.contains(|c: char| c.is_control() || matches!(c, '<' | '>' | ' '))
            {
                return Err(MailError::BadAddress(
                    address.chars().filter(|c| !c.is_control()).collect(),
                ));
            }
        }
        let io = |error| MailError::Io(self.name(), error);
        let tcp = connect(&self.name(), Some(&self.allow)).map_err(io)?;
        let is_home = tcp.peer_addr().is_ok_and(|address| address.ip().is_loopback());
        let name = self.name();
        if self.tls == MailTls::AtOnce {
            let mut session = Session::new(&name, secure(&self.host, tcp).map_err(io)?);
            session.expect("the connection", &["220"])?;
            session.greet()?;
            return self.deliver(session, from, to, message);
        }
        let mut session = Session::new(&name, tcp);
        session.expect("the connection", &["220"])?;
        let offers = session.greet()?;
        if offers.iter().any(|line| line.eq_ignore_ascii_case("STARTTLS")) {
            session.tell("STARTTLS", "STARTTLS", &["220"])?;
            let mut session = Session::new(&name, secure(&self.host, session.stream).map_err(io)?);
            session.greet()?;
            return self.deliver(session, from, to, message);
        }
        if self.login.is_some() && !is_home {
            return Err(MailError::NoTls(name));
        }
        self.deliver(session, from, to, message)
    }

    fn deliver<S: Read + Write>(
        &self,
        mut session: Session<'_, S>,
        from: &str,
        to: &[String],
        message: &str,
    ) -> Result<(), MailError> {
        if let Some((user, password)) = &self.login {
            let both = BASE64.encode(format!("\0{user}\0{password}").as_bytes());
            session.tell("AUTH", &format!("AUTH PLAIN {both}"), &["235"])?;
        }
        session.tell("MAIL FROM", &format!("MAIL FROM:<{from}>"), &["250"])?;
        for address in to {
            session.tell("RCPT TO", &format!("RCPT TO:<{address}>"), &["250", "251"])?;
        }
        session.tell("DATA", "DATA", &["354"])?;
        // A line that begins with a point gets another one.
        let stuffed = message.replace("\r\n.", "\r\n..");
        session.tell(
            "the message",
            &format!("{}\r\n.", stuffed.trim_end_matches("\r\n")),
            &["250"],
        )?;
        // It has been taken; how the server says goodbye does not matter.
        let _ = session.tell("QUIT", "QUIT", &["221"]);
        Ok(())
    }
}

struct Session<'a, S> {
    server: &'a str,
    stream: S,
    unread: Vec<u8>,
}

impl<'a, S: Read + Write> Session<'a, S> {
    fn new(server: &'a str, stream: S) -> Self {
        Session { server, stream, unread: Vec::new() }
    }

    fn greet(&mut self) -> Result<Vec<String>, MailError> {
        self.tell("EHLO", "EHLO evercrawl", &["250"])
    }

    fn tell(
        &mut self,
        command: &'static str,
        line: &str,
        wanted: &[&str],
    ) -> Result<Vec<String>, MailError> {
        let sent = self
            .stream
            .write_all(format!("{line}\r\n").as_bytes())
            .and_then(|()| self.stream.flush());
        sent.map_err(|error| MailError::Io(self.server.to_owned(), error))?;
        self.expect(command, wanted)
    }

    /// Reads an answer; its lines without their codes.
    fn expect(&mut self, command: &'static str, wanted: &[&str]) -> Result<Vec<String>, MailError> {
        let mut lines = Vec::new();
        loop {
            let line = self.line().map_err(|error| MailError::Io(self.server.to_owned(), error))?;
            let (code, rest) = line.split_at(line.len().min(3));
            lines.push(rest.trim_start_matches(['-', ' ']).to_owned());
            if !rest.starts_with('-') {
                let server = self.server.to_owned();
                return match wanted.contains(&code) {
                    true => Ok(lines),
                    false => Err(MailError::Refused {
                        server,
                        command,
                        answer: format!("{code} {}", lines.join(" ")),
                    }),
                };
            }
            if lines.len() > 200 {
                return Err(MailError::Io(self.server.to_owned(), too_long()));
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                return Ok(line.trim_end().chars().filter(|c| !c.is_control()).collect());
            }
            if self.unread.len() > MOST_ANSWER {
                return Err(too_long());
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.unread.extend_from_slice(&piece[..count]),
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its answer is too long")
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    use super::*;

    /// A server that answers each line as told, and what it was sent.
    fn serve(answers: &'static [&'static str]) -> (u16, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let (mut sent, mut in_message) = (Vec::new(), false);
            for answer in answers {
                write!(stream, "{answer}\r\n").unwrap();
                while let Some(Ok(line)) = lines.next() {
                    in_message |= sent.last().is_some_and(|last| last == "DATA");
                    let ends = !in_message || line == ".";
                    in_message &= line != ".";
                    sent.push(line);
                    if ends {
                        break;
                    }
                }
            }
            sent
        });
        (port, server)
    }

    fn server(port: u16, login: Option<(String, String)>) -> MailServer {
        let allow = AllowPrivate::networks(vec!["127.0.0.0/8".parse().unwrap()]);
        MailServer { host: "127.0.0.1".to_owned(), port, tls: MailTls::IfOffered, login, allow }
    }

    #[test]
    fn a_message_is_handed_over_word_by_word() {
        let (port, sent) = serve(&[
            "220 hi",
            "250-me\r\n250 AUTH PLAIN",
            "235 ok",
            "250 ok",
            "250 ok",
            "354 go",
            "250 taken",
            "221 bye",
        ]);
        let login = Some(("me".to_owned(), "pass".to_owned()));
        server(port, login)
            .send("a@x.test", &["b@y.test".to_owned()], "Subject: x\r\n\r\n.one\r\ntwo\r\n")
            .unwrap();
        let want = [
            "EHLO evercrawl",
            "AUTH PLAIN AG1lAHBhc3M=",
            "MAIL FROM:<a@x.test>",
            "RCPT TO:<b@y.test>",
            "DATA",
            "Subject: x",
            "",
            "..one",
            "two",
            ".",
            "QUIT",
        ];
        assert_eq!(sent.join().unwrap(), want);
    }

    #[test]
    fn refusals_are_told_and_addresses_checked() {
        let (port, _sent) = serve(&["220 hi", "250 me", "250 ok", "550 no such user"]);
        let error = server(port, None)
            .send("a@x.test", &["b@y.test".to_owned()], "x")
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("answers to RCPT TO: 550 no such user"), "{error}");
        for wrong in ["", "a b@x", "a@x\r\nDATA", "<a@x>"] {
            let error = server(1, None).send("a@x.test", &[wrong.to_owned()], "x").unwrap_err();
            assert!(matches!(error, MailError::BadAddress(_)), "{wrong}");
        }
        let private = MailServer { allow: AllowPrivate::default(), ..server(port, None) };
        assert!(
            private
                .send("a@x.test", &["b@y.test".to_owned()], "x")
                .unwrap_err()
                .to_string()
                .contains("private")
        );
    }
}
