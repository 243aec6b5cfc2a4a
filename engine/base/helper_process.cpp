#include "base/helper_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>

extern char** environ;

namespace orrery {

namespace {

std::string helperPath(const std::string& name, const char* variable) {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv(variable); named && *named) return named;
    std::error_code ignored;
    const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / name;
    return fs::is_regular_file(beside, ignored) ? beside.string() : name;
}

}  // namespace

Expected<HelperProcess> HelperProcess::start(const std::string& name, const char* variable) {
    const std::string path = helperPath(name, variable);
    int ends[2];
    // A socket and no pipes: writing to one that has ended must not end this program.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail("helper.not-found", fmt::format("no socket for `{}`", name), "one free file", {});
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string argument = name;
    char* arguments[] = {argument.data(), nullptr};
    pid_t process = -1;
    const int problem = posix_spawnp(&process, path.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (problem != 0) {
        close(ends[0]);
        return fail("helper.not-found", fmt::format("the program `{}` cannot be started", path),
                    fmt::format("`{}` beside this program or in the search path", name),
                    fmt::format("set {} to where it is", variable));
    }
    HelperProcess made;
    made.socket_ = ends[0];
    made.process_ = process;
    return made;
}

HelperProcess::HelperProcess(HelperProcess&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      process_(std::exchange(other.process_, -1)),
      read_(std::move(other.read_)),
      at_(std::exchange(other.at_, 0)) {}

HelperProcess& HelperProcess::operator=(HelperProcess&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(process_, other.process_);
    std::swap(read_, other.read_);
    std::swap(at_, other.at_);
    return *this;
}

HelperProcess::~HelperProcess() {
    if (socket_ >= 0) close(socket_);
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool HelperProcess::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t taken = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (taken < 0 && errno == EINTR) continue;
        if (taken <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(taken));
    }
    return true;
}

bool HelperProcess::readLine(std::string& line) {
    for (std::size_t from = at_;;) {
        if (const std::size_t end = read_.find('\n', from); end != std::string::npos) {
            line.assign(read_, at_, end - at_);
            at_ = end + 1;
            return true;
        }
        read_.erase(0, std::exchange(at_, 0));
        from = read_.size();
        char piece[4096];
        const ssize_t come = recv(socket_, piece, sizeof piece, 0);
        if (come < 0 && errno == EINTR) continue;
        if (come <= 0) return false;
        read_.append(piece, static_cast<std::size_t>(come));
    }
}

}  // namespace orrery
