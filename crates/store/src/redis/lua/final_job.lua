-- Reads a final job under the present generation, and tells which that is.
-- Without a generation nothing is read: no leader vouches for what is here.
local generation = redis.call('GET', KEYS[1])
if not generation then return {false, false} end
return {generation, redis.call('GET', ARGV[1] .. generation .. ':' .. ARGV[2])}
