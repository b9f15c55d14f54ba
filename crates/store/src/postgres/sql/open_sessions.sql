-- Sessions begin, or say hello again. One that was closed stays closed, and is not among those that were expected.
WITH opened AS (
    INSERT INTO ganger.session (id, record) SELECT * FROM unnest($1::uuid[], $2::text[])
    ON CONFLICT (id) DO UPDATE SET record = excluded.record WHERE session.record IS NOT NULL
    RETURNING 1
)
SELECT ganger.expect(count(*), $3) FROM opened;
