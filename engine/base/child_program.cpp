#include "base/child_program.h"

#include "base/text/read_file.h"
#include "base/text/words.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace orrery {

namespace {

using Clock = std::chrono::steady_clock;

/// What posix_spawn is told, freed with it.
struct SpawnPlan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SpawnPlan() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
};

std::uint64_t sizeOf(const std::string& file) {
    struct stat about {};
    return stat(file.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

bool hasEnded(pid_t process) {
    siginfo_t state{};
    return waitid(P_PID, static_cast<id_t>(process), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid == process;
}

/// The largest of a process and those that it has started, as far as the system tells; 0: it does not. What wait4 says
/// is no less than this program's own memory at the start.
double largestOf(pid_t process, int depth = 0) {
    double peak = 0;
    const std::string about = fmt::format("/proc/{}", process);
    if (const auto status = readFile(about + "/status", {.most = 1 << 16, .pipes = true})) {
        const auto at = status->find("VmHWM:");
        if (at != std::string::npos) {
            const auto line = trimmed(std::string_view(*status).substr(at + 6, status->find('\n', at) - at - 6));
            peak = 1024 * numberIn(line.substr(0, line.find(' '))).value_or(0);
        }
    }
    if (depth > 8) return peak;
    if (const auto children =
            readFile(fmt::format("{}/task/{}/children", about, process), {.most = 1 << 16, .pipes = true}))
        for (const auto each : split(*children, ' '))
            if (const auto child = wholeIn(trimmed(each)))
                peak = std::max(peak, largestOf(static_cast<pid_t>(*child), depth + 1));
    return peak;
}

double ownPeak() {
    struct rusage used {};
    getrusage(RUSAGE_SELF, &used);
    return 1024.0 * static_cast<double>(used.ru_maxrss);
}

// Only while its first process is not reaped, so that the number is still the group's.
void reap(pid_t process, int& status, struct rusage& used) {
    kill(-process, SIGKILL);
    while (wait4(process, &status, 0, &used) < 0 && errno == EINTR) continue;
}

}  // namespace

Expected<ProgramRun> runProgram(const ProgramCall& call, const std::stop_token& stop) {
    const std::string& path = call.command.front();
    SpawnPlan plan;
    const auto open = [&](int descriptor, const char* file, int flags) {
        posix_spawn_file_actions_addopen(&plan.actions, descriptor, file, flags, 0644);
    };
    open(STDIN_FILENO, "/dev/null", O_RDONLY);
    open(STDOUT_FILENO, call.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    open(STDERR_FILENO, call.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    posix_spawn_file_actions_addchdir_np(&plan.actions, call.folder.c_str());
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int each : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) sigaddset(&usual, each);
    posix_spawnattr_setsigmask(&plan.attributes, &none);
    posix_spawnattr_setsigdefault(&plan.attributes, &usual);
    posix_spawnattr_setpgroup(&plan.attributes, 0);
    posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> words = call.command;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    if (stop.stop_requested()) return fail("study.cancelled", fmt::format("`{}` was not started", path));
    const auto begin = Clock::now();
    pid_t process = -1;
    if (const int problem =
            posix_spawn(&process, path.c_str(), &plan.actions, &plan.attributes, arguments.data(), environ)) {
        return fail("program.not-started", fmt::format("`{}` cannot be started: {}", path, std::strerror(problem)),
                    "a program, or a script with `#!` in its first line, that may be executed");
    }
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    int status = 0;
    struct rusage used {};
    std::string_view why;
    double peak = 0;
    for (auto wait = std::chrono::microseconds(200); !hasEnded(process);) {
        if (stop.stop_requested()) why = "study.cancelled";
        if (seconds() > call.mostSeconds) why = "program.too-long";
        if (std::max(sizeOf(call.output), sizeOf(call.errors)) > call.mostOutput) why = "program.too-much-output";
        if (!why.empty()) break;
        peak = std::max(peak, largestOf(process));
        std::this_thread::sleep_for(wait);
        wait = std::min(wait * 3 / 2, std::chrono::microseconds(20'000));
    }
    ProgramRun run;
    run.seconds = seconds();
    reap(process, status, used);
    if (why.empty() && std::max(sizeOf(call.output), sizeOf(call.errors)) > call.mostOutput)
        why = "program.too-much-output";
    if (why == "study.cancelled") return fail("study.cancelled", fmt::format("`{}` was stopped", path));
    if (why == "program.too-long")
        return fail("program.too-long", fmt::format("`{}` was stopped after {:.3g} s", path, call.mostSeconds),
                    "an end within that time", "allow it more time, or ask a smaller question");
    if (!why.empty())
        return fail("program.too-much-output",
                    fmt::format("`{}` was stopped after {} MiB of output", path, call.mostOutput >> 20),
                    "a report, not a trace");
    run.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const double waited = 1024.0 * static_cast<double>(used.ru_maxrss);
    run.peakBytes = waited > ownPeak() ? waited : peak;
    return run;
}

std::string findProgram(std::string_view name) {
    namespace fs = std::filesystem;
    const auto runs = [](const fs::path& path) {
        std::error_code ignored;
        return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
    };
    std::error_code ignored;
    if (name.empty()) return {};
    if (name.find('/') != std::string_view::npos) {
        const fs::path path = fs::absolute(fs::path(name), ignored);
        return runs(path) ? path.string() : std::string();
    }
    const char* variable = std::getenv("PATH");
    std::string_view folders = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        const auto colon = folders.find(':');
        const auto folder = folders.substr(0, colon);
        if (!folder.empty() && runs(fs::path(folder) / name))
            return fs::absolute(fs::path(folder) / name, ignored).string();
        if (colon == std::string_view::npos) return {};
        folders.remove_prefix(colon + 1);
    }
}

}  // namespace orrery
