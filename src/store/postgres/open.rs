//! Connecting: refuse a server that cannot carry a store, then set the session up.

use postgres::{Client, NoTls};

use crate::store::StoreError;

use super::Options;
use super::fault::Fault;
use super::tls;
use super::url::{Address, Tls};

/// Where a server is, and how it is used.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) address: Address,
    pub(super) options: Options,
}

/// The oldest server that is known to carry a store.
const SERVER_AT_LEAST: i32 = 140_000;

/// A transaction whose process has stopped without a word holds nothing longer than this.
const IDLE_IN_TRANSACTION_MS: u32 = 60_000;

/// Connects to the server, and makes the session one of this store.
pub(super) fn connect(server: &Server) -> Result<Client, StoreError> {
    let Server { address, options } = server;
    let fault = |error: postgres::Error| Fault::of_server(&address.name, &error);
    let connected = match address.tls {
        Tls::Disable => address.config.connect(NoTls),
        Tls::Prefer | Tls::Require | Tls::VerifyFull => {
            address.config.connect(tls::connector(address)?)
        }
    };
    let mut client = connected.map_err(fault)?;
    check_server(&mut client, address)?;
    // 0 would mean to wait for ever.
    let lock_timeout_ms = options.busy_timeout_ms.max(1);
    // What was answered is to survive a loss of power, whatever the server does by default.
    let set_up = format!(
        "SET search_path = {}, pg_catalog;
        SET lock_timeout = {lock_timeout_ms};
        SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MS};
        SET client_min_messages = warning;
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off'",
        address.schema
    );
    client.batch_execute(&set_up).map_err(fault)?;
    Ok(client)
}

fn check_server(client: &mut Client, address: &Address) -> Result<(), StoreError> {
    let fault = |error: postgres::Error| Fault::of_server(&address.name, &error);
    let unfit =
        |problem: String| Err(StoreError::Unavailable { path: address.name.clone(), problem });
    let select = "SELECT current_setting('server_version_num')::int, getdatabaseencoding()::text";
    let row = client.query_one(select, &[]).map_err(fault)?;
    let (version, encoding): (i32, String) = (row.get(0), row.get(1));
    if version < SERVER_AT_LEAST {
        return unfit(format!("the server is PostgreSQL {}, and 14 is needed", version / 10_000));
    }
    if encoding != "UTF8" {
        return unfit(format!("the encoding of the database is {encoding}, and UTF8 is needed"));
    }
    Ok(())
}
