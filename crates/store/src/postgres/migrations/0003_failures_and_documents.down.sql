-- Failures are not grouped, and servers keep no documents.
DROP TABLE ganger.document;
DROP TABLE ganger.failure;
