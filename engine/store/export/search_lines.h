#pragma once

// A search as it goes on, a line of JSON at a time: what `orrery-cli search --progress json` prints and the studio
// follows, be it from another machine.

#include "study/exploration/search.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct SearchLine {
    enum class Kind { Begin, Points, Beat, End } kind = Kind::Beat;
    std::string question;    ///< Begin: hash of all that decides the numbers
    std::uint64_t most = 0;  ///< Begin: points that may be asked for; 0: not known
    std::vector<PointAnswer> points;
    bool finished = false;  ///< End: not stopped
};

std::string beginLine(const std::string& question, std::uint64_t most);
/// Rows from `first` on.
std::string pointsLine(const PointAnswers& seen, std::size_t first);
std::string beatLine();
std::string endLine(bool finished);
/// One line without its end. Fails with `search.line` on what is none of these.
Expected<SearchLine> readSearchLine(std::string_view line, std::size_t objectives);

}  // namespace orrery
