-- What users submitted, oldest first: at most so many rows, and no more once so many bytes are reached.
SELECT id, job, request FROM (
    SELECT id, job, request, sum(octet_length(request)) OVER (ORDER BY id) - octet_length(request) AS before
    FROM (SELECT id, job, request FROM ganger.inbox ORDER BY id LIMIT $1) AS oldest
) AS measured
WHERE before < $2 ORDER BY id;
