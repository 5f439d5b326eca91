-- Tells the server's time.
--
-- KEYS     none
-- ARGV     none
-- returns  microseconds since 1970

local time = redis.call('TIME')
return time[1] * 1000000 + time[2]
