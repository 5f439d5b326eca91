-- Grants the entry and raises the counters, unless somebody else is in the way. A reader gets the
-- counters' number as it is if a reader was the last to be given it, above the floor of the fleet's
-- epoch; a writer's proposal lies above that already.
--
-- KEYS     entries, counters, lines if the request queues, the records if there are any to check
-- ARGV     1 owner, 2 mode, 3 n, 4 what was seen of the record, or empty, 5 ttl ms, 6 proposal, 7 retention of
--          the counters in ms, at least ttl; and if the request queues, 8 waiter, 9 order, 10 lease
--          of the place in ms
-- returns  { 1, counter }                                             granted
--          { 0, highest counter, index, kind, holder, remaining ms }  refused, nothing changed but
--                                                                     the place in the line
--          { 3, record, now ms }                                      may not vote, nothing changed
--          an error COUNTER                                           nothing changed

local seen, ttl, proposal = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local retention = tonumber(ARGV[7])
local waiter, order, lease = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])

local record
if seen ~= '' then
  local state
  state, record = standing(KEYS[#KEYS], seen)
  if state ~= 'voting' then
    return { 3, record, now }
  end
end
local highest, failure, joinable = highest_counter()
if failure then
  return failure
end
local other, mine, stored = look_at_all()
for i = 1, waiter and resources or 0 do
  local line = KEYS[2 * resources + i]
  redis.call('HSET', line, waiter, integer(order) .. ':' .. integer(now + lease))
  local first, ends = first_of(line)
  if not other and mine < resources and first ~= waiter then
    other = { i, 'waiting', '', ends - now }
  end
end
if other then
  return { 0, highest, other[1], other[2], other[3], other[4] }
end
for i = 1, waiter and resources or 0 do
  redis.call('HDEL', KEYS[2 * resources + i], waiter)
end
if mine == resources then
  -- The same request again. While an exclusive owner holds, nobody else raises its counters.
  if highest == 0 then
    return redis.error_reply('COUNTER ' .. KEYS[resources + 1] .. ' was lost, though its entry is held')
  end
  return { 1, stored or highest }
end
local counter = proposal > highest and proposal or highest + 1
if shared and joinable and highest > floor_of(seen) then
  counter = highest
end
if counter > MAX_COUNTER then
  return redis.error_reply('COUNTER ' .. KEYS[resources + 1] .. ' has reached its end, 2^53-1')
end
if seen ~= '' and record ~= seen .. ' 0 voting' then
  -- its quarantine is over
  redis.call('HSET', KEYS[#KEYS], string.match(seen, '^%S+ %S+'), seen .. ' 0 voting')
end
-- Counters first: if the server refuses a write half-way, a raised counter alone does no harm.
for i = 1, resources do
  store_counter(i, counter, shared, retention)
end
for i = 1, resources do
  put(KEYS[i], ttl, counter)
end
return { 1, counter }
