#pragma once

// `orrery-cli gpu --sample`: what is asked, and what the answer says of it beside that of any run.

#include "app/cli/command.h"
#include "simulation/gpu/sampling/sample.h"

#include <nlohmann/json.hpp>

#include <string>

namespace orrery::cli {

/// Nothing without `--sample`. Fails with `usage.…`.
Expected<std::optional<gpusim::SampleOptions>> askedSample(const Arguments& arguments);

/// Of one kernel: its interval, what of it was simulated.
nlohmann::ordered_json sampleJson(const gpusim::SampledResult& kernel);
/// Of all kernels, with the question.
nlohmann::ordered_json sampleJson(const gpusim::SampledList& all, const gpusim::SampleOptions& options);
std::string sampleText(const gpusim::SampledList& all, const gpusim::SampleOptions& options);

/// A kernel alone, as a list of one.
gpusim::SampledList listOf(gpusim::SampledResult kernel);

}  // namespace orrery::cli
