-- Writes down how a run of a scheduled job ended.
--
-- KEYS     as of run-begin.lua
-- ARGV     1 id of the run, 2 outcome, 3 error, if there is one
-- returns  1 if it is the last run of its job, else 0

local last = redis.call('HGET', KEYS[1], 'id') == ARGV[1]
if last then
  redis.call('HSET', KEYS[1], 'outcome', ARGV[2])
end
if redis.call('HEXISTS', KEYS[3], ARGV[1] .. ':outcome') == 1 then
  local time = redis.call('TIME')
  local now = time[1] .. string.format('%06d', time[2])
  redis.call('HSET', KEYS[3], ARGV[1] .. ':outcome', ARGV[2], ARGV[1] .. ':finished', now)
  if ARGV[3] then
    redis.call('HSET', KEYS[3], ARGV[1] .. ':error', ARGV[3])
  else
    redis.call('HDEL', KEYS[3], ARGV[1] .. ':error')
  end
end
return last and 1 or 0
