-- No key is ever closed.
DROP TABLE closed_key;
