-- There are no schedules.
DROP TABLE ganger.occurrence;
DROP TABLE ganger.schedule;
