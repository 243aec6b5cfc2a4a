#pragma once

// Ctrl-C and progress, both looked after by one thread while a job runs.

#include "base/progress.h"

#include <atomic>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace orrery::cli {

/// Lives as long as the program, made before any other thread, so that it alone takes SIGINT and SIGTERM. Outside a job
/// they end the program; while one runs, the first requests a stop and the second ends the program at once. Progress is
/// drawn on standard error if that is a terminal.
class Watch {
public:
    Watch();
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// From here to end(), interrupts stop the job instead of the program.
    void begin(std::string_view what);
    void end();
    Progress& progress() { return progress_; }
    std::stop_token token() const { return stop_.get_token(); }
    bool interrupted() const { return stop_.stop_requested(); }

private:
    void watch(const std::stop_token& ended);
    void erase();

    std::string what_;
    Progress progress_;
    std::stop_source stop_;
    std::atomic<bool> busy_{false};
    std::mutex drawing_;
    bool drawn_ = false;
    bool terminal_ = false;
    std::jthread thread_;
};

}  // namespace orrery::cli
