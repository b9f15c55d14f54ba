-- Locks jobs that their handlers may be ending at this moment: what is read of them from here on stays so. A handler's
-- transaction holds such a lock only while it commits.
SELECT id FROM ganger.job WHERE id = ANY ($1) ORDER BY id FOR UPDATE;
