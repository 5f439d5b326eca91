-- The common case before everything else: one resource, exclusive. See quick_grant.lua.
if ARGV[2] == 'exclusive' and ARGV[3] == '1' then
  local holder = redis.pcall('GET', KEYS[1])
  if holder == ARGV[1] then
    redis.call('DEL', KEYS[1])
    redis.pcall('PUBLISH', ARGV[4], KEYS[1]) -- a hint only: no right to publish is no failure
    return { 1 }
  end
  if type(holder) ~= 'table' then
    return { 0 }
  end
end

