//! A server of a test's own, to be set up, stopped and started as it likes.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// A server with data of its own, stopped and removed with it.
pub(crate) struct Cluster {
    binaries: String,
    home: TempDir,
    port: u16,
}

impl Cluster {
    /// Starts a new server with some lines of configuration; `None` where there is no server for
    /// tests either.
    pub(crate) fn start(configuration: &str) -> Option<Cluster> {
        // Says so where there is none.
        super::scratch()?;
        let binaries = crate::setting("WINDOWPANE_TEST_POSTGRES_BIN")?;
        let cluster = Cluster::in_a_new_place(binaries);
        let data = cluster.data();
        let flags = ["-U", "windowpane", "--auth=trust", "--encoding=UTF8", "--no-sync"];
        cluster.run("initdb", &[&["-D", &data, "--locale=C.UTF-8"], &flags[..]].concat());
        cluster.configure(configuration);
        cluster.listen();
        Some(cluster)
    }

    /// A server that follows this one, and lets its data be read only.
    pub(crate) fn replica(&self) -> Cluster {
        let replica = Cluster::in_a_new_place(self.binaries.clone());
        let (port, data) = (self.port.to_string(), replica.data());
        let from = ["-h", "127.0.0.1", "-p", &port, "-U", "windowpane", "-D", &data];
        replica.run("pg_basebackup", &[&from[..], &["-R", "-c", "fast", "--no-sync"]].concat());
        replica.listen();
        replica
    }

    fn in_a_new_place(binaries: String) -> Cluster {
        let cluster = Cluster { binaries, home: tempfile::tempdir().unwrap(), port: free_port() };
        cluster.give_away();
        cluster
    }

    /// Starts for the first time.
    fn listen(&self) {
        self.configure(&format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{}'",
            self.port,
            self.home.path().display(),
        ));
        self.start_again();
    }

    /// Adds lines to the configuration; they hold from the next start on.
    pub(crate) fn configure(&self, lines: &str) {
        let path = self.home.path().join("data/postgresql.conf");
        fs::write(&path, fs::read_to_string(&path).unwrap() + "\n" + lines + "\n").unwrap();
    }

    /// Writes a file beside the data that only the server can read.
    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.home.path().join("data").join(name), content).unwrap();
        self.give_away();
    }

    /// Lets nobody but the server read a file beside its data, as it wants of its key.
    pub(crate) fn protect(&self, name: &str) {
        let path = self.home.path().join("data").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn start_again(&self) {
        let log = self.home.path().join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-s", "-l", &log, "start"]);
    }

    /// Stops it as a loss of power would: nothing is finished.
    pub(crate) fn kill(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-s", "-m", "immediate", "stop"]);
    }

    /// `HOST:PORT`.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address of a store, as a user sees it.
    pub(crate) fn url(&self, user: &str, parameters: &str) -> String {
        format!("postgres://{user}@{}/postgres?{parameters}", self.address())
    }

    pub(crate) fn execute(&self, sql: &str) {
        let url = self.url("windowpane", "sslmode=disable");
        Client::connect(&url, NoTls).unwrap().batch_execute(sql).unwrap();
    }

    fn data(&self) -> String {
        self.home.path().join("data").display().to_string()
    }

    /// The server does not run as root, so its files belong to somebody else then.
    fn give_away(&self) {
        if is_root() {
            let home = self.home.path();
            let done = Command::new("chown").args(["-R", "postgres"]).arg(home).status().unwrap();
            assert!(done.success());
        }
    }

    #[track_caller]
    fn run(&self, program: &str, args: &[&str]) {
        let output = self.output(program, args);
        let log = fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}\n{log}");
    }

    fn output(&self, program: &str, args: &[&str]) -> Output {
        let program = Path::new(&self.binaries).join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.args(args).current_dir("/").output().unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may be stopped already.
        let _ = self.output("pg_ctl", &["-D", &self.data(), "-s", "-m", "immediate", "stop"]);
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A port below those that the system hands to clients: while the server is down, one of those
/// could be taken by a client that tries to reach it.
fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(20_000..32_000)).find(is_free).unwrap()
}
