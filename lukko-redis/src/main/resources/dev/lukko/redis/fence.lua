-- Lets a fencing token through, or refuses it: put this in front of a script of your own.
--
-- lukko_fence(key, token, contact, retention)
--   key        the fence of the resource, a hash; in the script's KEYS
--   token      the fencing token, 1 to 2^53-1
--   contact    'write'; or 'once' for a write that uses the token up; or 'read'
--   retention  for how many milliseconds after this contact the fence is remembered
--   returns    nothing if the token passes: it is remembered, go on and write;
--              else the highest token seen: write nothing
--
-- It is an error, before anything is written, if the key holds something else.

local function lukko_fence(key, token, contact, retention)
  local function number(text)
    local n = type(text) == 'string' and #text <= 16 and string.match(text, '^%d+$')
    n = n and tonumber(n)
    if not n or n > 9007199254740991 then
      error('FENCE ' .. key .. ': "' .. tostring(text) .. '" is not a token from 1 to 2^53-1')
    end
    return n
  end
  local stored = redis.call('HMGET', key, 'token', 'written')
  local given = number(token)
  local highest = number(stored[1] or '0')
  local written = number(stored[2] or '0')
  if given < highest or (contact == 'once' and given <= written) then
    return highest
  end
  redis.call('HSET', key, 'token', token)
  if contact ~= 'read' then
    redis.call('HSET', key, 'written', token)
  end
  redis.call('PEXPIRE', key, retention)
end

