-- Schedules: what a person wrote, and how far each has come, which changes with every firing.
CREATE TABLE ganger.schedule (
    id       uuid NOT NULL PRIMARY KEY,
    name     text COLLATE "C" NOT NULL CONSTRAINT a_name_is_one_schedules UNIQUE,
    record   text NOT NULL,
    standing text NOT NULL
) WITH (fillfactor = 50);

-- The firing ledger: a row per schedule and due instant, written with the job that it made.
CREATE TABLE ganger.occurrence (
    schedule   uuid   NOT NULL,
    due_at     bigint NOT NULL,
    decided_at bigint NOT NULL,
    since      bigint,
    count      bigint NOT NULL,
    job        uuid,
    cause      text   COLLATE "C" NOT NULL,
    state      text   COLLATE "C" NOT NULL,
    why        text   COLLATE "C",
    PRIMARY KEY (schedule, due_at),
    CONSTRAINT what_fired_made_a_job CHECK (state <> 'fired' OR job IS NOT NULL),
    CONSTRAINT what_was_skipped_has_a_reason CHECK ((state = 'skipped') = (why IS NOT NULL))
);
