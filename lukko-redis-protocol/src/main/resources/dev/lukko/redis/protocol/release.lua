-- Deletes what the owner holds, and tells who waits for it.
--
-- KEYS     entries, counters
-- ARGV     1 owner, 2 mode, 3 n, then one channel for each resource
-- returns  { 1 + clients that have heard of it }   the owner held all of the resources
--          { 0 }   it held some of them or none

local held = 0
local lacking = false
for i = 1, resources do
  if look(KEYS[i]) == 'mine' then
    held = math.max(held, 1)
    if shared then
      redis.call('HDEL', KEYS[i], owner)
      tidy_readers(KEYS[i])
    else
      redis.call('DEL', KEYS[i])
    end
    -- A hint only: no right to publish is no failure.
    local heard = redis.pcall('PUBLISH', ARGV[3 + i], KEYS[i])
    held = math.max(held, type(heard) == 'number' and 1 + heard or 1)
  else
    lacking = true
  end
end
return { lacking and 0 or held }
