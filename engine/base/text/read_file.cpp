#include "base/text/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orrery {

namespace {

struct OpenedFile {
    int number;
    ~OpenedFile() {
        if (number >= 0) ::close(number);
    }
};

std::string hintFor(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "check its permissions";
        case ENOENT:
            return "check the spelling of the path, and that the folder exists";
        case EISDIR:
            return "give the name of a file in that folder";
        default:
            return {};
    }
}

class WholeFile {
public:
    WholeFile(const std::string& path, const FileRules& rules) : path_(path), rules_(rules) {}

    Expected<std::string> read() const {
        const OpenedFile file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | (rules_.pipes ? 0 : O_NONBLOCK))};
        if (file.number < 0) return unreadable("open", errno);
        struct stat info {};
        if (::fstat(file.number, &info) != 0) return unreadable("read", errno);
        if (S_ISDIR(info.st_mode)) return unreadable("read", EISDIR);
        const bool plain = S_ISREG(info.st_mode);
        if (!plain && !rules_.pipes) {
            return fail(code("file.kind"), "this is not a plain file", expected("a file"), "give the path of a file",
                        {path_});
        }
        const auto size = plain ? static_cast<std::size_t>(info.st_size) : std::size_t{0};
        if (size > rules_.most) return large(fmt::format("the file has {} bytes", size));
        // One byte more than there should be, so that the end is seen without another allocation.
        std::string content(std::max(size + 1, plain ? std::size_t{0} : std::size_t{65536}), '\0');
        for (std::size_t filled = 0;;) {
            if (filled > rules_.most) return large(fmt::format("the file has more than {} bytes", rules_.most));
            if (filled == content.size()) content.resize(2 * filled);
            const ssize_t got = ::read(file.number, content.data() + filled, content.size() - filled);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return unreadable("read", errno);
            if (got == 0) {
                content.resize(filled);
                return content;
            }
            filled += static_cast<std::size_t>(got);
        }
    }

private:
    std::string code(std::string_view usual) const { return std::string(rules_.code.empty() ? usual : rules_.code); }
    std::string expected(std::string_view usual) const {
        return std::string(rules_.expected.empty() ? usual : rules_.expected);
    }
    Unexpected unreadable(std::string_view doing, int error) const {
        return fail(code("file.system"), fmt::format("cannot {} the file: {}", doing, std::strerror(error)),
                    expected({}), hintFor(error), {path_});
    }
    Unexpected large(std::string message) const {
        const std::string limit =
            rules_.most < 1 << 20 ? fmt::format("{} bytes", rules_.most) : fmt::format("{} MiB", rules_.most >> 20);
        return fail(rules_.tooLarge.empty() ? code("file.size") : std::string(rules_.tooLarge), std::move(message),
                    rules_.expected.empty() ? fmt::format("at most {}", limit)
                                            : fmt::format("{} of at most {}", rules_.expected, limit),
                    rules_.hint.empty() ? "is this the right file?" : std::string(rules_.hint), {path_});
    }

    const std::string& path_;
    const FileRules& rules_;
};

}  // namespace

Expected<std::string> readFile(const std::string& path, const FileRules& rules) {
    return WholeFile(path, rules).read();
}

Expected<std::string> readFile(const std::string& path, std::size_t most) {
    return readFile(path, FileRules{.most = most});
}

}  // namespace orrery
