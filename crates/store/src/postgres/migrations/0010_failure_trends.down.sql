-- Groups of failures have totals only.
DROP TABLE ganger.failure_trend;
