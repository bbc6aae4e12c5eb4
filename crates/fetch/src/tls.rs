//! Is this really the server that the URL names, and what if it is not?

use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion,
};
use rustls::{RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tracing::debug;

use crate::config::{FetchConfigError, TlsSettings};
use crate::failure::TlsFailure;
use crate::response::TlsInfo;

/// The certificates in a PEM file, or why there are none.
pub fn certificates_in_pem(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let read = CertificateDer::pem_slice_iter(text).map(|it| it.map(|der| der.to_vec()));
    let found: Result<Vec<_>, _> = read.collect();
    match found {
        Ok(found) if found.is_empty() => Err("there is no certificate in PEM format".to_owned()),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("a certificate cannot be read: {error}")),
    }
}

/// Secures connections.
pub(crate) struct TlsHandshaker {
    strict: TlsConnector,
    /// Takes any certificate.
    lenient: TlsConnector,
    verifier: Arc<WebPkiServerVerifier>,
    accept_invalid: bool,
}

impl TlsHandshaker {
    pub(crate) fn new(settings: &TlsSettings, http2: bool) -> Result<Self, FetchConfigError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(settings, &provider)?;
        let strict = connector(&provider, Arc::<WebPkiServerVerifier>::clone(&verifier), http2)?;
        let lenient = connector(&provider, Arc::new(AcceptAny(Arc::clone(&verifier))), http2)?;
        Ok(TlsHandshaker { strict, lenient, verifier, accept_invalid: settings.accept_invalid })
    }

    /// Secures `tcp` as a connection to `host`, the URL's own, whose certificate may be invalid where that is accepted.
    pub(crate) async fn secure(
        &self,
        tcp: TcpStream,
        host: &str,
        accept_invalid: bool,
    ) -> Result<(TlsStream<TcpStream>, TlsInfo), TlsFailure> {
        let name = server_name(host)?;
        let accept_invalid = accept_invalid || self.accept_invalid;
        let connector = if accept_invalid { &self.lenient } else { &self.strict };
        let connected = connector.connect(name.clone(), tcp).await.map_err(classify_tls_error);
        let stream = connected.inspect_err(|error| debug!(host, %error, "tls failed"))?;
        let info = self.describe(stream.get_ref().1, &name, accept_invalid);
        if let Some(error) = &info.verify_error {
            debug!(host, %error, "invalid certificate accepted");
        }
        Ok((stream, info))
    }

    fn describe(
        &self,
        session: &ClientConnection,
        name: &ServerName<'_>,
        accept_invalid: bool,
    ) -> TlsInfo {
        let version = match session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "tls/1.3",
            _ => "tls/1.2",
        };
        let suite = session.negotiated_cipher_suite().map(|suite| suite.suite());
        // rustls marks the suites of TLS 1.3 in their names; the registry does not.
        let cipher = suite.and_then(|suite| suite.as_str()).unwrap_or_default();
        let cipher = cipher.replacen("TLS13_", "TLS_", 1);
        let verify_error = if accept_invalid { self.fault(session, name) } else { None };
        TlsInfo { version, cipher, verify_error }
    }

    /// What the verifier would have answered.
    fn fault(&self, session: &ClientConnection, name: &ServerName<'_>) -> Option<String> {
        let (own, others) = session.peer_certificates()?.split_first()?;
        let verdict = self.verifier.verify_server_cert(own, others, name, &[], UnixTime::now());
        verdict.err().map(|error| describe(&error))
    }
}

fn connector(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    http2: bool,
) -> Result<TlsConnector, FetchConfigError> {
    let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| FetchConfigError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let protocols: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn verifier(
    settings: &TlsSettings,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, FetchConfigError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for der in &settings.extra_roots {
        let added = roots.add(CertificateDer::from(der.clone()));
        added.map_err(|error| FetchConfigError::Root(error.to_string()))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| FetchConfigError::Tls(error.to_string()))
}

fn server_name(host: &str) -> Result<ServerName<'static>, TlsFailure> {
    // Neither the brackets of IPv6 addresses nor the root's dot belong to the name in a certificate.
    let name = host.trim_matches(['[', ']']).trim_end_matches('.').to_owned();
    ServerName::try_from(name).map_err(|error| TlsFailure::Handshake(error.to_string()))
}

fn classify_tls_error(error: io::Error) -> TlsFailure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner @ (Error::InvalidCertificate(_) | Error::NoCertificatesPresented)) => {
            TlsFailure::Certificate(describe(inner))
        }
        Some(inner) => TlsFailure::Handshake(describe(inner)),
        None => TlsFailure::Handshake(error.to_string()),
    }
}

fn describe(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(fault) => describe_fault(fault),
        other => other.to_string(),
    }
}

/// What is wrong with a certificate, by the words that operators search for.
fn describe_fault(fault: &CertificateError) -> String {
    let days =
        |from: &UnixTime, to: &UnixTime| to.as_secs().saturating_sub(from.as_secs()) / 86_400;
    match fault {
        CertificateError::Expired => "it has expired".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("it expired {} days ago", days(not_after, time))
        }
        CertificateError::NotValidYet => "it is not valid yet".to_owned(),
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("it is not valid yet, but in {} days", days(time, not_before))
        }
        CertificateError::UnknownIssuer => {
            "its issuer is unknown; trust it with fetch.ca_file if it is yours".to_owned()
        }
        CertificateError::NotValidForName => "it is for another name".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let shown: Vec<&str> = presented.iter().take(3).map(String::as_str).collect();
            format!("it is not for {}, but for {}", expected.to_str(), shown.join(", "))
        }
        CertificateError::Revoked => "it was revoked".to_owned(),
        other => other.to_string(),
    }
}

/// Takes any certificate, but still has the server prove that it holds its key.
#[derive(Debug)]
struct AcceptAny(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _own: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
