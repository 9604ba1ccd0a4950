//! Listens for what other writers notify, on a connection of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use crate::store::StoreError;
use crate::store::backoff::Backoff;
use crate::store::wakeups::{Wake, Wakeups};

use super::fault::Fault;
use super::open::{self, Server};

/// How often a listener looks whether it is still wanted.
const LOOK_UP: Duration = Duration::from_secs(1);

const FIRST_WAIT_MS: u64 = 200;

/// Starts to listen; `None` where no thread can be started.
pub(super) fn listen(server: Server, wake: Wake) -> Option<Wakeups> {
    let (wakeups, is_over) = Wakeups::new();
    let listen = move || go_on(&server, &*wake, &is_over);
    thread::Builder::new().name("listener".to_owned()).spawn(listen).ok()?;
    Some(wakeups)
}

/// Listens until it is over, over a new connection whenever one is lost.
fn go_on(server: &Server, wake: &dyn Fn(), is_over: &AtomicBool) {
    let begin = || Backoff::new(FIRST_WAIT_MS, u32::MAX);
    let mut backoff = begin();
    while !is_over.load(Ordering::Relaxed) {
        if let Ok(mut client) = connect(server) {
            backoff = begin();
            // What was notified before this is not heard.
            wake();
            hear(server, &mut client, wake, is_over);
        }
        match (server.options.wait, backoff.next()) {
            (Some(wait), Some(span)) => wait(span),
            // Whoever listens looks again by itself now and then.
            _ => return,
        }
    }
}

fn connect(server: &Server) -> Result<Client, StoreError> {
    let mut client = open::connect(server)?;
    let listens = client.batch_execute("LISTEN windowpane");
    listens.map_err(|error| Fault::of_server(&server.address.name, &error))?;
    Ok(client)
}

/// Returns when the connection is lost, or listening is over.
fn hear(server: &Server, client: &mut Client, wake: &dyn Fn(), is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) && !client.is_closed() {
        match client.notifications().timeout_iter(LOOK_UP).next() {
            // The channel is that of the database; its other schemas are other stores.
            Ok(Some(heard)) if heard.payload() == server.address.schema => wake(),
            Ok(_) => {}
            Err(_) => return,
        }
    }
}
