-- Every schedule, and how it stands.
SELECT record, standing FROM schedule ORDER BY id;
