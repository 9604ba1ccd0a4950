//! A way to the server that can be cut: between any two messages, or for a while.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Where the way is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the server gets a message.
    Before,
    /// After it has answered, before the answer arrives.
    After,
    /// The same, and nothing passes any more.
    ForGood,
}

/// Which message of a client is cut off.
enum Which {
    /// The one after so many others.
    After(usize),
    /// The first that holds a text.
    Holding(&'static str),
}

/// Passes bytes between clients and the server of an address.
pub(crate) struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
}

struct Way {
    server: String,
    cut: Mutex<Option<(Which, Cut)>>,
    is_down: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A way to the server at `HOST:PORT`.
    pub(crate) fn to(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(Way {
            server: server.to_owned(),
            cut: Mutex::new(None),
            is_down: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
        });
        let open = Arc::clone(&way);
        thread::spawn(move || listener.incoming().try_for_each(|client| open.take(client?)));
        Proxy { address, way }
    }

    /// The host and port to connect to.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Lets so many more messages of clients pass, then cuts all connections once.
    pub(crate) fn cut_after(&self, messages: usize, cut: Cut) {
        *self.way.cut.lock().unwrap() = Some((Which::After(messages), cut));
    }

    /// Cuts all connections once a message holds this text.
    pub(crate) fn cut_at(&self, text: &'static str, cut: Cut) {
        *self.way.cut.lock().unwrap() = Some((Which::Holding(text), cut));
    }

    /// Whether the cut that was asked for has not come yet; it will not come any more.
    pub(crate) fn disarm(&self) -> bool {
        self.way.cut.lock().unwrap().take().is_some()
    }

    /// Cuts all connections, and lets none through until it is mended.
    pub(crate) fn take_down(&self) {
        self.way.is_down.store(true, Ordering::SeqCst);
        self.way.cut_all();
    }

    pub(crate) fn mend(&self) {
        self.way.is_down.store(false, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.take_down();
    }
}

impl Way {
    fn take(self: &Arc<Way>, client: TcpStream) -> std::io::Result<()> {
        let Ok(server) = TcpStream::connect(&self.server) else { return Ok(()) };
        self.streams.lock().unwrap().extend([client.try_clone()?, server.try_clone()?]);
        if self.is_down.load(Ordering::SeqCst) {
            self.cut_all();
            return Ok(());
        }
        let swallows = Arc::new(AtomicBool::new(false));
        let (back, to, from) = (Arc::clone(self), client.try_clone()?, server.try_clone()?);
        let hears = Arc::clone(&swallows);
        thread::spawn(move || pass(from, to, |_| !hears.load(Ordering::SeqCst), &back));
        let forth = Arc::clone(self);
        thread::spawn(move || {
            pass(client, server, |piece| forth.lets_pass(piece, &swallows), &forth);
        });
        Ok(())
    }

    /// Whether a message passes; after some, the answer does not.
    fn lets_pass(&self, message: &[u8], swallows: &AtomicBool) -> bool {
        let mut place = self.cut.lock().unwrap();
        let Some((which, cut)) = &mut *place else { return true };
        let is_here = match which {
            Which::After(0) => true,
            Which::After(left) => {
                *left -= 1;
                false
            }
            Which::Holding(text) => message.windows(text.len()).any(|part| part == text.as_bytes()),
        };
        if !is_here {
            return true;
        }
        let cut = *cut;
        *place = None;
        self.is_down.fetch_or(cut == Cut::ForGood, Ordering::SeqCst);
        swallows.store(true, Ordering::SeqCst);
        cut != Cut::Before
    }

    fn cut_all(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Passes on what comes from one end to the other, until one of them ends or something may not pass.
fn pass(mut from: TcpStream, mut to: TcpStream, passes: impl Fn(&[u8]) -> bool, way: &Way) {
    let mut piece = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if !passes(&piece[..length]) {
            way.cut_all();
            return;
        }
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
