-- Writes down that a run of a scheduled job begins, if it may.
--
-- KEYS     1 the last run: a hash of tick, token and outcome
--          2 the order of the history: a sorted set of run ids, all with one score
--          3 the history: a hash of <id>:runner, :started, :finished, :outcome and :error
-- ARGV     1 tick in microseconds, 2 token, 3 id of the run, 4 runner,
--          5... outcomes after which the same tick may run again
-- returns  1 begun, 2 the tick had its run, 3 the token is stale

local last = redis.call('HMGET', KEYS[1], 'tick', 'token', 'outcome', 'id')
if last[1] then
  local tick, token = tonumber(ARGV[1]), tonumber(ARGV[2])
  local lastTick, lastToken = tonumber(last[1]), tonumber(last[2])
  if tick == lastTick and token == lastToken and last[3] == 'RUNNING' then
    return 1 -- the same call again
  end
  local rerun = false
  for i = 5, #ARGV do
    rerun = rerun or ARGV[i] == last[3]
  end
  if tick < lastTick or (tick == lastTick and not rerun) then
    return 2
  end
  if token <= lastToken then
    return 3
  end
end
local time = redis.call('TIME')
local now = time[1] .. string.format('%06d', time[2])
if last[4] and redis.call('HGET', KEYS[3], last[4] .. ':outcome') == 'RUNNING' then
  redis.call('HSET', KEYS[3], last[4] .. ':outcome', 'ABANDONED', last[4] .. ':finished', now)
end
redis.call('HSET', KEYS[1], 'tick', ARGV[1], 'token', ARGV[2], 'outcome', 'RUNNING', 'id', ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3] .. ':runner', ARGV[4], ARGV[3] .. ':started', now,
  ARGV[3] .. ':outcome', 'RUNNING')
return 1
