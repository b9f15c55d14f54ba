-- A commit that must reach the disk and changes nothing: an empty remark in the log, which nobody reads. A transaction that wrote
-- nothing at all would not be waited for.
SELECT pg_logical_emit_message(true, 'ganger', '');
