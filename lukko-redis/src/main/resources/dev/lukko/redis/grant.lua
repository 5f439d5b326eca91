-- Grants the entry and raises the counters, unless somebody else is in the way.
--
-- KEYS     entries, counters
-- ARGV     1 owner, 2 mode, 3 ttl ms, 4 proposal, 5 retention of the counters in ms, at least ttl
-- returns  { 1, counter }                                             granted
--          { 0, highest counter, index, kind, holder, remaining ms }  refused, nothing changed
--          an error COUNTER                                           nothing changed

local ttl, proposal, retention = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local highest, failure = highest_counter()
if failure then
  return failure
end
local other, mine, stored = look_at_all()
if other then
  return { 0, highest, other[1], other[2], other[3], other[4] }
end
if mine == resources then
  -- The same request again. While an exclusive owner holds, nobody else raises its counters.
  return { 1, stored or highest }
end
local counter = proposal > highest and proposal or highest + 1
if counter > MAX_COUNTER then
  return redis.error_reply('COUNTER ' .. KEYS[resources + 1] .. ' has reached its end, 2^53-1')
end
-- Counters first: if the server refuses a write half-way, a raised counter alone does no harm.
for i = 1, resources do
  redis.call('SET', KEYS[resources + i], integer(counter), 'PX', retention)
end
for i = 1, resources do
  put(KEYS[i], ttl, counter)
end
return { 1, counter }
