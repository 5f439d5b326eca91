-- KEYS     1 fence, 2 value
-- ARGV     1 token, 2 contact, 3 retention ms, 4 the new value
-- returns  { 1 }                 written
--          { 0, highest token }  refused, nothing changed

local highest = lukko_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
if highest then
  return { 0, highest }
end
redis.call('SET', KEYS[2], ARGV[4])
return { 1 }
