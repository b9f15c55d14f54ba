-- Open sessions.
SELECT record FROM session WHERE record IS NOT NULL;
