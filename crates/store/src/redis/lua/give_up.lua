-- Gives a key back, but only if it still holds what its taker put there:
-- meanwhile it may have run out, been taken by another, or been answered.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
