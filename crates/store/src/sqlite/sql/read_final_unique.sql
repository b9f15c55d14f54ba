-- What decides whether a final job can be replayed.
SELECT kind, unique_key FROM job_final WHERE id = ?1;
