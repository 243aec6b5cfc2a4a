#include "app/cli/command.h"

#include <array>

namespace orrery::cli {

std::span<const Command* const> commands() {
    // One line each, so that two new ones do not meet.
    // clang-format off
    static constexpr std::array all{
        &methodsCommand,
        &hardwareCommand,
        &workloadsCommand,
        &importCommand,
        &runCommand,
        &studyCommand,
        &searchCommand,
        &compareCommand,
        &exportCommand,
        &projectCommand,
        &mapCommand,
        &arrayCommand,
        &powerCommand,
        &schedulesCommand,
        &dramCommand,
        &pimCommand,
        &evaluateCommand,
        &driftCommand,
        &surveyCommand,
        &transferCommand,
        &calibrateCommand,
        &referencesCommand,
        &measureCommand,
        &serveCommand,
        &trainCommand,
        &planCommand,
        &surrogateCommand,
        &adaptersCommand,
        &adviseCommand,
        &fidelityCommand,
        &blockCommand,
        &coreCommand,
        &benchmarkCommand,
        &gpuCommand,
        &edgeCommand,
    };
    // clang-format on
    return all;
}

}  // namespace orrery::cli
