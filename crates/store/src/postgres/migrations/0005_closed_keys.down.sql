-- No key is ever closed.
DROP TABLE ganger.closed_key;
