-- The store, format 1. Never edited once released: a change is a new numbered file.
--
-- Instants are whole milliseconds since 1970-01-01T00:00:00Z, lengths are milliseconds; both stand
-- in columns that end in _ms. What is absent is NULL. Checksums are XXH3-64 over the values of the
-- record, names included, as a signed number.
--
-- The tables are kept narrow: a run is a few dozen bytes. Read the views of the next files, or the
-- command's own output, rather than these columns.

-- Versions of the tz database.
CREATE TABLE tzdb (
    id INTEGER PRIMARY KEY,
    version TEXT NOT NULL UNIQUE
) STRICT;

-- Names of workers.
CREATE TABLE worker (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- One row about the store itself.
CREATE TABLE store_info (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    clock INTEGER NOT NULL CHECK (clock IN (0, 1)), -- 0 the machine's, 1 given by hand
    tzdb_id INTEGER NOT NULL REFERENCES tzdb (id),  -- of the last write
    definition_writes INTEGER NOT NULL CHECK (definition_writes >= 0),
        -- how many writes have registered, changed or retired workflows
    last_planned_ms INTEGER,                        -- the latest instant that a turn was kept of
    set_ahead_ms INTEGER,                           -- the latest cursor that was set ahead of its time
    checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE workflow (
    id INTEGER PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE CHECK (length(ref) > 0),
    source TEXT NOT NULL,
    registered_ms INTEGER NOT NULL,
    backfill_limit INTEGER CHECK (backfill_limit > 0), -- NULL: only the latest is caught up
    max_age_ms INTEGER CHECK (max_age_ms >= 0),
    first_run INTEGER NOT NULL CHECK (first_run IN (0, 1)), -- 0 newest, 1 next
    overlap INTEGER NOT NULL CHECK (overlap IN (0, 1, 2)),  -- 0 allow, 1 wait, 2 skip
    max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
    paused_ms INTEGER,        -- since when its scheduled runs are held back
    retired_ms INTEGER,       -- since when its source no longer has it
    pruned_before_ms INTEGER, -- the horizon of what was pruned
    rewound_from_ms INTEGER,  -- where the cursor stood before it was set back
    tz_passed_ms INTEGER,     -- the last occurrence that a new tz database moved behind the cursor
    requested_ms INTEGER,     -- when runs of it were last requested
    checksum INTEGER NOT NULL
) STRICT;

-- How far a workflow has come; changes with every hand-out.
CREATE TABLE progress (
    workflow_id INTEGER PRIMARY KEY REFERENCES workflow (id),
    cursor_ms INTEGER,      -- the last settled occurrence
    cursor_local_ms INTEGER, -- its authored local time when it was settled; NULL: no time zone
    last_handed_ms INTEGER, -- when a scheduled run was last handed out
    last_token INTEGER NOT NULL CHECK (last_token >= 0),
    turn_ms INTEGER,        -- its place in the queue; NULL when nothing is left
    due_ms INTEGER,         -- the due instant of its oldest unsettled occurrence
    checksum INTEGER NOT NULL,
    CHECK ((turn_ms IS NULL) = (due_ms IS NULL))
) STRICT;

-- The workflows that have a turn, in the order of their turns: progress once more, sorted.
CREATE TABLE queue (
    turn_ms INTEGER NOT NULL,
    ref TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    workflow_id INTEGER NOT NULL,
    PRIMARY KEY (turn_ms, ref)
) STRICT, WITHOUT ROWID;

-- Where the turn is not the due instant (a backlog, or a clock that was set back).
CREATE INDEX queue_by_due ON queue (due_ms) WHERE due_ms <> turn_ms;

-- The schedules of a workflow. A revision holds the occurrences after after_ms, up to and
-- including the after_ms of the next one.
CREATE TABLE revision (
    workflow_id INTEGER NOT NULL REFERENCES workflow (id),
    number INTEGER NOT NULL CHECK (number > 0),
    after_ms INTEGER CHECK ((after_ms IS NULL) = (number = 1)), -- NULL: reaches back without end
    schedule TEXT, -- canonical JSON; NULL while the schedule is false
    made_ms INTEGER NOT NULL,
    tzdb_id INTEGER NOT NULL REFERENCES tzdb (id),
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, number)
) STRICT, WITHOUT ROWID;

-- One row per run, with its last attempt. New rows land at the end of the tree.
CREATE TABLE run (
    occurrence_ms INTEGER NOT NULL,
    workflow_id INTEGER NOT NULL REFERENCES workflow (id),
    request_id TEXT NOT NULL, -- empty: caused by the schedule
    due_ms INTEGER,           -- NULL: occurrence_ms + phase_ms
    delay_ms INTEGER NOT NULL, -- from the end of the window to the occurrence
    window_ms INTEGER CHECK (window_ms > 0), -- the length of the window; NULL: interval_ms
    interval_ms INTEGER NOT NULL CHECK (interval_ms >= 0),
    phase_ms INTEGER NOT NULL CHECK (phase_ms >= 0),
    revision INTEGER NOT NULL CHECK (revision > 0),
    tzdb_id INTEGER NOT NULL,
    local_ahead_ms INTEGER NOT NULL, -- the authored local time, read as UTC, minus the occurrence
    resolution INTEGER NOT NULL CHECK (resolution BETWEEN 0 AND 4),
        -- 0 exact, 1 gap_shifted, 2 gap_next, 3 fold_first, 4 fold_last
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 5),
        -- 0 pending, 1 claimed, 2 succeeded, 3 failed, 4 abandoned, 5 cancelled
    available_ms INTEGER,       -- pending: not before; claimed: expiry of the lease; else NULL
    attempts INTEGER NOT NULL CHECK (attempts >= 0), -- handed out, and counted
    attempt INTEGER CHECK (attempt > 0), -- the number of the last attempt; NULL before the first
    token INTEGER,
    worker_id INTEGER,
    claimed_ms INTEGER,
    ended_ms INTEGER,
    outcome INTEGER CHECK (outcome BETWEEN 0 AND 3), -- 0 succeeded, 1 failed, 2 released, 3 expired
    error TEXT,
    output TEXT,                -- JSON
    checksum INTEGER NOT NULL,
    PRIMARY KEY (occurrence_ms, workflow_id, request_id),
    CHECK ((available_ms IS NULL) = (state > 1)),
    CHECK ((token IS NULL) = (attempt IS NULL)),
    CHECK ((worker_id IS NULL) = (attempt IS NULL)),
    CHECK ((claimed_ms IS NULL) = (attempt IS NULL)),
    CHECK ((outcome IS NULL) = (ended_ms IS NULL)),
    CHECK (attempt IS NOT NULL OR (outcome IS NULL AND error IS NULL)),
    CHECK (CASE state
        WHEN 1 THEN attempt IS NOT NULL AND outcome IS NULL
        WHEN 2 THEN outcome IS 0
        WHEN 3 THEN outcome IS 1
        WHEN 4 THEN outcome IS 3
        ELSE attempt IS NULL OR outcome IN (1, 2, 3)
    END)
) STRICT, WITHOUT ROWID;

-- The runs that can still be handed out, in that order: run once more, sorted.
CREATE TABLE open_run (
    state INTEGER NOT NULL CHECK (state IN (0, 1)),
    available_ms INTEGER NOT NULL,
    ref TEXT NOT NULL,
    occurrence_ms INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    workflow_id INTEGER NOT NULL,
    PRIMARY KEY (state, available_ms, ref, occurrence_ms, request_id)
) STRICT, WITHOUT ROWID;

-- Attempts before the last one.
CREATE TABLE attempt (
    occurrence_ms INTEGER NOT NULL,
    workflow_id INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    worker_id INTEGER NOT NULL,
    claimed_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3), -- as in run
    error TEXT,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (occurrence_ms, workflow_id, request_id, token),
    FOREIGN KEY (occurrence_ms, workflow_id, request_id)
        REFERENCES run (occurrence_ms, workflow_id, request_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Occurrences that were settled without a run, one row per range.
CREATE TABLE skip (
    id INTEGER PRIMARY KEY,
    workflow_id INTEGER NOT NULL REFERENCES workflow (id),
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    reason INTEGER NOT NULL CHECK (reason >= 0),
        -- 0 first_run, 1 superseded, 2 beyond_limit, 3 too_old, 4 overlap, 5 paused, 6 retired,
        -- 7 tz_change, 8 tz_passed, 9 cursor_set
    skipped_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL CHECK (revision > 0),
    tzdb_id INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    CHECK (first_ms <= last_ms)
) STRICT;

CREATE INDEX skip_by_first ON skip (first_ms, workflow_id);
CREATE INDEX skip_by_workflow ON skip (workflow_id, last_ms);

-- Times during which the scheduled runs of a workflow were held back.
CREATE TABLE pause (
    workflow_id INTEGER NOT NULL REFERENCES workflow (id),
    from_ms INTEGER NOT NULL,
    to_ms INTEGER, -- NULL while it lasts
    paused_by TEXT,
    reason TEXT,
    resumed INTEGER CHECK (resumed IN (0, 1)), -- 0 catch-up, 1 drop; NULL while it lasts
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, from_ms),
    CHECK ((to_ms IS NULL) = (resumed IS NULL))
) STRICT, WITHOUT ROWID;

-- Requests for runs, kept for ever, so that asking again changes nothing.
CREATE TABLE request (
    workflow_id INTEGER NOT NULL REFERENCES workflow (id),
    request_id TEXT NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
    arguments TEXT NOT NULL, -- canonical JSON
    made_ms INTEGER NOT NULL,
    made_by TEXT,
    reason TEXT,
    answer TEXT NOT NULL,    -- JSON: where its runs lie, and what was left out
    pruned TEXT NOT NULL,    -- JSON: the occurrences of its pruned runs, in milliseconds
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, request_id)
) STRICT, WITHOUT ROWID;
