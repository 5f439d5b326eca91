-- The common case before everything else: one resource, exclusive. See quick_grant.lua.
--
-- KEYS     entry, counter
-- ARGV     1 owner, 2 ttl ms, 3 retention of the counter in ms
-- returns  1, or as below
local ARGV = ARGV
if #ARGV == 3 then
  if redis.pcall('GET', KEYS[1]) == ARGV[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    redis.call('PEXPIRE', KEYS[2], ARGV[3]) -- a counter must not end during a hold
    return 1
  end
  ARGV = { ARGV[1], 'exclusive', '1', ARGV[2], ARGV[3] }
end

