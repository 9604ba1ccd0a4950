//! What rows of two tables must hold between them, in every store that keeps them in tables.

/// The table, what is wrong, and a query for the rows that it is wrong with, each as a name and
/// perhaps an occurrence.
pub(super) const BETWEEN_TABLES: &[(&str, &str, &str)] = &[
    (
        "store_info",
        "is missing",
        "SELECT 'store', CAST(NULL AS bigint) FROM workflow WHERE NOT EXISTS (SELECT 1 FROM store_info) LIMIT 1",
    ),
    (
        "workflow",
        "has no progress",
        "SELECT workflow.ref, CAST(NULL AS bigint) FROM workflow
            WHERE NOT EXISTS (SELECT 1 FROM progress WHERE workflow_id = id)",
    ),
    (
        "workflow",
        "has no revision",
        "SELECT workflow.ref, CAST(NULL AS bigint) FROM workflow
            WHERE NOT EXISTS (SELECT 1 FROM revision WHERE workflow_id = id)",
    ),
    (
        "revision",
        "has revisions that do not count from 1 without a gap",
        "SELECT workflow.ref, CAST(NULL AS bigint) FROM revision JOIN workflow ON id = workflow_id GROUP BY workflow.ref
            HAVING min(number) <> 1 OR max(number) <> count(*)",
    ),
    (
        "revision",
        "begins before the one before it",
        "SELECT workflow.ref || ' revision ' || later.number, CAST(NULL AS bigint) FROM revision AS earlier
            JOIN revision AS later ON later.workflow_id = earlier.workflow_id
                AND later.number = earlier.number + 1 AND later.after_ms < earlier.after_ms
            JOIN workflow ON id = earlier.workflow_id",
    ),
    (
        "run",
        "has a revision that is not there",
        "SELECT workflow.ref, occurrence_ms FROM run JOIN workflow ON id = workflow_id
            WHERE NOT EXISTS (SELECT 1 FROM revision
                WHERE revision.workflow_id = run.workflow_id AND number = run.revision)",
    ),
    (
        "run",
        "has a token that was not handed out",
        "SELECT workflow.ref, occurrence_ms FROM run JOIN workflow ON id = run.workflow_id
            JOIN progress ON progress.workflow_id = run.workflow_id WHERE token > last_token",
    ),
    (
        "attempt",
        "has an attempt that is not before its last one",
        "SELECT workflow.ref, attempt.occurrence_ms FROM attempt JOIN workflow ON id = workflow_id
            WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.occurrence_ms = attempt.occurrence_ms
                AND run.workflow_id = attempt.workflow_id AND run.request_id = attempt.request_id
                AND run.token > attempt.token)",
    ),
    (
        "skip",
        "is skipped under a revision that is not there",
        "SELECT workflow.ref, first_ms FROM skip JOIN workflow ON workflow.id = workflow_id
            WHERE NOT EXISTS (SELECT 1 FROM revision
                WHERE revision.workflow_id = skip.workflow_id AND number = skip.revision)",
    ),
];
