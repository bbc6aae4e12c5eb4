//! Is a record what was written? Its digests say so.

use data_encoding::BASE32;
use sha1::{Digest, Sha1};

use crate::read::Record;

/// In which way a record contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The block is not the one that was digested.
    #[error("its block digest is wrong")]
    Block,
    /// The payload is not the one that was digested.
    #[error("its payload digest is wrong")]
    Payload,
    /// The digest is of a kind that is not known here, so it says nothing.
    #[error("its digest {0:?} is of an unknown kind")]
    Unknown(String),
}

/// Checks the block digest, and the payload digest where the payload is in the record.
pub fn verify(record: &Record) -> Result<(), VerifyError> {
    hold(record.header("WARC-Block-Digest"), record.block(), VerifyError::Block)?;
    if record.header("WARC-Type") == Some("revisit") {
        return Ok(());
    }
    hold(record.header("WARC-Payload-Digest"), record.payload(), VerifyError::Payload)
}

/// The digest that identifies a payload here and in indexes.
pub fn payload_digest(payload: &[u8]) -> [u8; 20] {
    Sha1::digest(payload).into()
}

fn hold(digest: Option<&str>, bytes: &[u8], otherwise: VerifyError) -> Result<(), VerifyError> {
    let Some(digest) = digest else { return Ok(()) };
    let Some(("sha1", text)) = digest.split_once(':') else {
        return Err(VerifyError::Unknown(digest.to_owned()));
    };
    match text.eq_ignore_ascii_case(&BASE32.encode(&payload_digest(bytes))) {
        true => Ok(()),
        false => Err(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, block_digest: &str, payload_digest: &str) -> Result<(), VerifyError> {
        let record = format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nContent-Type: application/http\r\n\
             WARC-Block-Digest: {block_digest}\r\nWARC-Payload-Digest: {payload_digest}\r\n\
             Content-Length: 22\r\n\r\nHTTP/1.1 200 OK\r\n\r\nabc\r\n\r\n"
        );
        verify(&Record::parse(record.into_bytes()).unwrap())
    }

    #[test]
    fn digests_hold_or_say_what_is_wrong() {
        let (block, payload) =
            ("sha1:HQKNH2NGZ2BZ27KBTACJFDT37URZITEZ", "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
        assert_eq!(check("response", block, payload), Ok(()));
        assert_eq!(check("response", &block.to_lowercase(), payload), Ok(()));
        assert_eq!(check("response", payload, payload), Err(VerifyError::Block));
        assert_eq!(check("response", block, block), Err(VerifyError::Payload));
        assert_eq!(check("revisit", block, block), Ok(()), "its payload is elsewhere");
        let unknown = VerifyError::Unknown("md5:00".into());
        assert_eq!(check("response", "md5:00", payload), Err(unknown));
    }
}
