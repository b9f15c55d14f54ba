-- Groups of failures have totals only.
DROP TABLE failure_trend;
