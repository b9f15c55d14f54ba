-- Failures that are one, by their fingerprint, with the last of them as a sample. The row of a group changes often.
CREATE TABLE ganger.failure (
    fingerprint bigint NOT NULL PRIMARY KEY,
    count       bigint NOT NULL,
    first_at    bigint NOT NULL,
    last_at     bigint NOT NULL,
    job         uuid   NOT NULL,
    kind        text   COLLATE "C" NOT NULL,
    error       bytea  NOT NULL
) WITH (fillfactor = 50);

-- Documents of the server's own: saved views, bulk operations.
CREATE TABLE ganger.document (
    collection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    body       text NOT NULL,
    PRIMARY KEY (collection, key)
) WITH (fillfactor = 50);
