-- The line of fair waiters of a resource: a hash of waiter -> "order:end". The first is the one with
-- the lowest order, then the lowest name; the end is when the place is lost, in milliseconds of this
-- server's clock. The key ends with the last place.

-- Lua's own comparison of strings depends on the server's locale, and all nodes must agree.
local function before(order, waiter, other_order, other_waiter)
  if order ~= other_order then
    return order < other_order
  end
  for i = 1, math.min(#waiter, #other_waiter) do
    local byte, other = string.byte(waiter, i), string.byte(other_waiter, i)
    if byte ~= other then
      return byte < other
    end
  end
  return #waiter < #other_waiter
end

-- The first of a line and when its place ends; nothing if nobody is there. Drops lost places.
local function first_of(line)
  local fields = redis.call('HGETALL', line)
  local first, first_order, first_ends
  local last = 0
  for f = 1, #fields, 2 do
    local order, ends = string.match(fields[f + 1], '^(%d+):(%d+)$')
    order, ends = tonumber(order), tonumber(ends)
    if not ends or ends <= now then
      redis.call('HDEL', line, fields[f])
    else
      last = math.max(last, ends)
      if not first or before(order, fields[f], first_order, first) then
        first, first_order, first_ends = fields[f], order, ends
      end
    end
  end
  if last > 0 then
    redis.call('PEXPIREAT', line, integer(last))
  end
  return first, first_ends
end

