-- Takes a claim back after the work has failed.
--
-- KEYS     1 key
-- ARGV     1 owner of the claim
-- returns  1 taken back, 0 it had ended, or the work is done

if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] or redis.call('HEXISTS', KEYS[1], 'done') == 1 then
  return 0
end
return redis.call('DEL', KEYS[1])
