-- The leader vouches for its generation for a while longer. If another one is there, or none, it begins its next
-- one, unless a later term has spoken: then nothing changes. ARGV: present, next, digits of the term, milliseconds.
local held = redis.call('GET', KEYS[1])
if held and held == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return held
end
local digits = tonumber(ARGV[3])
if held and string.sub(held, 1, digits) > string.sub(ARGV[2], 1, digits) then return held end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
return ARGV[2]
