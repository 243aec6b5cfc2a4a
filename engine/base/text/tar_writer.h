#pragma once

// Several texts as one file that every system unpacks: a tar archive (POSIX ustar), packed by gzip.

#include "base/diagnostic.h"

#include <string>
#include <vector>

namespace orrery {

struct TarText {
    std::string name;  ///< with its folders, at most 99 bytes; `/` between them
    std::string text;
};

/// The archive's bytes. The same texts and the same time (seconds since 1970) give the same bytes. Fails with
/// `archive.name` for a name that ustar cannot hold or that leads out of the folder in which it is unpacked.
Expected<std::string> packedTar(const std::vector<TarText>& texts, long long modified);

}  // namespace orrery
