#pragma once

// What the readers of published cases share.

#include "base/diagnostic.h"
#include "serving/traffic/request_stream.h"

#include <string>
#include <vector>

namespace orrery {

bool fileExists(const std::string& path);

struct PublishedRow {
    double arrival = 0;  ///< seconds
    std::int64_t id = 0;
    std::int32_t prompt = 1, output = 1;
};
/// Sorted by arrival, equal ones as they stand.
RequestStream streamOf(std::vector<PublishedRow> rows, std::string name, std::string source);

}  // namespace orrery
