-- Claims an idempotency key, or tells what is known of it.
--
-- KEYS     1 key: a hash of owner, request and, when the work is done, done and perhaps result
-- ARGV     1 owner of the claim, 2 fingerprint of the request, 3 ttl of the claim in ms
-- returns  { 'claimed' }
--          { 'done', fingerprint, result or false }
--          { 'running', fingerprint, remaining ms of the claim }

local known = redis.call('HMGET', KEYS[1], 'owner', 'request', 'done', 'result')
if known[3] then
  return { 'done', known[2], known[4] }
end
if not known[1] then
  if redis.call('EXISTS', KEYS[1]) == 1 then
    return redis.error_reply('ONCE ' .. KEYS[1] .. ' is not the entry of an idempotency key')
  end
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'request', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { 'claimed' }
end
if known[1] == ARGV[1] then
  return { 'claimed' } -- the same claim again
end
return { 'running', known[2], redis.call('PTTL', KEYS[1]) }
