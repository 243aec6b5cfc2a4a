#pragma once

// `search --progress json`: lines for a program that follows the search, such as the studio.

#include "study/exploration/search.h"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace orrery::cli {

/// Prints what is new a few times a second, and that it lives while nothing is.
class SearchProgress {
public:
    /// `question`: as searchProblemText() has it; the lines carry its hash.
    SearchProgress(const std::string& question, std::uint64_t most);
    ~SearchProgress();
    /// False where nobody reads any more.
    bool add(const PointAnswers& seen);
    bool end(const PointAnswers& seen, bool finished);

private:
    bool say(const std::string& line);
    std::mutex printing_;
    std::size_t told_ = 0;
    bool read_ = true;
    std::chrono::steady_clock::time_point said_;
    std::jthread beats_;
};

}  // namespace orrery::cli
