-- Deletes what the owner holds, and tells who waits for it.
--
-- KEYS     entries, counters
-- ARGV     1 owner, 2 mode, 3 n, then one channel for each resource
-- returns  { 1 }   the owner held at least one of the resources
--          { 0 }   it held none

local held = 0
for i = 1, resources do
  if look(KEYS[i]) == 'mine' then
    held = 1
    if shared then
      redis.call('HDEL', KEYS[i], owner)
      tidy_readers(KEYS[i])
    else
      redis.call('DEL', KEYS[i])
    end
    redis.pcall('PUBLISH', ARGV[3 + i], KEYS[i]) -- a hint only: no right to publish is no failure
  end
end
return { held }
