#pragma once

// Values made of files, each kept while its files stay as they are.

#include "base/diagnostic.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace orrery {

/// Thread-safe; a file is read by one thread while the others wait. Beyond `most` values the oldest is forgotten.
template <class Value>
class KeptFiles {
public:
    using Kept = std::shared_ptr<const Value>;
    explicit KeptFiles(std::size_t most) : most_(most) {}

    /// What `read` made of these files, empty paths being none, unless one was written since. Failures are not kept,
    /// nor is what was made where a file's time cannot be told.
    template <class Read>
    Expected<Kept> get(std::vector<std::string> paths, const Read& read) {
        const std::scoped_lock lock(mutex_);
        const auto written = writtenAt(paths);
        const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const Entry& one) { return one.paths == paths; });
        if (at != kept_.end() && !written.empty() && at->written == written) return at->value;
        Expected<Value> made = read();
        if (!made) return Unexpected(std::move(made.error()));
        auto value = std::make_shared<const Value>(std::move(*made));
        if (at != kept_.end()) kept_.erase(at);
        if (written.empty()) return value;
        if (kept_.size() >= most_) kept_.erase(kept_.begin());
        kept_.push_back({std::move(paths), written, value});
        return value;
    }

private:
    using Times = std::vector<std::filesystem::file_time_type>;
    struct Entry {
        std::vector<std::string> paths;
        Times written;
        Kept value;
    };
    static Times writtenAt(const std::vector<std::string>& paths) {
        Times times;
        for (const std::string& path : paths) {
            std::error_code problem;
            times.push_back(path.empty() ? std::filesystem::file_time_type{}
                                         : std::filesystem::last_write_time(path, problem));
            if (problem) return {};
        }
        return times;
    }
    std::mutex mutex_;
    std::size_t most_;
    std::vector<Entry> kept_;
};

}  // namespace orrery
