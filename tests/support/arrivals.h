#pragma once

// Requests written out by hand.

#include "serving/traffic/request_stream.h"

#include <memory>
#include <vector>

namespace orrery::testing {

/// At `at` seconds, with so many tokens of prompt and output.
struct Arrival {
    double at;
    std::int32_t prompt, output;
};
inline std::shared_ptr<RequestStream> arrivals(const std::vector<Arrival>& list) {
    auto stream = std::make_shared<RequestStream>();
    for (const Arrival& one : list) {
        stream->arrival.push_back(toTicks(one.at));
        stream->prompt.push_back(one.prompt);
        stream->output.push_back(one.output);
    }
    return stream;
}

}  // namespace orrery::testing
