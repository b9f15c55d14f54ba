-- Keys of queues that are closed for a while, so that the next leader knows. They are few, and short-lived.
CREATE TABLE ganger.closed_key (
    queue text   COLLATE "C" NOT NULL,
    key   text   COLLATE "C" NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (queue, key)
) WITH (fillfactor = 50);
