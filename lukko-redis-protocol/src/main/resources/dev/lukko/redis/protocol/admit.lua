-- Writes the marker, unless the node's standing is no longer the one on which that was decided.
--
-- KEYS     the marker
-- ARGV     1 and 2 empty, 3 zero, 4 run of the server, 5 'unmarked' or 'restarted', as it was seen,
--          6 how long the node must not vote yet, in ms
-- returns  { 1 }   written
--          { 0 }   somebody was faster, nothing changed

if standing(KEYS[1], ARGV[4]) ~= ARGV[5] then
  return { 0 }
end
local quarantine = tonumber(ARGV[6])
local from = quarantine == 0 and '0 voting' or integer(now + quarantine) .. ' ' .. ARGV[5]
redis.call('SET', KEYS[1], ARGV[4] .. ' ' .. from)
return { 1 }
