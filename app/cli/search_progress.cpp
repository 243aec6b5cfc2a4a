#include "app/cli/search_progress.h"

#include "app/cli/output.h"
#include "base/hash.h"
#include "store/export/search_lines.h"

#include <condition_variable>

namespace orrery::cli {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

SearchProgress::SearchProgress(const std::string& question, std::uint64_t most) {
    say(beginLine(Hash().add(question).hex(), most));
    beats_ = std::jthread([this](const std::stop_token& ended) {
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        while (!wake.wait_for(lock, ended, std::chrono::seconds(1), [&] { return ended.stop_requested(); })) {
            if (ended.stop_requested()) return;
            say(beatLine());
        }
    });
}

SearchProgress::~SearchProgress() = default;

bool SearchProgress::say(const std::string& line) {
    const std::lock_guard lock(printing_);
    read_ = read_ && print(line);
    said_ = Clock::now();
    return read_;
}

bool SearchProgress::add(const PointAnswers& seen) {
    const bool first = told_ == 0;
    {
        const std::lock_guard lock(printing_);
        if (!first && Clock::now() - said_ < std::chrono::milliseconds(200)) return read_;
    }
    const std::string line = pointsLine(seen, told_);
    told_ = seen.size();
    return say(line);
}

bool SearchProgress::end(const PointAnswers& seen, bool finished) {
    beats_.request_stop();
    return (told_ == seen.size() || say(pointsLine(seen, told_))) && say(endLine(finished));
}

}  // namespace orrery::cli
