#pragma once

// What `orrery-cli map` is made of: counts as text and JSON, a search where no mapping is given, whole workloads.

#include "app/cli/command.h"
#include "mapping/mappers/mapper.h"
#include "mapping/timeloop/timeloop.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace orrery::cli {

std::string countsText(const TimeloopInput& input, const NestCounts& counts);
nlohmann::ordered_json countsJson(const TimeloopInput& input, const NestCounts& counts);

/// `--mapper`, `--objective`, `--seed`, `--evaluations`.
const std::vector<Option>& mapperOptions();
/// What is not given stays as in `base`. Codes `usage.…`.
Expected<MapperOptions> readMapperOptions(const Arguments& arguments, MapperOptions base);

/// Searches a mapping of the problem under the constraints and mapper options of its files and of the command line.
Expected<MapperResultPtr> searchFor(const TimeloopInput& input, const std::shared_ptr<const SparseDesign>& sparse,
                                    const Arguments& arguments, Watch& watch);
/// How the search went, in one paragraph.
std::string searchText(const MapperResult& result, const NestHardware& hardware);

/// `--hardware H --workload W [--operator NAME]`.
int mapWorkload(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
