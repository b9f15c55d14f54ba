-- Final jobs that are kept, counted.
SELECT queue, kind, state, count FROM counter WHERE count > 0;
