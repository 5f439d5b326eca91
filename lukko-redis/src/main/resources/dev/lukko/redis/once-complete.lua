-- Stores the result of the work, if the claim still stands.
--
-- KEYS     1 key
-- ARGV     1 owner of the claim, 2 retention of the result in ms, 3 the result, if there is one
-- returns  1 stored, 0 the claim has ended and nothing was changed

if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'done', '1')
if ARGV[3] then
  redis.call('HSET', KEYS[1], 'result', ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
