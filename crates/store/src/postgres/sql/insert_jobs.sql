-- New live jobs, by arrays. An id that is taken violates the primary key, and the batch is refused.
INSERT INTO ganger.job (id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, retrying,
                        cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload)
SELECT n.id, n.seq, n.created_at, n.due_at, n.run_at, n.unique_for, 0, 0, 0, n.priority, false,
       n.cancel_wanted, n.kind, n.queue, NULL, n.unique_key, n.tags, n.options, n.payload
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::smallint[],
            $8::boolean[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[])
  AS n (id, seq, created_at, due_at, run_at, unique_for, priority, cancel_wanted, kind, queue, unique_key, tags,
        options, payload);
