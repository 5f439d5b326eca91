-- Gives up a waiter's place in the lines, and tells who waits behind.
--
-- KEYS     n lines
-- ARGV     1 owner, 2 mode, 3 n, 4 the waiter, then one channel for each resource
-- returns  { 1 }   it had a place
--          { 0 }   it had none

local left = 0
for i = 1, resources do
  if redis.call('HDEL', KEYS[i], ARGV[4]) == 1 then
    left = 1
    redis.pcall('PUBLISH', ARGV[4 + i], KEYS[i]) -- a hint only
  end
end
return { left }
