//! Encrypted connections, with rustls.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::StoreError;

use super::url::{Address, Tls};

/// What encrypts connections to an address.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect, StoreError> {
    let failed = |problem: String| StoreError::Unavailable { path: address.name.clone(), problem };
    #[expect(
        deprecated,
        reason = "aws-lc-rs, with post-quantum key exchange, needs cmake to build"
    )]
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?;
    let config = match address.tls {
        Tls::VerifyFull => {
            let roots = roots(address.root_file.as_deref()).map_err(failed)?;
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Tls::Disable | Tls::Prefer | Tls::Require => {
            let anybody = Arc::new(Anybody(provider));
            builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// The certificates of a file, or those that the system trusts.
fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let certificates: Vec<CertificateDer<'static>> = match file {
        None => rustls_native_certs::load_native_certs().certs,
        Some(file) => CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect)
            .map_err(|error| format!("the sslrootcert `{}`: {error}", file.display()))?,
    };
    roots.add_parsable_certificates(certificates);
    if roots.is_empty() {
        return Err("there is no certificate to trust; name a file with sslrootcert".to_owned());
    }
    Ok(roots)
}

/// Encrypts with whomever, which is what `sslmode` `prefer` and `require` mean: it keeps out those
/// who listen, and not those who pretend to be the server.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
