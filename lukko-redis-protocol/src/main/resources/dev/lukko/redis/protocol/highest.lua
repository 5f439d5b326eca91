-- Looks through a part of the counters of all resources; changes nothing.
--
-- KEYS     none
-- ARGV     1 and 2 empty, 3 zero, 4 where to go on, '0' at the beginning, 5 the pattern of the
--          counters' keys, 6 how many keys to look at, about
-- returns  { where to go on, or '0' at the end, the highest counter found as a text }
--          an error COUNTER

local page = redis.call('SCAN', ARGV[4], 'MATCH', ARGV[5], 'COUNT', ARGV[6])
local highest = 0
for _, key in ipairs(page[2]) do
  KEYS[1] = key
  local counter, failure = counter_of(1)
  if failure then
    return failure
  end
  highest = math.max(highest, counter)
end
return { page[1], integer(highest) }
