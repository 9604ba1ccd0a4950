//! What a server may refuse: a clear error that names what to do, exit status 2, and no secret.

use std::process::Command;

use windowpane::store::Store;
use windowpane::store::postgres::PostgresStore;

use crate::cli::{output, shell};

use super::cluster::Cluster;
use super::{Scratch, scratch};

/// The password of every role here.
const SECRET: &str = "s3cret-w0rd";

/// Checks how a command on the store at `url` fails: its code, and words of its message and hint.
#[track_caller]
fn check(command: &str, url: &str, code: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("windowpane {command} --db '{url}' --format json");
    let output = shell(folder.path(), &line).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    assert!(said.contains(&format!("\"code\":\"{code}\"")), "{line}: {said}");
    assert!(said.contains("\"hint\":\""), "{line} says nothing of what to do: {said}");
    for word in words {
        assert!(said.contains(word), "{line} does not say {word}: {said}");
    }
    assert!(!said.contains(SECRET), "{line} tells a secret: {said}");
}

/// A role of the test's own, dropped with it.
struct Role<'s> {
    scratch: &'s Scratch,
    name: String,
}

impl<'s> Role<'s> {
    fn new(scratch: &'s Scratch, suffix: &str) -> Role<'s> {
        let name = format!("{}_{suffix}", scratch.name());
        scratch.execute(&format!("CREATE ROLE {name} LOGIN"));
        Role { scratch, name }
    }

    fn url(&self) -> String {
        self.scratch.url_of(&format!("{}:{SECRET}", self.name))
    }
}

impl Drop for Role<'_> {
    fn drop(&mut self) {
        self.scratch.execute(&format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name));
    }
}

#[test]
fn a_missing_right_is_told_with_the_grant_that_it_takes() {
    let Some(scratch) = scratch() else { return };
    let role = Role::new(&scratch, "guest");
    check(
        "run $EXAMPLES --once --exec true",
        &role.url(),
        "right_denied",
        &["permission denied", "GRANT"],
    );
    scratch.open();
    check("list", &role.url(), "right_denied", &["permission denied", "GRANT"]);
}

#[test]
fn a_server_that_only_lets_read_is_told_as_such_and_read() {
    let Some(scratch) = scratch() else { return };
    let role = Role::new(&scratch, "reader");
    scratch.open();
    scratch.execute(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role};
        GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role};
        ALTER ROLE {role} SET default_transaction_read_only = on",
        schema = scratch.name(),
        role = role.name,
    ));
    check("sync $EXAMPLES", &role.url(), "read_only_server", &["read-only transaction", "primary"]);
    let folder = tempfile::tempdir().unwrap();
    let listed = output(folder.path(), &format!("windowpane list --db '{}'", role.url()));
    assert_eq!(listed, "");
}

#[test]
fn a_replica_is_told_as_such_and_read() {
    let Some(cluster) = Cluster::start("") else { return };
    let folder = tempfile::tempdir().unwrap();
    let primary = cluster.url("windowpane", "sslmode=disable");
    let rows = |command: &str, url: &str| {
        output(folder.path(), &format!("windowpane {command} --db '{url}' --now 2026-01-01"))
    };
    rows("sync $EXAMPLES", &primary);
    let replica = cluster.replica();
    let url = replica.url(&format!("windowpane:{SECRET}"), "sslmode=disable");
    for command in
        ["claim --worker w --now 2026-01-02", "pause slo/checkout-availability --now 2026-01-02"]
    {
        check(command, &url, "read_only_server", &["read-only", "primary"]);
    }
    assert_eq!(rows("list", &url), rows("list", &primary));
}

#[test]
fn a_newer_schema_is_left_alone() {
    let Some(scratch) = scratch() else { return };
    scratch.open();
    scratch.execute("UPDATE store_format SET version = 99");
    check("list", &scratch.url(), "newer_store", &["store format 99", "at least as new"]);
    check("sync $EXAMPLES", &scratch.url(), "newer_store", &["store format 99"]);
}

#[test]
fn a_schema_of_another_program_is_left_alone() {
    let Some(scratch) = scratch() else { return };
    scratch
        .execute(&format!("CREATE SCHEMA {0}; CREATE TABLE {0}.orders (id int)", scratch.name()));
    check("sync $EXAMPLES", &scratch.url(), "not_a_store", &["another program's tables", "schema"]);
}

#[test]
fn a_database_that_is_not_there_and_a_server_that_is_away_are_told() {
    let Some(scratch) = scratch() else { return };
    let elsewhere = scratch.url().replace("/postgres?", "/nowhere?");
    check("list", &elsewhere, "login_refused", &["nowhere", "does not exist"]);
    // Nobody listens at port 1.
    check("list", &scratch.url_by("127.0.0.1:1"), "store_unreachable", &["refused", "server runs"]);
}

#[test]
fn a_wrong_password_is_told_and_no_password_shown() {
    let Some(cluster) = Cluster::start("password_encryption = 'scram-sha-256'") else { return };
    cluster.execute(&format!("CREATE ROLE keeper LOGIN SUPERUSER PASSWORD '{SECRET}'"));
    cluster
        .write("pg_hba.conf", b"host all windowpane all trust\nhost all all all scram-sha-256\n");
    cluster.execute("SELECT pg_reload_conf()");
    let wrong = cluster.url(&format!("keeper:{SECRET}x"), "sslmode=disable");
    let words = ["password authentication failed", "check the user, the password"];
    check("list", &wrong, "login_refused", &words);
    let none = cluster.url("keeper", "sslmode=disable");
    check("list", &none, "login_refused", &["password"]);
    PostgresStore::open(&cluster.url(&format!("keeper:{SECRET}"), "sslmode=disable")).unwrap();
}

#[test]
fn a_server_with_too_many_connections_is_told_and_the_store_goes_on_once_there_is_room() {
    let settings = "max_connections = 4\nsuperuser_reserved_connections = 1";
    let Some(cluster) = Cluster::start(settings) else { return };
    cluster.execute("CREATE ROLE worker LOGIN; GRANT CREATE ON DATABASE postgres TO worker");
    let url = cluster.url("worker", "sslmode=disable");
    let mut stores: Vec<_> = (0..3).map(|_| PostgresStore::open(&url).unwrap()).collect();
    check("list", &url, "too_many_connections", &["connections", "max_connections"]);
    let error = PostgresStore::open(&url).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    stores.pop();
    // The server notices that a client has left a little later.
    let open = || PostgresStore::open(&url);
    let mut store = std::iter::repeat_with(open).find_map(Result::ok).unwrap();
    assert!(store.begin_write().is_ok());
}

/// Makes a certificate for `127.0.0.1` that vouches for itself: the certificate and its key.
fn certificate() -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key", "-out", "certificate"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name| std::fs::read(folder.path().join(name)).unwrap();
    (read("certificate"), read("key"))
}

#[test]
fn connections_are_as_protected_as_the_address_says() {
    let Some(cluster) = Cluster::start("") else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.pem");
    let (certificate, key) = certificate();
    std::fs::write(&root, &certificate).unwrap();
    let root = format!("sslrootcert={}", root.display());
    let is_encrypted = |parameters: &str| {
        let mut store = PostgresStore::open(&cluster.url("windowpane", parameters)).unwrap();
        store.begin_read().unwrap();
        let select = "SELECT string_agg(ssl::text, ' ') FROM pg_stat_ssl JOIN pg_stat_activity
            USING (pid) WHERE application_name = 'windowpane'";
        let url = cluster.url("windowpane", "sslmode=disable");
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.query_one(select, &[]).unwrap().get::<_, String>(0)
    };

    let url = |parameters: &str| cluster.url(&format!("windowpane:{SECRET}"), parameters);
    assert_eq!(is_encrypted("sslmode=prefer"), "false", "the server cannot");
    check("list", &url("sslmode=require"), "unprotected", &["does not support TLS", "ssl in"]);

    cluster.write("server.crt", &certificate);
    cluster.write("server.key", &key);
    cluster.protect("server.key");
    cluster.configure("ssl = on");
    cluster.kill();
    cluster.start_again();
    assert_eq!(is_encrypted("sslmode=disable"), "false");
    assert_eq!(is_encrypted("sslmode=prefer"), "true");
    assert_eq!(is_encrypted("sslmode=require"), "true");
    assert_eq!(is_encrypted(&format!("sslmode=verify-full&{root}")), "true");
    check("list", &url("sslmode=verify-full"), "unprotected", &["certificate", "sslrootcert"]);
    let by_name = url(&format!("sslmode=verify-full&{root}")).replace("127.0.0.1", "localhost");
    check("list", &by_name, "unprotected", &["not valid for name", "host's name"]);
    for refused in ["allow", "verify-ca"] {
        let words = [refused, "disable, prefer, require and verify-full"];
        check("list", &url(&format!("sslmode={refused}")), "bad_address", &words);
    }
}
