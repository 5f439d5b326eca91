-- The common case before everything else: one resource, exclusive, without a line, told by the number of
-- arguments. What is found to be less simple goes on below and has changed nothing; so the two agree
-- in all that they answer. (Most of the time of a script goes into calls and into making the
-- functions that follow: see docs/internals/decisions.md.)
--
-- KEYS     entry, counter, the records if there are any to check
-- ARGV     1 owner, 2 what the record must be, or empty, 3 ttl ms, 4 proposal, 5 retention of the
--          counter in ms, 6 the field of the record
-- returns  the proposal as a text if it was granted and the counter is the proposal now;
--          otherwise as below
local ARGV, KEYS = ARGV, KEYS
if #ARGV == 6 then
  local call, pcall = redis.call, redis.pcall
  if ARGV[2] == '' or pcall('HGET', KEYS[3], ARGV[6]) == ARGV[2] then
    local counter = pcall('GET', KEYS[2]) or '0'
    if type(counter) == 'string' and #counter <= 16 and string.find(counter, '^%d+$')
      and tonumber(counter) < tonumber(ARGV[4]) then
      -- A server that refuses a script's writes refuses the first one.
      if call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then
        call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
        return ARGV[4]
      end
      local holder = pcall('GET', KEYS[1])
      if type(holder) == 'string' and holder ~= ARGV[1] then
        return { 0, tonumber(counter), 1, 'exclusive', holder, call('PTTL', KEYS[1]) }
      end
    end
  end
  local seen = string.gsub(ARGV[2], ' 0 voting$', '')
  ARGV = { ARGV[1], 'exclusive', '1', seen, ARGV[3], ARGV[4], ARGV[5] }
end

