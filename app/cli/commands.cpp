#include "app/cli/command.h"

#include <array>

namespace orrery::cli {

std::span<const Command* const> commands() {
    static const std::array<const Command*, 21> all{
        &methodsCommand,  &hardwareCommand, &workloadsCommand, &importCommand,     &runCommand,     &studyCommand,
        &searchCommand,   &compareCommand,  &exportCommand,    &projectCommand,    &mapCommand,     &arrayCommand,
        &evaluateCommand, &driftCommand,    &calibrateCommand, &referencesCommand, &measureCommand, &serveCommand,
        &trainCommand,    &planCommand,     &surrogateCommand};
    return all;
}

}  // namespace orrery::cli
