//! The format of the schema: whose it is, which format it has, and how it gets to the present one.

use postgres::{Client, Transaction};

use crate::store::{Missing, StoreError};

use super::fault::Fault;
use super::url::Address;

/// Each brings the store from the format of its index to the next one.
const MIGRATIONS: &[&str] = &[include_str!("../../../schemas/postgres/0001_records.sql")];

/// The newest format that this program knows.
const NEWEST: i64 = MIGRATIONS.len() as i64;

/// One for all who open a store, so that of ten that start at once one migrates and nine find it
/// done. It is the transaction's, so that it ends with it whatever becomes of the process.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('windowpane format ' || $1, 0))";

const SELECT_SCHEMA: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
const SELECT_OURS: &str = "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace
    ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = 'store_format')";
const SELECT_TABLES: &str = "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace
    ON pg_namespace.oid = relnamespace WHERE nspname = $1)";

/// Finds the store of the address or makes it, in the newest format.
pub(super) fn open(
    client: &mut Client,
    address: &Address,
    missing: Missing,
) -> Result<(), StoreError> {
    let fault = |error: postgres::Error| Fault::of_server(&address.name, &error);
    if version(&mut client.transaction().map_err(fault)?, address)? == Some(NEWEST) {
        return Ok(());
    }
    let mut transaction = client.transaction().map_err(fault)?;
    transaction.execute(LOCK, &[&address.schema]).map_err(fault)?;
    // Another process may have been faster.
    let done = match version(&mut transaction, address)? {
        Some(version) => version,
        None if missing == Missing::Refuse => {
            return Err(StoreError::NoStore { path: address.name.clone() });
        }
        None => {
            make_schema(&mut transaction, address)?;
            0
        }
    };
    for migration in MIGRATIONS.iter().skip(done as usize) {
        transaction.batch_execute(migration).map_err(fault)?;
    }
    let note = "INSERT INTO store_format (id, version) VALUES (1, $1)
        ON CONFLICT (id) DO UPDATE SET version = $1";
    transaction.execute(note, &[&NEWEST]).map_err(fault)?;
    transaction.commit().map_err(fault)
}

/// The format of the store; `None` where there is none and one can be made.
fn version(
    transaction: &mut Transaction<'_>,
    address: &Address,
) -> Result<Option<i64>, StoreError> {
    let fault = |error: postgres::Error| Fault::of_server(&address.name, &error);
    let foreign = |problem: &str| StoreError::Foreign {
        path: address.name.clone(),
        problem: problem.to_owned(),
    };
    let mut holds = |sql: &str| -> Result<bool, StoreError> {
        transaction.query_one(sql, &[&address.schema]).map(|row| row.get(0)).map_err(fault)
    };
    if !holds(SELECT_OURS)? {
        return match holds(SELECT_TABLES)? {
            true => Err(foreign("its schema holds another program's tables")),
            false => Ok(None),
        };
    }
    // With its schema, without which a missing right to it would look like a missing table.
    let select = format!("SELECT version FROM {}.store_format", address.schema);
    let row = transaction.query_opt(&select, &[]).map_err(fault)?;
    let found: i64 = match row {
        None => return Err(foreign("its format is not on record")),
        Some(row) => row.try_get(0).map_err(|_| foreign("its format is no number"))?,
    };
    if found > NEWEST {
        return Err(StoreError::Newer { path: address.name.clone(), found, known: NEWEST });
    }
    Ok(Some(found))
}

/// A schema that is there already may be the only one that the user can write to.
fn make_schema(transaction: &mut Transaction<'_>, address: &Address) -> Result<(), StoreError> {
    let fault = |error: postgres::Error| Fault::of_server(&address.name, &error);
    let row = transaction.query_one(SELECT_SCHEMA, &[&address.schema]).map_err(fault)?;
    if row.get(0) {
        return Ok(());
    }
    // The name was checked: it needs no quotes.
    transaction.batch_execute(&format!("CREATE SCHEMA {}", address.schema)).map_err(fault)
}
