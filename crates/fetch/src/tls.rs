//! Is this really the server that the URL names, and what if it is not?

use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion};
use rustls::{RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tracing::debug;

use crate::config::{FetchConfigError, TlsSettings};
use crate::failure::TlsFailure;
use crate::response::TlsInfo;

/// Secures connections.
pub(crate) struct TlsHandshaker {
    connector: TlsConnector,
    verifier: Arc<WebPkiServerVerifier>,
    accept_invalid: bool,
}

impl TlsHandshaker {
    pub(crate) fn new(settings: &TlsSettings, http2: bool) -> Result<Self, FetchConfigError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(settings, &provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| FetchConfigError::Tls(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(if settings.accept_invalid {
                Arc::new(AcceptAny(Arc::clone(&verifier)))
            } else {
                Arc::<WebPkiServerVerifier>::clone(&verifier)
            })
            .with_no_client_auth();
        let protocols: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let connector = TlsConnector::from(Arc::new(config));
        Ok(TlsHandshaker { connector, verifier, accept_invalid: settings.accept_invalid })
    }

    /// Secures `tcp` as a connection to `host`, the URL's own.
    pub(crate) async fn secure(
        &self,
        tcp: TcpStream,
        host: &str,
    ) -> Result<(TlsStream<TcpStream>, TlsInfo), TlsFailure> {
        let name = server_name(host)?;
        let connected = self.connector.connect(name.clone(), tcp).await.map_err(classify_tls_error);
        let stream = connected.inspect_err(|error| debug!(host, %error, "tls failed"))?;
        let info = self.describe(stream.get_ref().1, &name);
        if let Some(error) = &info.verify_error {
            debug!(host, %error, "invalid certificate accepted");
        }
        Ok((stream, info))
    }

    fn describe(&self, session: &ClientConnection, name: &ServerName<'_>) -> TlsInfo {
        let version = match session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "tls/1.3",
            _ => "tls/1.2",
        };
        let suite = session.negotiated_cipher_suite().map(|suite| suite.suite());
        // rustls marks the suites of TLS 1.3 in their names; the registry does not.
        let cipher = suite.and_then(|suite| suite.as_str()).unwrap_or_default();
        let cipher = cipher.replacen("TLS13_", "TLS_", 1);
        let verify_error = if self.accept_invalid { self.fault(session, name) } else { None };
        TlsInfo { version, cipher, verify_error }
    }

    /// What the verifier would have answered.
    fn fault(&self, session: &ClientConnection, name: &ServerName<'_>) -> Option<String> {
        let (own, others) = session.peer_certificates()?.split_first()?;
        let verdict = self.verifier.verify_server_cert(own, others, name, &[], UnixTime::now());
        verdict.err().map(|error| describe(&error))
    }
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
        Error::InvalidCertificate(fault) => fault.to_string(),
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
