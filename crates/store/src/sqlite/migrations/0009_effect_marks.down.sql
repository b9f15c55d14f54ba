-- Every attempt may be repeated.
DROP TABLE effect_mark;
