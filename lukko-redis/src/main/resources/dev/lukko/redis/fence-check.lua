-- KEYS     1 fence
-- ARGV     1 token, 2 contact, 3 retention ms
-- returns  { 1 }                 accepted
--          { 0, highest token }  refused, nothing changed

local highest = lukko_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
return highest and { 0, highest } or { 1 }
