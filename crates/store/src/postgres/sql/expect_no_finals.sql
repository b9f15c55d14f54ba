-- No final job has one of these ids.
SELECT ganger.expect(
    (SELECT count(*) FROM ganger.job_history WHERE id = ANY ($1))
    + (SELECT count(*) FROM ganger.job_dead WHERE id = ANY ($1)), 0);
