-- What an attempt logged, if there is such a job: what a dropped day leaves behind is swept out later.
SELECT text FROM ganger.log
WHERE job = $1 AND attempt = $2
  AND (EXISTS (SELECT 1 FROM ganger.job WHERE id = $1)
       OR EXISTS (SELECT 1 FROM ganger.job_history WHERE id = $1)
       OR EXISTS (SELECT 1 FROM ganger.job_dead WHERE id = $1));
