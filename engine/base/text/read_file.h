#pragma once

// A whole file as one string: the one place where that is done.

#include "base/diagnostic.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// What a reader says of its own files, and what it takes.
struct FileRules {
    std::size_t most = std::size_t{16} << 20;  ///< bytes
    std::string_view code = {};                ///< of what cannot be read; empty: `file.system`, `file.kind`
    std::string_view tooLarge = {};            ///< of a file over `most`; empty: as `code`, or `file.size`
    std::string_view expected = {};            ///< in messages; empty: a file
    std::string_view hint = {};                ///< of a file over `most`; empty: is this the right file?
    bool pipes = false;                        ///< also what is no plain file, such as a shell's `<(…)`
};

/// Fails with the reason that the system gives, for folders and what is no plain file, and for more than `most` bytes.
Expected<std::string> readFile(const std::string& path, const FileRules& rules = {});
Expected<std::string> readFile(const std::string& path, std::size_t most);

}  // namespace orrery
