#include "store/project/project.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace orrery {

namespace {

namespace fs = std::filesystem;

Unexpected systemError(std::string_view doing, const std::string& path, int error) {
    std::string hint;
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            hint = "free some space or save somewhere else; the file that was there is unchanged";
            break;
        case EACCES:
        case EPERM:
            hint = "save somewhere else, or change the permissions of the folder";
            break;
        case EROFS:
            hint = "the file system is read-only: save somewhere else";
            break;
        case ENOENT:
            hint = "check the spelling of the path, and that the folder exists";
            break;
        case EISDIR:
            hint = "give the name of a file in that folder";
            break;
        default:
            break;
    }
    return fail("file.system", fmt::format("cannot {}: {}", doing, std::strerror(error)), "", std::move(hint), {path});
}

class FileHandle {
public:
    explicit FileHandle(int number) : number_(number) {}
    ~FileHandle() {
        if (number_ >= 0) ::close(number_);
    }
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;
    int number() const { return number_; }
    /// Closing reports errors that a network file system has kept back.
    bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

bool writeAll(int file, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// A new file of its own beside the target; a fresh one gets what the umask leaves, a replaced one starts private.
int openBeside(const fs::path& target, bool replaces, std::string& name) {
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
        name = (target.parent_path() /
                fmt::format(".{}.{}-{}.new", target.filename().string(), ::getpid(), counter.fetch_add(1)))
                   .string();
        const int file = ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, replaces ? 0600 : 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

// A device or a pipe is what its name means to others: it is written into, never replaced. One that nobody reads
// would hold the writer for ever; it is refused.
Expected<void> writeInto(const fs::path& target, const std::string& path, std::string_view content) {
    FileHandle file(::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) return systemError("write the file", path, errno);
    if (::fcntl(file.number(), F_SETFL, O_WRONLY) != 0 || !writeAll(file.number(), content) || !file.close())
        return systemError("write the file", path, errno);
    return {};
}

}  // namespace

Expected<void> saveFileAtomically(const std::string& path, std::string_view content) {
    if (path.empty()) return fail("file.system", "no file name is given", "the path of a file");
    std::error_code code;
    fs::path target(path);
    if (fs::is_symlink(fs::symlink_status(target, code))) {
        const fs::path real = fs::weakly_canonical(target, code);
        if (!code) target = real;
    }
    if (fs::is_directory(target, code)) return systemError("write the file", path, EISDIR);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    struct stat before {};
    const bool exists = ::stat(target.c_str(), &before) == 0;
    if (exists && ::access(target.c_str(), W_OK) != 0) return systemError("write the file", path, errno);
    if (exists && !S_ISREG(before.st_mode)) return writeInto(target, path, content);

    std::string temporary;
    FileHandle file(openBeside(target, exists, temporary));
    if (file.number() < 0) return systemError("write into the folder", path, errno);
    const auto giveUp = [&](std::string_view doing) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return systemError(doing, path, error);
    };
    if (!writeAll(file.number(), content)) return giveUp("write the file");
    // The owner can only be kept by the superuser; who may not simply becomes the owner, as with any editor.
    if (exists && ::fchown(file.number(), before.st_uid, before.st_gid) != 0) errno = 0;
    if (exists && ::fchmod(file.number(), before.st_mode & 07777) != 0)
        return giveUp("set the permissions of the file");
    if (::fsync(file.number()) != 0) return giveUp("write the file to the disk");
    if (!file.close()) return giveUp("write the file");
    if (::rename(temporary.c_str(), target.c_str()) != 0) return giveUp("replace the file");
    // The new name is durable once the folder is; a file system that cannot sync folders has renamed all the same.
    const FileHandle directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() >= 0 && ::fsync(directory.number()) != 0) errno = 0;
    return {};
}

}  // namespace orrery
