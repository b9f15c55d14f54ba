-- The marks that stand, or whose lease has ended and that nobody has taken off yet.
SELECT job, fence FROM effect_mark;
