#pragma once

// A program of ours that is asked and answers line by line: what must not be linked, because of its licence or of state
// that a process has once, runs in a process of its own. It is killed with this object.

#include "base/diagnostic.h"

#include <string>
#include <string_view>

namespace orrery {

class HelperProcess {
public:
    /// By the variable if it is set, else beside this program, else by the search path. Fails with `helper.not-found`.
    static Expected<HelperProcess> start(const std::string& name, const char* variable);

    HelperProcess(HelperProcess&& other) noexcept;
    HelperProcess& operator=(HelperProcess&& other) noexcept;
    ~HelperProcess();

    /// Whether all was taken; false when it has ended.
    bool write(std::string_view text);
    /// The next line, without its end; false when it has ended.
    bool readLine(std::string& line);

private:
    HelperProcess() = default;

    int socket_ = -1, process_ = -1;
    std::string read_;
    std::size_t at_ = 0;
};

}  // namespace orrery
