//! Can an encrypted PDF be read without a password?
//!
//! Most can: they are encrypted only to say what their readers may not do, and open by the empty password. Those that
//! need another, and those with AES-256, are left alone.

use super::ciphers::{md5, open_aes, rc4};
use super::lexer::{Dict, Object};

/// What passwords are filled up with; so it is the empty one.
const FILLING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

/// How the parts of a file are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Open,
    Rc4,
    Aes,
}

/// A lock that the empty password opens.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    key: Vec<u8>,
    strings: Method,
    streams: Method,
}

impl Lock {
    /// The lock that `encrypt` describes, in a file with this identifier.
    pub(super) fn open(encrypt: &Dict, id: &[u8]) -> Option<Self> {
        let number = |name: &str| encrypt.get(name).and_then(Object::number);
        let (version, revision) = (number("V").unwrap_or(0.0), number("R")?);
        if encrypt.name("Filter") != Some(b"Standard") || !(2.0..=4.0).contains(&revision) {
            return None;
        }
        let methods = match version {
            1.0 | 2.0 => [Method::Rc4; 2],
            4.0 => ["StrF", "StmF"].map(|of| method(encrypt, of)),
            _ => return None,
        };
        let [strings, streams] = methods;
        let length = if revision < 3.0 { 5 } else { key_length(encrypt, version) };
        let key = key(encrypt, id, revision, length)?;
        fits(&key, encrypt, id, revision).then_some(Lock { key, strings, streams })
    }

    /// The bytes of a stream in the object with this number and generation.
    pub(super) fn stream(&self, of: (u32, u16), bytes: &[u8]) -> Vec<u8> {
        self.opened(self.streams, of, bytes)
    }

    /// Opens all strings within an object.
    pub(super) fn strings(&self, of: (u32, u16), object: &mut Object) {
        object.each_string(&mut |string| *string = self.opened(self.strings, of, string));
    }

    fn opened(&self, method: Method, (number, generation): (u32, u16), bytes: &[u8]) -> Vec<u8> {
        let salt: &[u8] = if method == Method::Aes { b"sAlT" } else { b"" };
        let (number, generation) = (number.to_le_bytes(), generation.to_le_bytes());
        let key = md5(&[&self.key, &number[..3], &generation, salt]);
        match method {
            Method::Open => bytes.to_vec(),
            Method::Rc4 => rc4(&key[..(self.key.len() + 5).min(16)], bytes),
            Method::Aes => open_aes(&key, bytes),
        }
    }
}

fn key_length(encrypt: &Dict, version: f64) -> usize {
    let usual = if version == 4.0 { 128 } else { 40 };
    let bits = encrypt.get("Length").and_then(Object::size).unwrap_or(usual);
    if version == 4.0 { 16 } else { (bits / 8).clamp(5, 16) }
}

/// By which method the strings or streams are closed, as a table of them says.
fn method(encrypt: &Dict, of: &str) -> Method {
    let filter = encrypt.name(of).and_then(|name| std::str::from_utf8(name).ok());
    let Some(Object::Dict(filters)) = encrypt.get("CF") else { return Method::Open };
    match filter.and_then(|name| filters.get(name)) {
        Some(Object::Dict(filter)) => match filter.name("CFM") {
            Some(b"V2") => Method::Rc4,
            Some(b"AESV2") => Method::Aes,
            _ => Method::Open,
        },
        _ => Method::Open,
    }
}

/// The key that the empty password gives.
fn key(encrypt: &Dict, id: &[u8], revision: f64, length: usize) -> Option<Vec<u8>> {
    let owner = encrypt.get("O")?.string()?.get(..32)?;
    let permissions = (encrypt.get("P")?.number()? as i64 as u32).to_le_bytes();
    let metadata = encrypt.get("EncryptMetadata") == Some(&Object::Word(b"false".to_vec()));
    let plain: &[u8] = if revision >= 4.0 && metadata { &[0xff; 4] } else { &[] };
    let mut digest = md5(&[&FILLING, owner, &permissions, id, plain]);
    if revision >= 3.0 {
        for _ in 0..50 {
            digest = md5(&[&digest[..length]]);
        }
    }
    Some(digest[..length].to_vec())
}

/// Whether a key is that of the file.
fn fits(key: &[u8], encrypt: &Dict, id: &[u8], revision: f64) -> bool {
    let Some(user) = encrypt.get("U").and_then(Object::string) else { return false };
    if revision < 3.0 {
        return user.get(..32) == Some(rc4(key, &FILLING).as_slice());
    }
    let mut check = md5(&[&FILLING, id]).to_vec();
    for turn in 0..20_u8 {
        let turned: Vec<u8> = key.iter().map(|byte| byte ^ turn).collect();
        check = rc4(&turned, &check);
    }
    user.get(..16) == Some(check.as_slice())
}
