-- What every script of this package begins with.
--
-- KEYS   n entries, then their n counters, in the order of the resources, then what the script
--        itself names
-- ARGV   1 owner, 2 'exclusive' or 'shared', 3 n, then what the script itself names
--
-- An entry is a string that holds the owner, or, for readers, a hash of
-- owner -> "end:counter": when the reader's time is over in milliseconds of this server's clock,
-- and the number that its grant got. Numbers stay below 2^53, where Lua's are exact.
--
-- A counter is a number, followed by an 'r' while the number was last given to a reader, so that
-- other readers may have it too.

local resources = tonumber(ARGV[3])
local owner = ARGV[1]
local shared = ARGV[2] == 'shared'
local MAX_COUNTER = 9007199254740991

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function integer(number)
  return string.format('%.0f', number)
end

-- The counter of resource i, zero if there is none. Second value: an error reply, or nil. Third
-- value: whether its number was last given to a reader.
local function counter_of(i)
  local text = redis.pcall('GET', KEYS[resources + i])
  if not text then
    return 0
  end
  if type(text) == 'table' then
    return 0, redis.error_reply('COUNTER the key ' .. KEYS[resources + i] .. ' is not a counter')
  end
  local digits, mark = string.match(text, '^(%d+)(r?)$')
  local number = digits and #digits <= 16 and tonumber(digits)
  if not number or number > MAX_COUNTER then
    return 0, redis.error_reply(
      'COUNTER ' .. KEYS[resources + i] .. ' must be a number from 0 to 2^53-1')
  end
  return number, nil, mark == 'r'
end

-- The highest counter of all resources. Second value: an error reply, or nil. Third value: whether
-- a reader may have this number, since wherever a counter is there, a reader was last given it.
local function highest_counter()
  local highest, joinable = 0, false
  for i = 1, resources do
    local counter, failure, by_reader = counter_of(i)
    if failure then
      return 0, failure
    end
    if counter > highest then
      highest, joinable = counter, by_reader
    elseif counter == highest then
      joinable = joinable and by_reader
    end
  end
  return highest, nil, joinable
end

-- Writes a counter. Never ends it sooner than it would have ended: another owner's hold may rest on it.
local function store_counter(i, number, by_reader, retention)
  local key = KEYS[resources + i]
  local keep = math.max(retention, redis.call('PTTL', key))
  redis.call('SET', key, integer(number) .. (by_reader and 'r' or ''), 'PX', integer(keep))
end

-- The readers of a hash whose time is not over, as { owner, end, counter }; nil if the hash is not
-- ours.
local function readers_of(key)
  local fields = redis.call('HGETALL', key)
  local readers = {}
  for f = 1, #fields, 2 do
    local ends, counter = string.match(fields[f + 1], '^(%d+):(%d+)$')
    if not ends then
      return nil
    end
    if tonumber(ends) > now then
      readers[#readers + 1] = { fields[f], tonumber(ends), tonumber(counter) }
    end
  end
  return readers
end

-- Who is at a key, as seen by this request: state, kind, holder, remaining milliseconds, counter.
-- state 'free': nobody is in the way; 'mine': this owner holds it; 'other': somebody else does.
-- kind is 'exclusive', 'shared', or the type of a foreign key. A remaining time of -1 is endless.
local function look(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    return 'free'
  end
  local remaining = redis.call('PTTL', key)
  if kind == 'string' then
    local holder = redis.call('GET', key)
    if holder == owner and not shared then
      return 'mine', 'exclusive', holder, remaining
    end
    return 'other', 'exclusive', holder, remaining
  end
  local readers = kind == 'hash' and readers_of(key)
  if not readers then
    return 'other', kind, '', remaining
  end
  local last
  for _, reader in ipairs(readers) do
    if shared and reader[1] == owner then
      return 'mine', 'shared', reader[1], reader[2] - now, reader[3]
    end
    if not last or reader[2] > last[2] then
      last = reader
    end
  end
  if shared or not last then
    return 'free'
  end
  return 'other', 'shared', last[1], last[2] - now
end

-- The first resource that somebody else holds, as { index, kind, holder, remaining }, or nil; and
-- how many this owner holds; and the highest number stored with those, nil for an exclusive owner.
local function look_at_all()
  local mine, stored = 0, nil
  for i = 1, resources do
    local state, kind, holder, remaining, counter = look(KEYS[i])
    if state == 'other' then
      return { i, kind, holder, remaining }, mine
    end
    if state == 'mine' then
      mine = mine + 1
      stored = counter and math.max(counter, stored or 0)
    end
  end
  return nil, mine, stored
end

-- Lets the key of readers live as long as the last of them, and drops those whose time is over.
local function tidy_readers(key)
  local fields = redis.call('HGETALL', key)
  local last = 0
  for f = 1, #fields, 2 do
    local ends = tonumber(string.match(fields[f + 1], '^(%d+):'))
    if ends <= now then
      redis.call('HDEL', key, fields[f])
    else
      last = math.max(last, ends)
    end
  end
  if last > 0 then
    redis.call('PEXPIREAT', key, integer(last))
  end
end

-- Writes this owner's entry at a key at which nobody is in the way.
local function put(key, ttl, counter)
  if not shared then
    redis.call('DEL', key) -- readers whose time is over
    redis.call('SET', key, owner, 'NX', 'PX', integer(ttl))
    return
  end
  redis.call('HSET', key, owner, integer(now + ttl) .. ':' .. integer(counter))
  tidy_readers(key)
end

-- Lets this owner's entry live for ttl from now on.
local function prolong(key, ttl)
  if not shared then
    redis.call('PEXPIRE', key, integer(ttl))
    return
  end
  local counter = string.match(redis.call('HGET', key, owner), ':(%d+)$')
  redis.call('HSET', key, owner, integer(now + ttl) .. ':' .. counter)
  tidy_readers(key)
end

