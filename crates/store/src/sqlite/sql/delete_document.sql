-- Forgets a document.
DELETE FROM document WHERE collection = ?1 AND key = ?2;
