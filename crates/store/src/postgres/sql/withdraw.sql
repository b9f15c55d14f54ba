-- A server stopped in good order.
DELETE FROM ganger.server WHERE name = $1;
