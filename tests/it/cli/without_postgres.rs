//! A build without PostgreSQL says so, and tells nobody the password.

use super::shell;

#[test]
fn an_address_of_a_server_is_refused_without_its_secret() {
    let folder = tempfile::tempdir().unwrap();
    let line = "windowpane list --db postgres://user:secret@host/db --format json";
    let output = shell(folder.path(), line).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "{\"code\":\"no_postgres\",\"message\":\"this build has no PostgreSQL\",\
         \"hint\":\"install it with `--features postgres`, or name a SQLite file\"}\n"
    );
}
