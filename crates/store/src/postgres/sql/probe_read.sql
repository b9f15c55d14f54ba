-- Nothing but the way there and back.
SELECT 1;
