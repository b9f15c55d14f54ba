-- Appends jobs to the buffer, all or none, unless it would then hold more than ARGV[1].
if redis.call('XLEN', KEYS[1]) + #ARGV - 1 > tonumber(ARGV[1]) then return false end
for i = 2, #ARGV do redis.call('XADD', KEYS[1], '*', 'job', ARGV[i]) end
return 1
