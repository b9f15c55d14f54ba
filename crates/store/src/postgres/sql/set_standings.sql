-- How schedules stand after occurrences of them were decided.
UPDATE ganger.schedule s SET standing = n.standing
FROM unnest($1::uuid[], $2::text[]) AS n (id, standing) WHERE s.id = n.id;
