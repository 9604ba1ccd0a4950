//! One command as a process group: its start, its end, and what it leaves.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tempfile::{NamedTempFile, TempPath};

use super::output::{self, Output};
use super::tail::Tail;

/// What happens to the runner.
#[derive(Debug)]
pub(super) enum Event {
    /// It was told to stop.
    Stop,
    /// Others have made work due earlier.
    Woken,
    /// The leader of a process has ended; it is not reaped yet.
    Exited(u64),
    /// Nothing more comes from the stderr of a process.
    Drained(u64, Tail),
}

/// The variable that names the file for the output.
const OUTPUT_VARIABLE: &str = "WINDOWPANE_OUTPUT";

/// A command that was started: a shell that leads a process group of its own.
///
/// Its stderr passes through to ours, its stdout too, so that our stdout stays data.
pub(super) struct Process {
    child: Child,
    group: Pid,
    output: TempPath,
    /// Open as long as its stderr is read to the end; then what is there is enough.
    listening: Option<PipeWriter>,
}

impl Process {
    /// Starts `command` under a shell. Its end is reported to `events` as `number`.
    ///
    /// # Errors
    /// The shell, a pipe, a thread or the file for its output cannot be made.
    pub(super) fn start(
        command: &str,
        variables: &[(&str, String)],
        stdin: &str,
        number: u64,
        events: &Sender<Event>,
    ) -> io::Result<Process> {
        let output = NamedTempFile::with_prefix("windowpane-")?.into_temp_path();
        let (heard, listening) = io::pipe()?;
        let mut child = Command::new("sh")
            .args(["-c", command])
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env(OUTPUT_VARIABLE, &output)
            .stdin(Stdio::piped())
            .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?))
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let stderr = child.stderr.take();
        give(child.stdin.take(), stdin);
        let process = Process { child, group, output, listening: Some(listening) };
        match process.watch(stderr, heard, number, events) {
            Ok(()) => Ok(process),
            Err(error) => {
                process.abort();
                Err(error)
            }
        }
    }

    /// Reports to `events` when the leader ends and when its stderr does.
    fn watch(
        &self,
        stderr: Option<ChildStderr>,
        heard: PipeReader,
        number: u64,
        events: &Sender<Event>,
    ) -> io::Result<()> {
        let (reader, waiter, group) = (events.clone(), events.clone(), self.group);
        // A runner that has gone needs no report.
        thread::Builder::new().spawn(move || {
            let tail = stderr.map_or_else(Tail::default, |stderr| pass_through(stderr, &heard));
            let _ = reader.send(Event::Drained(number, tail));
        })?;
        thread::Builder::new().spawn(move || {
            wait_without_reaping(group);
            let _ = waiter.send(Event::Exited(number));
        })?;
        Ok(())
    }

    /// Asks the group to end.
    pub(super) fn ask_to_end(&self) {
        // A group that has ended needs no asking.
        let _ = kill_process_group(self.group, Signal::TERM);
    }

    /// Ends what is left of the group, and stops listening to what escaped from it.
    pub(super) fn end(&mut self) {
        let _ = kill_process_group(self.group, Signal::KILL);
        self.listening = None;
    }

    /// Takes leave of a process whose leader has ended.
    ///
    /// # Errors
    /// Its status cannot be had.
    pub(super) fn reap(mut self) -> io::Result<(ExitStatus, Output)> {
        let status = self.child.wait()?;
        Ok((status, output::read(&self.output)))
    }

    /// Ends the group at once and forgets it.
    pub(super) fn abort(mut self) {
        self.end();
        let _ = self.child.wait();
    }
}

/// Writes what fits into any pipe. A command that does not read it may do so.
fn give(stdin: Option<impl Write>, text: &str) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(text.as_bytes());
    }
}

/// Waits until a process has ended. It stays as a zombie, so that its number, which names the
/// group too, cannot pass to another before the runner is done with it.
fn wait_without_reaping(process: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(process), options), Err(rustix::io::Errno::INTR)) {}
}

/// How much is still read of a stderr that somebody holds open past the end of the command: as
/// much as a pipe holds.
const LEFTOVER_BYTES: usize = 64 * 1024;

/// Passes a stderr through to ours and keeps its tail, to its end, or, once the other end of
/// `heard` is closed, as far as it has come.
fn pass_through(mut stderr: ChildStderr, heard: &PipeReader) -> Tail {
    let mut tail = Tail::default();
    let mut piece = [0; 8 * 1024];
    let mut left = LEFTOVER_BYTES;
    loop {
        let (is_readable, is_over) = wait_for_either(&stderr, heard);
        if !is_readable || (is_over && left == 0) {
            return tail;
        }
        let length = match stderr.read(&mut piece) {
            Ok(0) => return tail,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return tail,
        };
        if is_over {
            left = left.saturating_sub(length);
        }
        let _ = io::stderr().write_all(&piece[..length]);
        tail.push(&piece[..length]);
    }
}

/// Waits until there is something to read or nobody listens any more; tells which.
fn wait_for_either(stderr: &ChildStderr, heard: &PipeReader) -> (bool, bool) {
    let mut ends = [PollFd::new(stderr, PollFlags::IN), PollFd::new(heard, PollFlags::IN)];
    while poll(&mut ends, None) == Err(rustix::io::Errno::INTR) {}
    (!ends[0].revents().is_empty(), !ends[1].revents().is_empty())
}
