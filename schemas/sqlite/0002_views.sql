-- The records in a form that people and other tools can read. The views are a promise: columns
-- may be added at the end, and none changes its name or meaning.
--
-- Instants stand in two columns: as RFC 3339 text in UTC, and as milliseconds since
-- 1970-01-01T00:00:00Z in a column that ends in _ms. Lengths are milliseconds. What is absent is
-- NULL.
--
-- Point any tool at the file while it is in use, for example
--   sqlite3 -readonly runs.db "SELECT * FROM run_records WHERE state = 'failed'"

-- One row per run, with its last attempt.
CREATE VIEW run_records AS
WITH plain AS (
    SELECT
        workflow.ref,
        occurrence_ms,
        coalesce(due_ms, occurrence_ms + phase_ms) AS due_ms,
        occurrence_ms - delay_ms - coalesce(window_ms, interval_ms) AS window_start_ms,
        occurrence_ms - delay_ms AS window_end_ms,
        interval_ms,
        phase_ms,
        iif(request_id = '', 'schedule', 'request') AS trigger,
        request_id,
        revision,
        tzdb.version AS tzdb,
        occurrence_ms + local_ahead_ms AS local_ms,
        CASE resolution
            WHEN 0 THEN 'exact' WHEN 1 THEN 'gap_shifted' WHEN 2 THEN 'gap_next'
            WHEN 3 THEN 'fold_first' WHEN 4 THEN 'fold_last'
        END AS resolution,
        CASE state
            WHEN 0 THEN 'pending' WHEN 1 THEN 'claimed' WHEN 2 THEN 'succeeded'
            WHEN 3 THEN 'failed' WHEN 4 THEN 'abandoned' WHEN 5 THEN 'cancelled'
        END AS state,
        iif(state = 0, available_ms, NULL) AS available_ms,
        iif(state = 1, available_ms, NULL) AS lease_expires_ms,
        attempts,
        attempt,
        token,
        worker.name AS worker,
        claimed_ms,
        ended_ms,
        CASE outcome
            WHEN 0 THEN 'succeeded' WHEN 1 THEN 'failed' WHEN 2 THEN 'released'
            WHEN 3 THEN 'expired'
        END AS outcome,
        error,
        output
    FROM run
    LEFT JOIN workflow ON workflow.id = run.workflow_id
    LEFT JOIN tzdb ON tzdb.id = run.tzdb_id
    LEFT JOIN worker ON worker.id = run.worker_id
),
timed AS (
    SELECT
        *,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', occurrence_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS occurrence,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', due_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS due,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', window_start_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS window_start,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', window_end_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS window_end,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', local_ms / 1000.0, 'unixepoch'),
            '0'), '.') AS local_time,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', available_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS available,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', lease_expires_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS lease_expires,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', claimed_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS claimed,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', ended_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS ended
    FROM plain
)
SELECT
    ref || '@' || occurrence || iif(request_id = '', '', '#' || request_id) AS id,
    ref,              -- the name of the workflow
    occurrence,       -- the nominal instant: identity
    due,              -- when the run might start
    window_start,     -- the data that it evaluates: from, inclusive
    window_end,       -- to, exclusive
    interval_ms,      -- from the previous occurrence to this one
    phase_ms,         -- from the occurrence to the due instant
    trigger,          -- 'schedule' or 'request'
    request_id,       -- empty for scheduled runs
    revision,         -- of the schedule, counted from 1
    tzdb,             -- version of the tz database that it was planned under
    local_time,       -- the local time that the schedule names, without an offset
    resolution,       -- 'exact', 'gap_shifted', 'gap_next', 'fold_first' or 'fold_last'
    state,            -- 'pending', 'claimed', 'succeeded', 'failed', 'abandoned' or 'cancelled'
    available,        -- while pending: not handed out before
    lease_expires,    -- while claimed
    attempts,         -- how many were handed out and count
    attempt,          -- the number of the last one
    token,            -- its fencing token
    worker,           -- who took it
    claimed,          -- when
    ended,            -- when it ended
    outcome,          -- 'succeeded', 'failed', 'released' or 'expired'
    error,            -- what the worker said of a failure
    output,           -- JSON from the worker
    occurrence_ms,
    due_ms,
    window_start_ms,
    window_end_ms,
    local_ms,
    available_ms,
    lease_expires_ms,
    claimed_ms,
    ended_ms
FROM timed;

-- One row per attempt of a run, the last one included.
CREATE VIEW run_attempts AS
WITH every AS (
    SELECT occurrence_ms, workflow_id, request_id, attempt, token, worker_id, claimed_ms, ended_ms,
        outcome, error
    FROM run WHERE attempt IS NOT NULL
    UNION ALL
    SELECT occurrence_ms, workflow_id, request_id, number, token, worker_id, claimed_ms, ended_ms,
        outcome, error
    FROM attempt
),
timed AS (
    SELECT
        *,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', occurrence_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS occurrence,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', claimed_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS claimed,
        rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', ended_ms / 1000.0, 'unixepoch'),
            '0'), '.') || 'Z' AS ended
    FROM every
)
SELECT
    workflow.ref || '@' || occurrence || iif(request_id = '', '', '#' || request_id) AS id,
    workflow.ref,
    occurrence,
    request_id,
    attempt,          -- its number; one that was released gives its number to the next
    token,            -- grows with each hand-out of any run of the workflow
    worker.name AS worker,
    claimed,
    ended,            -- NULL while it runs
    CASE outcome
        WHEN 0 THEN 'succeeded' WHEN 1 THEN 'failed' WHEN 2 THEN 'released' WHEN 3 THEN 'expired'
    END AS outcome,
    error,
    occurrence_ms,
    claimed_ms,
    ended_ms
FROM timed
LEFT JOIN workflow ON workflow.id = timed.workflow_id
LEFT JOIN worker ON worker.id = timed.worker_id;

-- One row per range of occurrences that were settled without a run.
CREATE VIEW skip_ranges AS
SELECT
    workflow.ref,
    rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', first_ms / 1000.0, 'unixepoch'),
        '0'), '.') || 'Z' AS first, -- the oldest of them
    rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', last_ms / 1000.0, 'unixepoch'),
        '0'), '.') || 'Z' AS last,  -- the newest of them
    count,
    CASE reason
        WHEN 0 THEN 'first_run' WHEN 1 THEN 'superseded' WHEN 2 THEN 'beyond_limit'
        WHEN 3 THEN 'too_old' WHEN 4 THEN 'overlap' WHEN 5 THEN 'paused' WHEN 6 THEN 'retired'
        WHEN 7 THEN 'tz_change' WHEN 8 THEN 'tz_passed' WHEN 9 THEN 'cursor_set'
    END AS reason,
    rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', skipped_ms / 1000.0, 'unixepoch'),
        '0'), '.') || 'Z' AS skipped, -- when they were settled
    revision,                         -- of the last of them
    tzdb.version AS tzdb,
    first_ms,
    last_ms,
    skipped_ms
FROM skip
LEFT JOIN workflow ON workflow.id = skip.workflow_id
LEFT JOIN tzdb ON tzdb.id = skip.tzdb_id;

-- One row per occurrence and window that was evaluated with success, however often.
CREATE VIEW coverage_input AS
SELECT
    ref,
    occurrence_ms,
    window_start_ms,
    window_end_ms,
    count(*) AS successes,
    max(ended_ms) AS succeeded_ms -- the last of them
FROM run_records
WHERE state = 'succeeded'
GROUP BY ref, occurrence_ms, window_start_ms, window_end_ms;
