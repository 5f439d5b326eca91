-- The common case before everything else: one resource, exclusive, without a line. What is found to be
-- less simple goes on below and has changed nothing; so the two agree in all that they answer.
-- (Most of the time of a script goes into making the functions that follow: measured, the common case
-- costs a third without them.)
if ARGV[2] == 'exclusive' and ARGV[3] == '1' and #ARGV == 7 then
  local votes = ARGV[4] == ''
  if not votes then
    local marker = redis.pcall('GET', KEYS[3])
    if type(marker) == 'string' then
      local marked, from = string.match(marker, '^(%w+) (%d+) %w+$')
      local time = redis.call('TIME')
      votes = marked == ARGV[4] and tonumber(from) <= time[1] * 1000 + math.floor(time[2] / 1000)
    end
  end
  local text = votes and redis.pcall('GET', KEYS[2])
  if votes and (not text or (type(text) == 'string' and #text <= 16 and string.find(text, '^%d+$'))) then
    local counter, proposal = tonumber(text or 0), tonumber(ARGV[6])
    local raised = proposal > counter and proposal or counter + 1
    if raised <= 9007199254740991 then
      -- A server that refuses a script's writes refuses the first one.
      if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[5]) then
        redis.call('SET', KEYS[2], string.format('%.0f', raised), 'PX', ARGV[7])
        return { 1, raised }
      end
      local holder = redis.pcall('GET', KEYS[1])
      if type(holder) == 'string' and holder ~= ARGV[1] then
        return { 0, counter, 1, 'exclusive', holder, redis.call('PTTL', KEYS[1]) }
      end
    end
  end
end

