#pragma once

// The cases of `orrery-cli compare`: designs (each with its variants) × workloads × plans.

#include "app/cli/command.h"
#include "study/comparison/cases.h"

#include <string>
#include <vector>

namespace orrery::cli {

struct CasesAsked {
    std::vector<ComparedCase> cases;
    std::vector<std::string> methods;
    std::size_t baseline = 0;
};
/// Fails with `usage.…` on what the command line says wrong, and as designs and models are read.
Expected<CasesAsked> casesAsked(const Arguments& arguments);

}  // namespace orrery::cli
