-- Puts a tombstone in the place of a job that is no longer final.
-- Without a generation there is nothing to forget: what was kept under an earlier one is never read again.
local generation = redis.call('GET', KEYS[1])
if not generation then return 0 end
redis.call('SET', ARGV[1] .. generation .. ':' .. ARGV[2], ARGV[3], 'PX', ARGV[4])
return 1
