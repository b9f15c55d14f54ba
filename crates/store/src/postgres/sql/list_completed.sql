-- Jobs that ended in transactions of users, of which no leader has said that it knows.
SELECT job FROM ganger.completed;
