-- What these attempts logged so far.
SELECT l.job, l.attempt, l.text
FROM unnest($1::uuid[], $2::integer[]) AS k (job, attempt)
JOIN ganger.log l ON l.job = k.job AND l.attempt = k.attempt;
