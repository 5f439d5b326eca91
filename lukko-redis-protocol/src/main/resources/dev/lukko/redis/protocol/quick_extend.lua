-- The common case before everything else: one resource, exclusive. See quick_grant.lua.
--
-- KEYS     entry, counter, the records if there are any to check
-- ARGV     1 owner, 2 ttl ms, 3 retention of the counter in ms, 4 what the record must be, or
--          empty, 5 the field of the record
-- returns  1, or as below
local ARGV = ARGV
if #ARGV == 5 then
  if (ARGV[4] == '' or redis.pcall('HGET', KEYS[3], ARGV[5]) == ARGV[4])
    and redis.pcall('GET', KEYS[1]) == ARGV[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    redis.call('PEXPIRE', KEYS[2], ARGV[3]) -- a counter must not end during a hold
    return 1
  end
  local seen = string.gsub(ARGV[4], ' 0 voting$', '')
  ARGV = { ARGV[1], 'exclusive', '1', ARGV[2], ARGV[3], seen }
end

