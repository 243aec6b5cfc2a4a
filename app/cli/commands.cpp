#include "app/cli/command.h"

#include <array>

namespace orrery::cli {

std::span<const Command* const> commands() {
    static const std::array<const Command*, 8> all{&methodsCommand, &hardwareCommand, &workloadsCommand,
                                                   &importCommand,  &runCommand,      &studyCommand,
                                                   &exportCommand,  &projectCommand};
    return all;
}

}  // namespace orrery::cli
