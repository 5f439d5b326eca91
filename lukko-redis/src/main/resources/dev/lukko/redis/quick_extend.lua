-- The common case before everything else: one resource, exclusive, still held. See quick_grant.lua.
if ARGV[2] == 'exclusive' and ARGV[3] == '1' and redis.pcall('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5]) -- a counter must not end during a hold
  return { 1 }
end

