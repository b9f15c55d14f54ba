-- Functions that only servers call: whoever may use the schema, to enqueue jobs from a transaction of his own, may not call them.
-- `ganger.enqueue` and `ganger.complete` call them as their owner.
REVOKE ALL ON FUNCTION
    ganger.assert_term(bigint, bigint),
    ganger.begin_batch(bigint, bigint, bigint),
    ganger.expect(bigint, bigint),
    ganger.make_day(integer),
    ganger.drop_day(integer),
    ganger.drop_empty_day(integer),
    ganger.raise_lease_lost(uuid, text),
    ganger.job_uuid(text),
    ganger.fence_bytes(text),
    ganger.add_each(bigint[], bigint[])
FROM PUBLIC;
