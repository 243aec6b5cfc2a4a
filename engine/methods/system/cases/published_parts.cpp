#include "methods/system/cases/published_parts.h"

#include <algorithm>
#include <filesystem>

namespace orrery {

bool fileExists(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

RequestStream streamOf(std::vector<PublishedRow> rows, std::string name, std::string source) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const PublishedRow& a, const PublishedRow& b) { return a.arrival < b.arrival; });
    RequestStream stream;
    stream.name = std::move(name);
    stream.source = std::move(source);
    for (const PublishedRow& row : rows) {
        stream.arrival.push_back(toTicks(row.arrival));
        stream.prompt.push_back(row.prompt);
        stream.output.push_back(row.output);
        stream.id.push_back(row.id);
    }
    return stream;
}

}  // namespace orrery
