//! Who made a package? Whoever has a private key: the "anonymous signature" of the WACZ specification for signatures.
//!
//! The key is ECDSA on P-256. The signature is over the digest of `datapackage.json`, as text (`sha256:...`), with
//! SHA-256, in DER; the public key is a SubjectPublicKeyInfo. Both are what `openssl dgst -verify` takes.

use std::io;

use data_encoding::BASE64;
use evercrawl_model::Time;
use ring::rand::SecureRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

/// What stands before the point of a P-256 key in a SubjectPublicKeyInfo.
const PUBLIC_KEY_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Signs packages.
pub struct Signer {
    key: EcdsaKeyPair,
    random: Box<dyn SecureRandom>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.public_key())
    }
}

impl Signer {
    /// A new private key, as PKCS#8 in PEM.
    pub fn new_key(random: &dyn SecureRandom) -> Option<String> {
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, random).ok()?;
        Some(pem("PRIVATE KEY", key.as_ref()))
    }

    /// Signs with a private key, PKCS#8 in PEM; `None` where it is none on P-256.
    pub fn new(key: &str, random: Box<dyn SecureRandom>) -> Option<Self> {
        let lines = key.lines().map(str::trim);
        let text: String = lines.filter(|line| !line.starts_with("-----")).collect();
        let key = BASE64.decode(text.as_bytes()).ok()?;
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key, &*random).ok()?;
        Some(Signer { key, random })
    }

    /// The public key: SubjectPublicKeyInfo in base 64.
    pub fn public_key(&self) -> String {
        BASE64.encode(&[&PUBLIC_KEY_HEAD, self.key.public_key().as_ref()].concat())
    }

    /// What stands in a package of a signature over `digest`.
    pub(super) fn signed_data(&self, digest: &str, software: &str, now: Time) -> io::Result<Value> {
        let signed = self.key.sign(&*self.random, digest.as_bytes());
        let signature = signed.map_err(|_| io::Error::other("no random numbers to sign with"))?;
        Ok(json!({
            "hash": digest, "created": now.rfc3339(), "software": software, "version": "0.1.0",
            "signature": BASE64.encode(signature.as_ref()), "publicKey": self.public_key(),
        }))
    }
}

/// Text lines of 64 characters between two that say what they are.
fn pem(what: &str, bytes: &[u8]) -> String {
    let text = BASE64.encode(bytes);
    let lines: Vec<&str> =
        (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", lines.join("\n"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_signature_can_be_checked_with_what_stands_beside_it() {
        let key = Signer::new_key(&SystemRandom::new()).unwrap();
        let signer = Signer::new(&key, Box::new(SystemRandom::new())).unwrap();
        let signed = signer.signed_data("sha256:00", "x", Time::EPOCH).unwrap();
        let bytes = |name: &str| BASE64.decode(signed[name].as_str().unwrap().as_bytes()).unwrap();
        let point = bytes("publicKey").split_off(PUBLIC_KEY_HEAD.len());
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
        public.verify(b"sha256:00", &bytes("signature")).unwrap();
        public.verify(b"sha256:01", &bytes("signature")).unwrap_err();
        assert!(Signer::new("no key", Box::new(SystemRandom::new())).is_none());
    }
}
