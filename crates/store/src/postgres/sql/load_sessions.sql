-- Open sessions.
SELECT record FROM ganger.session WHERE record IS NOT NULL;
