-- Every schedule, and how it stands.
SELECT record, standing FROM ganger.schedule ORDER BY id;
