-- How far what dropped days left behind was swept out, if that is under way.
SELECT beyond FROM ganger.sweep;
