-- The payload of a live job, empty where it sits in its own table.
SELECT payload FROM job WHERE id = ?1;
