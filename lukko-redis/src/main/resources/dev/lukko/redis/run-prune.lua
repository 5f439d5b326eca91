-- Deletes runs of a scheduled job for ticks before one, all but those of its last tick.
--
-- KEYS     as of run-begin.lua
-- ARGV     1 the beginning of the ids of that tick
-- returns  how many were deleted

local last = redis.call('HGET', KEYS[1], 'id')
if not last then
  return 0
end
local tick = string.sub(last, 1, string.find(last, ':', 1, true))
local deleted = 0
for _, id in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '-', '(' .. ARGV[1])) do
  if id < tick then
    redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id .. ':runner', id .. ':started', id .. ':finished',
      id .. ':outcome', id .. ':error')
    deleted = deleted + 1
  end
end
return deleted
