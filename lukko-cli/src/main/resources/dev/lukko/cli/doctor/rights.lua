-- Tries what the scripts of a lock do, on a key that nobody uses and that is gone at the end.
--
-- KEYS     1 a key
-- ARGV     1 a channel
-- returns  the commands that this user may not use, then '' and why writes fail, if they do

local missing, refused = {}, ''
local function attempt(name, ...)
  local reply = redis.pcall(name, ...)
  if type(reply) == 'table' and reply.err then
    if string.find(reply.err, 'NOPERM') or string.find(reply.err, 'ACL failure')
      or string.find(reply.err, 'permission') or string.find(reply.err, "can't run this command")
      or string.find(reply.err, "can't access") then
      missing[#missing + 1] = name
    else
      refused = reply.err
    end
    return false
  end
  return true
end

-- The first write decides: a server that is full refuses that one only.
local wrote = attempt('set', KEYS[1], 'doctor', 'PX', 1000)
attempt('time')
attempt('get', KEYS[1])
attempt('exists', KEYS[1])
attempt('type', KEYS[1])
attempt('pttl', KEYS[1])
if not wrote or attempt('del', KEYS[1]) then
  attempt('hset', KEYS[1], 'field', 'doctor')
end
attempt('pexpire', KEYS[1], 1000)
attempt('hget', KEYS[1], 'field')
attempt('hgetall', KEYS[1])
attempt('hdel', KEYS[1], 'field')
attempt('pexpireat', KEYS[1], 1)
attempt('del', KEYS[1])
attempt('publish', ARGV[1], '')
local once = {}
for _, name in ipairs(missing) do
  if not once[name] then
    once[name] = true
    once[#once + 1] = name
  end
end
once[#once + 1] = ''
once[#once + 1] = refused
return once
