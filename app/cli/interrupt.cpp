#include "app/cli/interrupt.h"

#include "app/cli/output.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>

namespace orrery::cli {

namespace {

sigset_t interrupts() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

Watch::Watch() : terminal_(::isatty(STDERR_FILENO) != 0) {
    const sigset_t set = interrupts();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    thread_ = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

Watch::~Watch() {
    end();
    thread_.request_stop();
}

void Watch::begin(std::string_view what) {
    const std::lock_guard lock(drawing_);
    what_ = what;
    busy_ = true;
}

void Watch::end() {
    busy_ = false;
    erase();
}

void Watch::erase() {
    const std::lock_guard lock(drawing_);
    if (drawn_) say("\r\x1b[K");
    drawn_ = false;
}

void Watch::watch(const std::stop_token& ended) {
    const sigset_t set = interrupts();
    while (!ended.stop_requested()) {
        const timespec wait{0, 50'000'000};
        if (sigtimedwait(&set, nullptr, &wait) > 0) {
            if (!busy_ || stop_.stop_requested()) ::_exit(1);
            stop_.request_stop();
            erase();
            if (terminal_) say("stopping, what is finished is kept; once more to end at once\n");
        }
        const std::lock_guard lock(drawing_);
        if (terminal_ && busy_ && progress_.total() > 1 && !stop_.stop_requested()) {
            say(fmt::format("\r\x1b[K{}: {} of {} ({:.0f} %)", what_, progress_.done(), progress_.total(),
                            100 * progress_.fraction()));
            std::fflush(stderr);
            drawn_ = true;
        }
    }
}

}  // namespace orrery::cli
