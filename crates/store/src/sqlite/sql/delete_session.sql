-- Forgets a claim that is over: its id is made by the server and never comes back.
DELETE FROM session WHERE id = ?1;
