#pragma once

// What `orrery-cli map` is made of: counts as text and JSON, a search where no mapping is given, whole workloads.

#include "app/cli/command.h"
#include "mapping/mappers/mapper.h"
#include "mapping/timeloop/timeloop.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <thread>

namespace orrery::cli {

std::string countsText(const TimeloopInput& input, const NestCounts& counts);
nlohmann::ordered_json countsJson(const TimeloopInput& input, const NestCounts& counts);

/// `--mapper`, `--objective`, `--seed`, `--evaluations`, `--seconds`.
const std::vector<Option>& mapperOptions();
/// What is not given stays as in `base`. Codes `usage.…`.
Expected<MapperOptions> readMapperOptions(const Arguments& arguments, MapperOptions base);

/// Shows on a terminal how far a proof is, from its making to its end: best, bound, gap.
class ProofWatch {
public:
    ProofWatch();
    MapperProgress& progress() { return progress_; }

private:
    MapperProgress progress_;
    std::jthread thread_;  ///< ends before the progress does
};

struct FoundMapping {
    MapperResultPtr result;
    MapperOptions options;
};
/// Searches a mapping of the problem under the constraints and mapper options of its files and of the command line.
Expected<FoundMapping> searchFor(const TimeloopInput& input, const std::shared_ptr<const SparseDesign>& sparse,
                                 const Arguments& arguments, Watch& watch);
/// How the search went, in one paragraph.
std::string searchText(const MapperResult& result, const MapperOptions& options, const NestHardware& hardware);
/// Keys `mapper`, `objective`, `value`, `proven`, `lower_bound` (of the objective; 0: none known), `edp`, `seconds`.
void addSearch(nlohmann::ordered_json& json, const MapperResult& result, const MapperOptions& options);

/// `--hardware H --workload W [--operator NAME]`.
int mapWorkload(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
