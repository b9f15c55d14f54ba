-- Failures are not grouped, and servers keep no documents.
DROP TABLE document;
DROP TABLE failure;
