-- What the last batch came to, for one whose answer was lost.
SELECT outcomes FROM leader;
