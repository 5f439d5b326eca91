-- Tells what is stored for one resource; changes nothing.
--
-- KEYS     entry, counter
-- ARGV     1 and 2 empty, 3 one
-- returns  { counter or -1, kind, holder, remaining ms, holder, remaining ms, ... }
--          kind is 'none', 'exclusive', 'shared', or the type of a foreign key, whose holder is ''
--          an error COUNTER

local counter, failure = counter_of(1)
if failure then
  return failure
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  counter = -1
end
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return { counter, kind }
end
local remaining = redis.call('PTTL', KEYS[1])
if kind == 'string' then
  return { counter, 'exclusive', redis.call('GET', KEYS[1]), remaining }
end
local readers = kind == 'hash' and readers_of(KEYS[1])
if not readers then
  return { counter, kind, '', remaining }
end
local reply = { counter, #readers > 0 and 'shared' or 'none' }
for _, reader in ipairs(readers) do
  reply[#reply + 1] = reader[1]
  reply[#reply + 1] = reader[2] - now
end
return reply
