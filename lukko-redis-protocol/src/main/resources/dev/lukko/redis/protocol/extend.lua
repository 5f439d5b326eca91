-- Lets the entry live for ttl from now on, if the owner holds all of it.
--
-- KEYS     entries, counters, the records if there are any to check
-- ARGV     1 owner, 2 mode, 3 n, 4 ttl ms, 5 retention of the counters in ms, at least ttl, 6 what
--          was seen of the record, or empty
-- returns  { 1 }                                         extended
--          { 0, now ms }                                 an entry is missing, nothing changed
--          { 2, 0, index, kind, holder, remaining ms }   held by another, nothing changed
--          { 3, record, now ms }                         another record, nothing changed

if ARGV[6] ~= '' then
  local state, record = standing(KEYS[#KEYS], ARGV[6])
  if state == 'unmarked' or state == 'changed' then
    return { 3, record, now }
  end
end
local ttl, retention = tonumber(ARGV[4]), tonumber(ARGV[5])

local other, mine = look_at_all()
if other then
  return { 2, 0, other[1], other[2], other[3], other[4] }
end
if mine < resources then
  return { 0, now }
end
for i = 1, resources do
  prolong(KEYS[i], ttl)
  -- a counter must not end during a hold, however long that is
  local counter = KEYS[resources + i]
  local keep = math.max(retention, redis.call('PTTL', counter))
  redis.call('PEXPIRE', counter, integer(keep))
end
return { 1 }
