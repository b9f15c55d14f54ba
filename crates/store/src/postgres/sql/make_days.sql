-- Makes the tables of these days, and of today and the three days after it, if they are missing.
SELECT ganger.make_day(day) FROM (
    SELECT unnest($1::integer[]) AS day
    UNION SELECT (extract(epoch FROM clock_timestamp())::bigint / 86400)::integer + ahead FROM generate_series(0, 3) ahead
) AS days;
