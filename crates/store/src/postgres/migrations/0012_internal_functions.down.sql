-- As it is where nobody says otherwise: everybody may call them.
GRANT EXECUTE ON FUNCTION
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
TO PUBLIC;
