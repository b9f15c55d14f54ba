-- What happened in each minute, by queue and kind: numbers in the order of `Counts::numbers`, and two histograms without the
-- zeros at their ends. The rows of the present minute change with every batch.
CREATE TABLE ganger.minute (
    minute  bigint   NOT NULL,
    queue   text     COLLATE "C" NOT NULL,
    kind    text     COLLATE "C" NOT NULL,
    numbers bigint[] NOT NULL,
    wait    bigint[] NOT NULL,
    run     bigint[] NOT NULL,
    PRIMARY KEY (minute, queue, kind)
) WITH (fillfactor = 50);

-- Adds two arrays, of which one may be shorter. A loop, because a function in SQL would be planned again at every call, and
-- there are three of them in every commit.
CREATE FUNCTION ganger.add_each(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    FOR n IN 1 .. cardinality(b) LOOP
        a[n] := coalesce(a[n], 0) + b[n];
    END LOOP;
    RETURN a;
END
$$;
