-- Extends the entry, creates what is missing of it, and raises the counters to at least a number,
-- unless somebody else is in the way.
--
-- KEYS     entries, counters, the records if there are any to check
-- ARGV     1 owner, 2 mode, 3 n, 4 ttl ms, 5 retention of the counters in ms, at least ttl,
--          6 the number, 7 the last moment of this server's clock in ms at which it may be done,
--          8 what was seen of the record, or empty
-- returns  { 1 }                                         extended, all of it is there
--          { 0, now ms }                                 too late, nothing changed
--          { 2, 0, index, kind, holder, remaining ms }   held by another, nothing changed
--          { 3, record, now ms }                         another record, nothing changed
--          an error COUNTER                              nothing changed

if ARGV[8] ~= '' then
  local state, record = standing(KEYS[#KEYS], ARGV[8])
  if state == 'unmarked' or state == 'changed' then
    return { 3, record, now }
  end
end
local ttl, retention, number = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

-- A request that was stuck on its way must not put back what its owner has released meanwhile.
if now > tonumber(ARGV[7]) then
  return { 0, now }
end
local _, failure = highest_counter()
if failure then
  return failure
end
local other = look_at_all()
if other then
  return { 2, 0, other[1], other[2], other[3], other[4] }
end
for i = 1, resources do
  local counter, _, by_reader = counter_of(i)
  -- A number from long ago is for no reader to join: a writer may have had the next one since.
  store_counter(i, math.max(number, counter), by_reader and counter >= number, retention)
end
for i = 1, resources do
  if look(KEYS[i]) == 'mine' then
    prolong(KEYS[i], ttl)
  else
    put(KEYS[i], ttl, number)
  end
end
return { 1 }
