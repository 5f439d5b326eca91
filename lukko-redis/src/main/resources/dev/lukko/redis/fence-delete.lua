-- KEYS     1 fence, which stays, 2 value
-- ARGV     1 token, 2 contact, 3 retention ms
-- returns  { 1, number of values deleted }
--          { 0, highest token }  refused, nothing changed

local highest = lukko_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
if highest then
  return { 0, highest }
end
return { 1, redis.call('DEL', KEYS[2]) }
