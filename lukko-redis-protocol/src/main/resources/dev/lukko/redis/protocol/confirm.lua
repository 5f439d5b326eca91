-- Agrees to a number for an owner that still holds, and raises the counters to it. For an exclusive
-- owner all counters are its own while it holds; so one that is there already agrees again. For a
-- reader the number must not be below that of its grant: a writer may have had what lies below.
--
-- KEYS     entries, counters, the records if there are any to check
-- ARGV     1 owner, 2 mode, 3 n, 4 the number, 5 retention of the counters in ms, 6 what was seen of
--          the record, or empty
-- returns  { 1 }          confirmed
--          { 2, lowest }   the owner's grant got a higher number, nothing changed: the highest
--                         counter, or a reader's own number
--          { 0 }          not held, nothing changed
--          { 3, record, now ms }   another record, nothing changed
--          an error COUNTER   nothing changed

if ARGV[6] ~= '' then
  local state, record = standing(KEYS[#KEYS], ARGV[6])
  if state == 'unmarked' or state == 'changed' then
    return { 3, record, now }
  end
end
local number, retention = tonumber(ARGV[4]), tonumber(ARGV[5])

local highest, failure = highest_counter()
if failure then
  return failure
end
local _, mine, stored = look_at_all()
if mine < resources then
  return { 0 }
end
local lowest = shared and stored or highest
if lowest > number then
  return { 2, lowest }
end
for i = 1, resources do
  if not shared or counter_of(i) < number then
    store_counter(i, number, shared, retention)
  end
end
return { 1 }
