-- Forgets claims that are over: their ids are made by the server and never come back.
DELETE FROM ganger.session WHERE id = ANY ($1);
