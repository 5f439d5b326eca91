-- Raises the counters to a number, if the owner still holds and all counters are below it.
--
-- KEYS     entries, counters
-- ARGV     1 owner, 2 mode, 3 n, 4 the number, 5 retention of the counters in ms
-- returns  { 1 }                   confirmed
--          { 2, highest counter }   a counter is not below the number, nothing changed
--          { 0 }                    not held, nothing changed
--          an error COUNTER         nothing changed

local number, retention = tonumber(ARGV[4]), tonumber(ARGV[5])

local highest, failure = highest_counter()
if failure then
  return failure
end
local _, mine = look_at_all()
if mine < resources then
  return { 0 }
end
if highest >= number then
  return { 2, highest }
end
for i = 1, resources do
  store_counter(i, number, retention)
end
return { 1 }
