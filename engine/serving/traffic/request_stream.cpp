#include "serving/traffic/request_stream.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace orrery {

namespace {

Unexpected wrong(std::string message, std::string expected, std::string_view column, std::size_t request,
                 const std::string& source) {
    return fail("stream.inconsistent", std::move(message), std::move(expected),
                "repair the trace, or generate the requests again",
                Place{source, 0, 0, fmt::format("requests/{}/{}", request, column)});
}

}  // namespace

Expected<void> RequestStream::check() const {
    const std::size_t n = size();
    if (n == 0) {
        return fail("stream.empty", "there are no requests", "at least one request",
                    "ask for more, or keep more of the trace", Place{source, 0, 0, {}});
    }
    if (n >= no_request) {
        return fail("stream.too-many", fmt::format("{} requests are more than one run can hold", n),
                    fmt::format("fewer than {}", no_request), "take a part of the trace", Place{source, 0, 0, {}});
    }
    const auto fits = [&](std::size_t rows, std::string_view column, bool optional) -> Expected<void> {
        if (rows == n || (optional && rows == 0)) return {};
        return wrong(fmt::format("column {} has {} rows for {} requests", column, rows, n), "one row per request",
                     column, 0, source);
    };
    for (const auto& verdict : {fits(arrival.size(), "arrival", false), fits(output.size(), "output", false),
                                fits(priority.size(), "priority", true), fits(tenant.size(), "tenant", true),
                                fits(id.size(), "id", true), fits(adapter.size(), "adapter", true),
                                fits(after.size(), "after", true), fits(think.size(), "think", true)}) {
        if (!verdict) return verdict;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (prompt[i] < 1)
            return wrong(fmt::format("a prompt of {} tokens", prompt[i]), "1 or more", "prompt", i, source);
        if (output[i] < 1)
            return wrong(fmt::format("an output of {} tokens", output[i]), "1 or more", "output", i, source);
        if (std::int64_t{prompt[i]} + output[i] > std::numeric_limits<std::int32_t>::max()) {
            return wrong("prompt and output together are beyond 2^31 tokens", "fewer tokens", "prompt", i, source);
        }
        if (arrival[i] < 0) {
            return wrong(fmt::format("an arrival at {} s", toSeconds(arrival[i])), "0 or later", "arrival", i, source);
        }
        if (i > 0 && arrival[i] < arrival[i - 1]) {
            return wrong("a request arrives before the one in front of it", "rows in order of arrival", "arrival", i,
                         source);
        }
        if (!after.empty() && after[i] != no_request && after[i] >= i) {
            return wrong(fmt::format("it waits for request {}, which does not come before it", after[i]),
                         "an earlier request", "after", i, source);
        }
        if (!think.empty() && think[i] < 0) return wrong("a negative pause", "0 or more", "think", i, source);
    }
    if (stages < 1 || n % static_cast<std::size_t>(stages) != 0) {
        return wrong(fmt::format("{} requests are no questions of {} stages", n, stages), "whole questions", "stages",
                     n - 1, source);
    }
    if (concurrency < 0) return wrong("a negative number of requests in flight", "0 or more", "concurrency", 0, source);
    if (hashBegin.empty() && hashes.empty()) return {};
    if (hashBegin.size() != n + 1 || hashBegin.front() != 0 || hashBegin.back() != hashes.size()) {
        return wrong("the hashes do not belong to the requests", "one range of hashes per request", "hashes", 0,
                     source);
    }
    if (hashTokens < 1) return wrong("a hash stands for no token", "1 or more tokens per hash", "hashes", 0, source);
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t text = std::int64_t{prompt[i]} + output[i];
        if (hashBegin[i + 1] < hashBegin[i] ||
            std::int64_t{hashBegin[i + 1]} - hashBegin[i] > (text + hashTokens - 1) / hashTokens) {
            return wrong("more hashes than the text has blocks", fmt::format("one per {} tokens", hashTokens), "hashes",
                         i, source);
        }
    }
    return {};
}

}  // namespace orrery
