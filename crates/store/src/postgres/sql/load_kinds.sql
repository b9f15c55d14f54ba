-- Kinds that were ever set.
SELECT name, settings FROM ganger.kind;
