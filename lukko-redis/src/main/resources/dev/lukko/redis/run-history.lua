-- Reads the latest runs of a scheduled job: the last tick first, of one tick the highest token first.
--
-- KEYS     as of run-begin.lua
-- ARGV     1 how many at most
-- returns  for each run: id, runner, started, finished or false, outcome, error or false

local reply = {}
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  local run = redis.call('HMGET', KEYS[3], id .. ':runner', id .. ':started', id .. ':finished',
    id .. ':outcome', id .. ':error')
  reply[#reply + 1] = { id, run[1], run[2], run[3], run[4], run[5] }
end
return reply
