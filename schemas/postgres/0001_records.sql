-- The store, format 1. Never edited once released: a change is a new numbered file.
--
-- Instants are whole milliseconds since 1970-01-01T00:00:00Z, lengths are milliseconds; both stand
-- in columns that end in _ms. What is absent is NULL. Checksums are XXH3-64 over the values of the
-- record, names included, as a signed number: the same record has the same one in every store.
--
-- Names are ordered bytewise, whatever the locale of the database.

-- The number of the newest file that was carried out here.
CREATE TABLE store_format (
    id bigint PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL CHECK (version > 0)
);

-- Row 0 is about the store itself. Claims that are made at the same time note in rows of their own
-- how far they have planned, so that none waits for another: the latest of all rows counts.
CREATE TABLE store_info (
    id bigint PRIMARY KEY CHECK (id >= 0),
    clock bigint NOT NULL CHECK (clock IN (0, 1)), -- 0 the machines' or the server's, 1 given by hand
    tzdb text NOT NULL,                            -- version of the last write
    definition_writes bigint NOT NULL CHECK (definition_writes >= 0),
        -- how many writes have registered, changed or retired workflows
    last_planned_ms bigint,                        -- the latest instant that a turn was kept of
    set_ahead_ms bigint,                           -- the latest cursor that was set ahead of its time
    checksum bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE workflow (
    id bigint PRIMARY KEY,
    ref text COLLATE "C" NOT NULL CHECK (length(ref) > 0),
    source text NOT NULL,
    registered_ms bigint NOT NULL,
    backfill_limit bigint CHECK (backfill_limit > 0), -- NULL: only the latest is caught up
    max_age_ms bigint CHECK (max_age_ms >= 0),
    first_run bigint NOT NULL CHECK (first_run IN (0, 1)), -- 0 newest, 1 next
    overlap bigint NOT NULL CHECK (overlap IN (0, 1, 2)),  -- 0 allow, 1 wait, 2 skip
    max_attempts bigint NOT NULL CHECK (max_attempts > 0),
    paused_ms bigint,        -- since when its scheduled runs are held back
    retired_ms bigint,       -- since when its source no longer has it
    pruned_before_ms bigint, -- the horizon of what was pruned
    rewound_from_ms bigint,  -- where the cursor stood before it was set back
    tz_passed_ms bigint,     -- the last occurrence that a new tz database moved behind the cursor
    requested_ms bigint,     -- when runs of it were last requested
    checksum bigint NOT NULL,
    CONSTRAINT workflow_ref UNIQUE (ref)
);

-- How far a workflow has come; changes with every hand-out. Whoever changes records of a workflow
-- beside other writers holds the lock of this row.
CREATE TABLE progress (
    workflow_id bigint PRIMARY KEY REFERENCES workflow (id),
    ref text COLLATE "C" NOT NULL,
    cursor_ms bigint,      -- the last settled occurrence
    cursor_local_ms bigint, -- its authored local time when it was settled; NULL: no time zone
    last_handed_ms bigint, -- when a scheduled run was last handed out
    last_token bigint NOT NULL CHECK (last_token >= 0),
    turn_ms bigint,        -- its place in the queue; NULL when nothing is left
    due_ms bigint,         -- the due instant of its oldest unsettled occurrence
    checksum bigint NOT NULL,
    CHECK ((turn_ms IS NULL) = (due_ms IS NULL))
) WITH (fillfactor = 80);

-- The workflows that have a turn, in the order of their turns.
CREATE INDEX progress_by_turn ON progress (turn_ms, ref) WHERE turn_ms IS NOT NULL;

-- Where the turn is not the due instant (a backlog, or a clock that was set back).
CREATE INDEX progress_by_due ON progress (due_ms) WHERE due_ms <> turn_ms;

-- The schedules of a workflow. A revision holds the occurrences after after_ms, up to and
-- including the after_ms of the next one.
CREATE TABLE revision (
    workflow_id bigint NOT NULL REFERENCES workflow (id),
    number bigint NOT NULL CHECK (number > 0),
    after_ms bigint CHECK ((after_ms IS NULL) = (number = 1)), -- NULL: reaches back without end
    schedule text, -- canonical JSON; NULL while the schedule is false
    made_ms bigint NOT NULL,
    tzdb text NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (workflow_id, number)
);

-- One row per run, with its last attempt.
CREATE TABLE run (
    occurrence_ms bigint NOT NULL,
    workflow_id bigint NOT NULL REFERENCES workflow (id),
    request_id text COLLATE "C" NOT NULL, -- empty: caused by the schedule
    ref text COLLATE "C" NOT NULL,
    due_ms bigint NOT NULL,
    window_start_ms bigint NOT NULL,
    window_end_ms bigint NOT NULL,
    interval_ms bigint NOT NULL CHECK (interval_ms >= 0),
    phase_ms bigint NOT NULL CHECK (phase_ms >= 0),
    revision bigint NOT NULL CHECK (revision > 0),
    tzdb text NOT NULL,
    local_ms bigint NOT NULL, -- the authored local time, read as UTC
    resolution bigint NOT NULL CHECK (resolution BETWEEN 0 AND 4),
        -- 0 exact, 1 gap_shifted, 2 gap_next, 3 fold_first, 4 fold_last
    state bigint NOT NULL CHECK (state BETWEEN 0 AND 5),
        -- 0 pending, 1 claimed, 2 succeeded, 3 failed, 4 abandoned, 5 cancelled
    available_ms bigint,      -- pending: not before; claimed: expiry of the lease; else NULL
    attempts bigint NOT NULL CHECK (attempts >= 0), -- handed out, and counted
    attempt bigint CHECK (attempt > 0), -- the number of the last attempt; NULL before the first
    token bigint,
    worker text,
    claimed_ms bigint,
    ended_ms bigint,
    outcome bigint CHECK (outcome BETWEEN 0 AND 3), -- 0 succeeded, 1 failed, 2 released, 3 expired
    error bytea,              -- UTF-8; a text here may hold any character but NUL
    output text,              -- JSON
    checksum bigint NOT NULL,
    PRIMARY KEY (occurrence_ms, workflow_id, request_id),
    CHECK (window_start_ms < window_end_ms),
    CHECK ((available_ms IS NULL) = (state > 1)),
    CHECK ((token IS NULL) = (attempt IS NULL)),
    CHECK ((worker IS NULL) = (attempt IS NULL)),
    CHECK ((claimed_ms IS NULL) = (attempt IS NULL)),
    CHECK ((outcome IS NULL) = (ended_ms IS NULL)),
    CHECK (attempt IS NOT NULL OR (outcome IS NULL AND error IS NULL)),
    CHECK (CASE state
        WHEN 1 THEN attempt IS NOT NULL AND outcome IS NULL
        WHEN 2 THEN outcome IS NOT DISTINCT FROM 0
        WHEN 3 THEN outcome IS NOT DISTINCT FROM 1
        WHEN 4 THEN outcome IS NOT DISTINCT FROM 3
        ELSE attempt IS NULL OR outcome IN (1, 2, 3)
    END)
) WITH (fillfactor = 80);

-- The runs that can still be handed out, in that order.
CREATE INDEX run_open ON run (state, available_ms, ref, occurrence_ms, request_id)
    WHERE available_ms IS NOT NULL;

CREATE INDEX run_by_workflow ON run (workflow_id, occurrence_ms);

-- Attempts before the last one.
CREATE TABLE attempt (
    occurrence_ms bigint NOT NULL,
    workflow_id bigint NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    worker text NOT NULL,
    claimed_ms bigint NOT NULL,
    ended_ms bigint NOT NULL,
    outcome bigint NOT NULL CHECK (outcome BETWEEN 0 AND 3), -- as in run
    error bytea,
    checksum bigint NOT NULL,
    PRIMARY KEY (occurrence_ms, workflow_id, request_id, token),
    FOREIGN KEY (occurrence_ms, workflow_id, request_id)
        REFERENCES run (occurrence_ms, workflow_id, request_id) ON DELETE CASCADE
);

-- Occurrences that were settled without a run, one row per range.
CREATE TABLE skip (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow_id bigint NOT NULL REFERENCES workflow (id),
    first_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    count bigint NOT NULL CHECK (count > 0),
    reason bigint NOT NULL CHECK (reason >= 0),
        -- 0 first_run, 1 superseded, 2 beyond_limit, 3 too_old, 4 overlap, 5 paused, 6 retired,
        -- 7 tz_change, 8 tz_passed, 9 cursor_set
    skipped_ms bigint NOT NULL,
    revision bigint NOT NULL CHECK (revision > 0),
    tzdb text NOT NULL,
    checksum bigint NOT NULL,
    CHECK (first_ms <= last_ms)
);

CREATE INDEX skip_by_first ON skip (first_ms, workflow_id);
CREATE INDEX skip_by_workflow ON skip (workflow_id, last_ms);

-- Times during which the scheduled runs of a workflow were held back.
CREATE TABLE pause (
    workflow_id bigint NOT NULL REFERENCES workflow (id),
    from_ms bigint NOT NULL,
    to_ms bigint, -- NULL while it lasts
    paused_by text,
    reason text,
    resumed bigint CHECK (resumed IN (0, 1)), -- 0 catch-up, 1 drop; NULL while it lasts
    checksum bigint NOT NULL,
    PRIMARY KEY (workflow_id, from_ms),
    CHECK ((to_ms IS NULL) = (resumed IS NULL))
);

-- Requests for runs, kept for ever, so that asking again changes nothing.
CREATE TABLE request (
    workflow_id bigint NOT NULL REFERENCES workflow (id),
    request_id text COLLATE "C" NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
    arguments text NOT NULL, -- canonical JSON
    made_ms bigint NOT NULL,
    made_by text,
    reason text,
    answer text NOT NULL,    -- JSON: where its runs lie, and what was left out
    pruned_ms bigint[] NOT NULL, -- the occurrences of its pruned runs
    checksum bigint NOT NULL,
    PRIMARY KEY (workflow_id, request_id)
);

-- Of each connection, which of its transactions wrote last: where a connection is lost while a
-- transaction is committed, this tells whether it was kept. Of those that write no more the rows are
-- removed after one to two hours.
CREATE TABLE last_write (
    connection bigint PRIMARY KEY, -- drawn by lot
    number bigint NOT NULL,        -- counted from 1
    hour_ms bigint NOT NULL        -- the hour on the server's clock: it seldom changes
) WITH (fillfactor = 50);

CREATE INDEX last_write_by_hour ON last_write (hour_ms);
