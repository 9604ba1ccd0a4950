//! What the server undoes because others were in the way is tried again.

use std::sync::mpsc;
use std::thread;

use postgres::Client;

use windowpane::clock::{FixedClock, wait_for};
use windowpane::engine::{self, Held};
use windowpane::store::Store;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::postgres::PostgresStore;
use windowpane::store::record::{RunFilter, RunState};

use crate::store_suite::sample::{claimed, minute, with_workflows, write};

use super::{Scratch, scratch};

fn done() -> Finish {
    Finish { verdict: Verdict::Succeeded, error: None, output: None }
}

/// A store in which one worker holds a run of each of two workflows.
fn with_two_claims(scratch: &Scratch) -> [(Held, Finish); 2] {
    let mut store = scratch.open();
    with_workflows(&mut store);
    let runs = [claimed("alpha", 5, 6, 1), claimed("Zeta", 5, 6, 1)];
    write(&mut store, |t| t.insert_runs(&runs)).unwrap();
    runs.map(|run| (Held { id: run.id(), token: 1 }, done()))
}

fn states(store: &mut dyn Store) -> Vec<RunState> {
    let runs = store.begin_read().unwrap().runs(&RunFilter::default()).unwrap();
    runs.into_iter().map(|run| run.state).collect()
}

/// Makes the next so many changes of a run fail as a serialization failure does.
fn fail_to_serialize(scratch: &Scratch, times: u32) {
    scratch.execute(&format!(
        "CREATE SEQUENCE failures;
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('{schema}.failures') <= {times} THEN
                RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail BEFORE UPDATE ON run FOR EACH STATEMENT EXECUTE FUNCTION fail();",
        schema = scratch.name(),
    ));
}

#[test]
fn serialization_failures_are_tried_again() {
    let Some(scratch) = scratch() else { return };
    let ends = with_two_claims(&scratch);
    fail_to_serialize(&scratch, 3);
    let mut store = scratch.open();
    engine::finish_all(&mut store, &FixedClock(minute(7)), &ends).unwrap();
    assert_eq!(states(&mut store), [RunState::Succeeded, RunState::Succeeded]);
}

#[test]
fn serialization_failures_without_end_are_told() {
    let Some(scratch) = scratch() else { return };
    let ends = with_two_claims(&scratch);
    fail_to_serialize(&scratch, u32::MAX);
    let mut store = scratch.open();
    let error = engine::finish_all(&mut store, &FixedClock(minute(7)), &ends).unwrap_err();
    assert_eq!(error.code(), "rolled_back", "{error}");
    assert!(error.hint().is_some());
    assert_eq!(states(&mut store), [RunState::Claimed, RunState::Claimed]);
}

/// Waits until a session of the role waits for a lock.
fn wait_for_waiter(client: &mut Client, role: &str) {
    let select = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1
        AND wait_event_type = 'Lock'";
    while client.query_one(select, &[&role]).unwrap().get::<_, i64>(0) == 0 {
        wait_for(std::time::Duration::from_millis(5));
    }
}

/// One session holds the second workflow and wants the first; the store takes them in the order of
/// their names. The store looks for a deadlock sooner, so it is the one that is undone.
#[test]
fn a_deadlock_is_tried_again() {
    let Some(scratch) = scratch() else { return };
    let ends = with_two_claims(&scratch);
    let role = format!("{}_deadlocked", scratch.name());
    scratch.execute(&format!(
        "CREATE ROLE {role} LOGIN SUPERUSER; ALTER ROLE {role} SET deadlock_timeout = '2s'"
    ));
    let mut other = scratch.client();
    other.batch_execute("SET deadlock_timeout = '1h'; BEGIN").unwrap();
    other.execute("SELECT FROM progress WHERE ref = 'alpha' FOR UPDATE", &[]).unwrap();
    let url = scratch.url_of(&role);
    let (tells, told) = mpsc::channel();
    let store = thread::spawn(move || {
        let mut store = PostgresStore::open(&url).unwrap();
        tells.send(()).unwrap();
        engine::finish_all(&mut store, &FixedClock(minute(7)), &ends).map(|runs| runs.len())
    });
    told.recv().unwrap();
    wait_for_waiter(&mut other, &role);
    // It returns only if the store was undone, for nobody else can let go.
    other.execute("SELECT FROM progress WHERE ref = 'Zeta' FOR UPDATE", &[]).unwrap();
    other.batch_execute("COMMIT").unwrap();
    assert_eq!(store.join().unwrap().unwrap(), 2);
    assert_eq!(states(&mut scratch.open()), [RunState::Succeeded, RunState::Succeeded]);
    scratch.execute(&format!("DROP ROLE {role}"));
}
