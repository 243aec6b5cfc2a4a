#include "widgets/common/turns.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace orrery::ui {
namespace {

#ifdef __linux__
// As <linux/sched/types.h> has it, which cannot stand beside the C library's headers.
struct Scheduling {
    std::uint32_t size = sizeof(Scheduling), policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
};
#endif

// How much nicer the calling thread becomes than it was, and for how long it wants a core at a time.
void takeTurns([[maybe_unused]] int nicer, [[maybe_unused]] std::chrono::nanoseconds turn) {
#ifdef __linux__
    constexpr std::uint32_t usual = 0, mostNice = 19;
    Scheduling now;
    if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != usual) return;
    now.size = sizeof now;
    now.nice = std::min<std::int32_t>(now.nice + nicer, mostNice);
    now.runtime = static_cast<std::uint64_t>(turn.count());
    syscall(SYS_sched_setattr, 0, &now, 0);
#endif
}

}  // namespace

void comeFirst() {
    using namespace std::chrono_literals;
    takeTurns(0, 200us);
}

void giveWay() {
    using namespace std::chrono_literals;
    takeTurns(5, 500us);
}

}  // namespace orrery::ui
