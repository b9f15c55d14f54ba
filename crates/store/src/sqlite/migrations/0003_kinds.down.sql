-- Kinds have no settings.
DROP TABLE kind;
