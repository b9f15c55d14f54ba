-- Takes the first schema back, and every job with it.
DROP TABLE log;
DROP TABLE counter;
DROP TABLE unique_key;
DROP TABLE idempotency;
DROP TABLE queue;
DROP TABLE session;
DROP TABLE assignment;
DROP TABLE attempt;
DROP TABLE payload;
DROP TABLE job_final;
DROP TABLE job;
DROP TABLE leader;
