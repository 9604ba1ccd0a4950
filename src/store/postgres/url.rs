//! Addresses: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE`.

use std::path::PathBuf;
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::store::StoreError;

/// The schema of a store whose address names none.
const DEFAULT_SCHEMA: &str = "windowpane";

/// The longest name of a schema, in bytes.
const SCHEMA_AT_MOST: usize = 63;

/// How long to wait for a server that does not answer, unless the address says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// After so long without a word a server is asked whether it is still there.
const KEEPALIVES_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVES_RETRIES: u32 = 3;

/// What was sent and is not acknowledged for so long was sent into the void.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// How far a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tls {
    /// Not at all.
    Disable,
    /// Encrypted, where the server can.
    Prefer,
    /// Encrypted, with whomever.
    Require,
    /// Encrypted, with a server whose certificate is valid for the host's name.
    VerifyFull,
}

/// An address, read.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The certificates to trust; without it those that the system trusts.
    pub(super) root_file: Option<PathBuf>,
    pub(super) schema: String,
    /// The address without user and password, to be shown.
    pub(super) name: String,
}

impl Address {
    /// Reads an address. No error shows any part of it that may be secret.
    pub(super) fn parse(url: &str) -> Result<Address, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        // A `?` in a password that is not written as %3F makes its rest look like parameters.
        let is_whole = !query.contains('@');
        let mut kept = Vec::new();
        let (mut tls, mut root_file, mut schema) = (Tls::Prefer, None, DEFAULT_SCHEMA.to_owned());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match key {
                "schema" => schema = checked_schema(value)?,
                "sslmode" => tls = Tls::parse(value)?,
                "sslrootcert" => root_file = Some(PathBuf::from(value)),
                "application_name"
                | "connect_timeout"
                | "target_session_attrs"
                | "host"
                | "port"
                | "user"
                | "password"
                | "dbname" => kept.push(parameter),
                _ if is_whole => {
                    return Err(bad(format!(
                        "it has a parameter `{}`; known are schema, sslmode, sslrootcert, \
                         application_name, connect_timeout and target_session_attrs",
                        key.escape_debug()
                    )));
                }
                _ => return Err(bad("there is an `@` behind its `?`".to_owned())),
            }
        }
        let plain =
            if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        let mut config: Config = plain.parse().map_err(|error: postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            // Only the name of what is wrong is repeated, never its value.
            bad(cause
                .filter(|cause| cause.starts_with("invalid value for option"))
                .unwrap_or_else(|| "its parts cannot be told from each other".to_owned()))
        })?;
        if config.get_hosts().is_empty() {
            return Err(bad("it names no host".to_owned()));
        }
        if config.get_user().is_none() {
            return Err(bad("it names no user".to_owned()));
        }
        set_up(&mut config, tls);
        let name = shown(&config, &schema);
        Ok(Address { config, tls, root_file, schema, name })
    }
}

impl Tls {
    fn parse(word: &str) -> Result<Tls, StoreError> {
        match word {
            "disable" => Ok(Tls::Disable),
            "prefer" => Ok(Tls::Prefer),
            "require" => Ok(Tls::Require),
            "verify-full" => Ok(Tls::VerifyFull),
            other => Err(bad(format!(
                "sslmode `{}` is not one of disable, prefer, require and verify-full",
                other.escape_debug()
            ))),
        }
    }
}

fn set_up(config: &mut Config, tls: Tls) {
    config.ssl_mode(match tls {
        Tls::Disable => SslMode::Disable,
        Tls::Prefer => SslMode::Prefer,
        Tls::Require | Tls::VerifyFull => SslMode::Require,
    });
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("windowpane");
    }
    config.keepalives_idle(KEEPALIVES_IDLE);
    config.keepalives_interval(KEEPALIVES_INTERVAL);
    config.keepalives_retries(KEEPALIVES_RETRIES);
    config.tcp_user_timeout(TCP_USER_TIMEOUT);
}

/// A name that needs no quotes means the same in every tool.
fn checked_schema(name: &str) -> Result<String, StoreError> {
    let is_letter = |char: char| char.is_ascii_lowercase() || char == '_';
    let is_known = |char: char| is_letter(char) || char.is_ascii_digit();
    let is_name = name.starts_with(is_letter) && name.chars().all(is_known);
    if is_name && name.len() <= SCHEMA_AT_MOST && !name.starts_with("pg_") {
        return Ok(name.to_owned());
    }
    Err(bad(format!(
        "`{}` is no name for a schema: 1 to 63 of a-z 0-9 _, no digit first, and not pg_…",
        name.escape_debug()
    )))
}

fn shown(config: &Config, schema: &str) -> String {
    let host = match &config.get_hosts()[0] {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{host}:{port}/{database}?schema={schema}")
}

fn bad(problem: String) -> StoreError {
    StoreError::BadAddress { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(url: &str, problem: &str) {
        let error = Address::parse(url).err().unwrap_or_else(|| panic!("`{url}` is taken"));
        let text = error.to_string();
        assert!(text.contains(problem), "`{url}`: {text}");
        assert!(!text.contains("secret"), "`{url}` tells its secret: {text}");
    }

    #[test]
    fn an_address_is_read_and_shown_without_its_secret() {
        let address = Address::parse(
            "postgres://me:se%40cret@db.example:5433/runs?schema=night&sslmode=verify-full",
        )
        .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(address.name, "postgres://db.example:5433/runs?schema=night");
        assert_eq!(address.schema, "night");
        assert_eq!(address.tls, Tls::VerifyFull);
        assert_eq!(address.config.get_password(), Some("se@cret".as_bytes()));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn what_is_wrong_with_an_address_is_told_without_its_secret() {
        let base = "postgres://me:secret@db/runs";
        check_refused(&format!("{base}?sslmode=verify-ca"), "sslmode `verify-ca` is not one of");
        check_refused(&format!("{base}?sslmode=allow"), "disable, prefer, require and verify-full");
        check_refused(&format!("{base}?schema=Night"), "`Night` is no name for a schema");
        check_refused(&format!("{base}?schema="), "`` is no name for a schema");
        check_refused(&format!("{base}?schema=pg_x"), "`pg_x` is no name");
        check_refused(&format!("{base}?shema=x"), "parameter `shema`");
        check_refused("postgres://me:a?secret@db/runs", "an `@` behind its `?`");
        check_refused("postgres://me:secret@db:port/runs", "port");
        check_refused("postgres://me:secret@/runs", "no host");
        check_refused("postgres://db/runs", "no user");
    }
}
