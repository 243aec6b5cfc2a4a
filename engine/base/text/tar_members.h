#pragma once

// What an archive of the ustar form holds (POSIX.1-1988 and later, as tar writes it), in memory. Names of extended
// headers are passed over: a member has the name that its own header gives.

#include "base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct TarMember {
    std::string name;       ///< with its folders
    std::string_view text;  ///< into the archive
};

/// Whether a text begins as an archive does.
bool isTar(std::string_view text);

/// Plain files in their order, but those whose name begins with `._` (Finder's companions of others). Fails with
/// `archive.damaged` where a header does not fit its sum, a member reaches beyond the end, or there are over 65,536.
Expected<std::vector<TarMember>> tarMembers(std::string_view text, std::string_view file);

}  // namespace orrery
