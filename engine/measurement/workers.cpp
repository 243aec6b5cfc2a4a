#include "measurement/workers.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace orrery {

std::size_t usableCores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

bool useCores(std::size_t count) {
    cpu_set_t allowed, chosen;
    CPU_ZERO(&allowed);
    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    std::size_t taken = 0;
    for (int i = 0; i < CPU_SETSIZE && taken < count; ++i) {
        if (!CPU_ISSET(i, &allowed)) continue;
        CPU_SET(i, &chosen);
        ++taken;
    }
    if (taken != count || count == 0 || sched_setaffinity(0, sizeof chosen, &chosen) != 0) return false;
    // OpenMP counted the cores when the program began, OpenBLAS will when it is loaded.
    if (void* set = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
        reinterpret_cast<void (*)(int)>(set)(static_cast<int>(count));
    }
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
        setenv(name, std::to_string(count).c_str(), 1);
    }
    return true;
}

Workers::Workers(std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) threads_.emplace_back([this, i] { loop(i); });
}

Workers::~Workers() {
    ended_ = true;
    round_.fetch_add(1);
    round_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void Workers::loop(std::size_t own) {
    std::uint32_t seen = 0;
    while (true) {
        round_.wait(seen);
        seen = round_.load();
        if (ended_) return;
        (*part_)(own);
        if (left_.fetch_sub(1) == 1) left_.notify_all();
    }
}

void Workers::run(const std::function<void(std::size_t)>& part) {
    part_ = &part;
    left_ = static_cast<std::uint32_t>(threads_.size());
    round_.fetch_add(1);
    round_.notify_all();
    part(0);
    for (auto left = left_.load(); left != 0; left = left_.load()) left_.wait(left);
}

}  // namespace orrery
