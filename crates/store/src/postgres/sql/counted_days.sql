-- Days, queues and states that have final jobs: where retention has something to look at.
SELECT day, queue, state, sum(count)::bigint FROM ganger.counter WHERE count > 0 GROUP BY day, queue, state;
