-- Takes an idempotency key for a while, or tells what it holds.
-- In one step: of two requests that come at once exactly one takes it.
local held = redis.call('GET', KEYS[1])
if held then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
