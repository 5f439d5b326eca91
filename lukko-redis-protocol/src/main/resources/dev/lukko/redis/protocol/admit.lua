-- Writes the record of a fleet, unless the server's records are no longer those on which that was
-- decided.
--
-- KEYS     the records
-- ARGV     1 and 2 empty, 3 zero, 4 the field, 5 the record without its last two words, 6 these as
--          they are to be written, or the last of them, 7 how long the server must not vote yet in
--          ms, or -1 if that stands in the record, 8 how many fields were seen, then each with its
--          text, then the fields to be removed
-- returns  { 1 }   written
--          { 0 }   somebody was faster, nothing changed

local seen, found = tonumber(ARGV[8]), redis.call('HGETALL', KEYS[1])
if #found ~= 2 * seen then
  return { 0 }
end
local texts = {}
for f = 1, #found, 2 do
  texts[found[f]] = found[f + 1]
end
for i = 1, seen do
  if texts[ARGV[7 + 2 * i]] ~= ARGV[8 + 2 * i] then
    return { 0 }
  end
end
local ends, quarantine = ARGV[6], tonumber(ARGV[7])
if quarantine == 0 then
  ends = '0 voting'
elseif quarantine > 0 then
  ends = integer(now + quarantine) .. ' ' .. ARGV[6]
end
for i = 9 + 2 * seen, #ARGV do
  redis.call('HDEL', KEYS[1], ARGV[i])
end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5] .. ' ' .. ends)
return { 1 }
