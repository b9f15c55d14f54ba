-- Every attempt may be repeated.
DROP TABLE ganger.effect_mark;
