-- Takes rows out of the inbox. Those that are not told were taken before.
DELETE FROM ganger.inbox WHERE id = ANY ($1) RETURNING id;
