-- The marker says for which run of the server this node may vote, and from when on, in milliseconds
-- of this server's clock: "run from why". Without it the server has forgotten what it granted.
-- Where there is nothing to wait for it is "run 0 voting", which most grants compare as a whole.

-- 'unmarked', 'restarted', 'quarantined' or 'voting'; and the marker, '' if there is none.
local function standing(marker, run)
  local text = redis.pcall('GET', marker)
  if type(text) ~= 'string' then
    return 'unmarked', ''
  end
  local marked, from = string.match(text, '^(%w+) (%d+) %w+$')
  if not marked then
    return 'unmarked', text
  end
  if marked ~= run then
    return 'restarted', text
  end
  return tonumber(from) > now and 'quarantined' or 'voting', text
end

