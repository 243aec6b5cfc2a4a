#pragma once

// What others have published of their tools' errors: facts with their source, shown beside what was judged here and
// never mixed with it. presets/claims/*.yaml of the format `orrery: claims/1`.

#include "base/diagnostic.h"
#include "methods/method.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct Claim {
    std::string tool, what, source;  ///< `Timeloop`; which error of what, one clause; who published it, and where
    Methodology methodology = Methodology::Analytical;
    MethodLevel level = MethodLevel::Kernel;
    std::string platform, workloadClass;  ///< as rows of references have them (row_facets.h)
    double error = 0;                     ///< mean absolute relative error
    double seconds = 0;                   ///< of one answer; 0: not published
    std::int64_t rows = 0;                ///< 0: not said
};

/// Fails with `claims.…`, file and line: another format, an unknown methodology, an error that is none, no source.
Expected<std::vector<Claim>> readClaims(const std::string& file);

struct ShippedClaims {
    std::vector<Claim> all;
    Diagnostics warnings;  ///< files that cannot be read
};
/// Those of presets/claims, read once.
const ShippedClaims& shippedClaims();

}  // namespace orrery
