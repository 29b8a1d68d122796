-- SPDX-License-Identifier: Apache-2.0
-- For wrk: asks OrderService for all orders in turn, and compares each answer with the only right one.
local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init()
    order, asked, right, wrong = -1, {}, 0, 0
end

local function expected(number)
    local lines, sum = {}, 0
    for position = 0, 7 do
        local row = number * 8 + position
        local price = row * 37 % 997
        sum = sum + price
        lines[#lines + 1] = string.format('{"position":%d,"item":"item %d","price":%d}', position, row % 313, price)
    end
    return string.format('{"order":%d,"lines":[%s],"sum":%d}\n', number, table.concat(lines, ","), sum)
end

function request()
    order = (order + 1) % 1000
    return wrk.format("GET", "/order?id=" .. order)
end

-- wrk does not say which request an answer belongs to: the answer's own number selects the text.
function response(status, headers, body)
    local number = tonumber(string.match(body, '^{"order":(%d+),'))
    if status == 200 and number and body == expected(number) then
        right = right + 1
    else
        wrong = wrong + 1
    end
end

function done(summary, latency, requests)
    local right, wrong = 0, 0
    for _, thread in ipairs(threads) do
        right, wrong = right + thread:get("right"), wrong + thread:get("wrong")
    end
    local errors = summary.errors
    io.write(string.format("RESULT %d %d %d %d %d %d %d\n", summary.requests, summary.duration, right,
        wrong + errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99), latency.max))
end
