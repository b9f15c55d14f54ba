-- As it is where nobody says otherwise.
ALTER TABLE ganger.idempotency ALTER COLUMN answer SET STORAGE EXTENDED;
