-- Users' transactions submit and end no jobs. What was submitted and not yet taken in is lost.
DROP FUNCTION ganger.enqueue(text, json, text, integer, timestamptz, interval, text, json);
DROP FUNCTION ganger.complete(text, text, json);
DROP FUNCTION ganger.complete(uuid, text, json);
DROP TABLE ganger.completion;
DROP FUNCTION ganger.end_completed();
DROP FUNCTION ganger.fence_bytes(text);
DROP FUNCTION ganger.job_uuid(text);
DROP FUNCTION ganger.raise_lease_lost(uuid, text);
INSERT INTO ganger.counter (day, state, queue, kind, count)
SELECT h.finished_at / 86400000000, h.state, h.queue, h.kind, count(*)
FROM ganger.completed c JOIN ganger.job_history h ON h.id = c.job GROUP BY 1, 2, 3, 4
ON CONFLICT (day, state, queue, kind) DO UPDATE SET count = counter.count + excluded.count;
DROP TABLE ganger.completed;
DROP TABLE ganger.inbox;
ALTER TABLE ganger.job DROP COLUMN lease_attempt;
ALTER TABLE ganger.job DROP COLUMN lease_session;
ALTER TABLE ganger.job DROP COLUMN lease_fence;
DROP TABLE ganger.kind;
