-- Jobs that become due, never later than they were, or that a person asked to stop; those that are live.
UPDATE ganger.job j
SET due_at = least(j.due_at, p.due_at), cancel_wanted = j.cancel_wanted OR p.cancel_wanted
FROM unnest($1::uuid[], $2::bigint[], $3::boolean[]) AS p (id, due_at, cancel_wanted)
WHERE j.id = p.id;
