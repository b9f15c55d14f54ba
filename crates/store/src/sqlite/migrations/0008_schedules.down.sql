-- There are no schedules.
DROP TABLE occurrence;
DROP TABLE schedule;
