-- The last batch of the present term and what it came to, for one whose answer was lost. Locked, like by every batch:
-- one that is still under way must end first.
SELECT number, outcomes FROM ganger.batch FOR UPDATE;
