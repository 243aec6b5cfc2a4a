#include "app/cli/command.h"

#include <array>

namespace orrery::cli {

std::span<const Command* const> commands() {
    static const std::array<const Command*, 15> all{
        &methodsCommand,  &hardwareCommand,  &workloadsCommand,  &importCommand, &runCommand,
        &studyCommand,    &exportCommand,    &projectCommand,    &mapCommand,    &arrayCommand,
        &evaluateCommand, &calibrateCommand, &referencesCommand, &serveCommand,
        &trainCommand};
    return all;
}

}  // namespace orrery::cli
