#pragma once

// The folder of one run: a temporary one that goes with this object, or one that stays.

#include "base/diagnostic.h"

#include <string>
#include <string_view>
#include <utility>

namespace orrery {

class RunFolder {
public:
    /// Fails with `adapter.unwritable`.
    static Expected<RunFolder> temporary();
    static Expected<RunFolder> kept(const std::string& path);

    RunFolder(RunFolder&& other) noexcept
        : path_(std::exchange(other.path_, {})), stays_(std::exchange(other.stays_, true)) {}
    RunFolder& operator=(RunFolder&&) = delete;
    ~RunFolder();

    const std::string& path() const { return path_; }
    /// `name` may have folders in it, which are made.
    Expected<void> write(const std::string& name, std::string_view text) const;

private:
    RunFolder(std::string path, bool stays) : path_(std::move(path)), stays_(stays) {}
    std::string path_;
    bool stays_ = true;
};

}  // namespace orrery
