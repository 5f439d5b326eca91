-- A server keeps a record for each fleet that it serves, as fields of one hash:
-- "fleet founded" -> "fleet founded epoch members floor self run from why". Whoever asks names what it has seen
-- of it, which is all but the last two words; from is when the server votes, in milliseconds of its
-- own clock. Where there is nothing to wait for they are "0 voting", and most grants compare the
-- record as a whole.

-- 'unmarked', 'changed', 'quarantined' or 'voting'; and the record, '' if there is none.
local function standing(directory, seen)
  local text = redis.pcall('HGET', directory, string.match(seen, '^%S+ %S+') or seen)
  if type(text) ~= 'string' then
    return 'unmarked', ''
  end
  local own, from = string.match(text, '^(.+) (%d+) %l+$')
  if own ~= seen then
    return 'changed', text
  end
  return tonumber(from) > now and 'quarantined' or 'voting', text
end

-- What a number must lie above that is given in the epoch of what was seen: what an earlier set of
-- nodes may have given.
local function floor_of(seen)
  return tonumber(string.match(seen, '^%S+ %S+ %S+ %S+ (%d+) ')) or 0
end

