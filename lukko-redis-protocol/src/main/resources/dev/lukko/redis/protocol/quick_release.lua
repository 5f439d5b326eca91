-- The common case before everything else: one resource, exclusive. See quick_grant.lua.
--
-- KEYS     entry
-- ARGV     1 owner, 2 channel
-- returns  as below, without the list
local ARGV = ARGV
if #ARGV == 2 then
  local holder = redis.pcall('GET', KEYS[1])
  if holder == ARGV[1] then
    redis.call('DEL', KEYS[1])
    -- A hint only: no right to publish is no failure.
    local heard = redis.pcall('PUBLISH', ARGV[2], KEYS[1])
    return type(heard) == 'number' and 1 + heard or 1
  end
  if type(holder) ~= 'table' then
    return 0
  end
  ARGV = { ARGV[1], 'exclusive', '1', ARGV[2] }
end

