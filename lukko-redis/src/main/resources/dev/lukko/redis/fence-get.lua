-- KEYS     1 fence, 2 value
-- ARGV     1 token, 2 'read', 3 retention ms
-- returns  { 1, the value or false }
--          { 0, highest token }  refused, nothing changed

local highest = lukko_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
if highest then
  return { 0, highest }
end
return { 1, redis.call('GET', KEYS[2]) }
