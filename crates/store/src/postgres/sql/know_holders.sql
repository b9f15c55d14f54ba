-- Who holds these unique keys, and those of final jobs that are to be replayed, and until when.
SELECT u.kind, u.key, u.job, u.until
FROM unnest($1::text[], $2::text[]) AS k (kind, key)
JOIN ganger.unique_key u ON u.kind = k.kind AND u.key = k.key
UNION ALL
SELECT u.kind, u.key, u.job, u.until
FROM ganger.job_history h
JOIN ganger.unique_key u ON u.kind = h.kind AND u.key = h.unique_key
WHERE h.id = ANY ($3)
UNION ALL
SELECT u.kind, u.key, u.job, u.until
FROM ganger.job_dead d
JOIN ganger.unique_key u ON u.kind = d.kind AND u.key = d.unique_key
WHERE d.id = ANY ($3);
