-- What a lease needs to know of its live job: the fence it last ended under, and what will be counted when it ends.
SELECT last_fence, queue, kind, unique_key IS NOT NULL FROM job WHERE id = ?1;
