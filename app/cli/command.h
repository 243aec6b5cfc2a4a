#pragma once

// What every command is made of: one declarative table per command of options (name, argument, meaning), from which
// the parser works and `--help` is printed. A new command is one file with a `Command` and one row in commands.cpp.

#include "base/diagnostic.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::cli {

/// Exit codes, a contract with scripts.
enum Exit : int {
    Answered = 0,
    Unanswered = 1,  ///< the question cannot be answered: unreadable file, every method failed, interrupted
    Usage = 2,       ///< the command line itself is wrong
};

struct Option {
    std::string_view name;  ///< without the dashes
    /// What stands for its value in help; empty for a switch. In brackets the value may be left out, and is `-` then.
    std::string_view argument;
    std::string_view meaning;
    bool repeatable = false;
};

class Watch;

class Arguments {
public:
    bool has(std::string_view option) const;
    /// The last value given; nothing if the option is absent.
    std::optional<std::string> value(std::string_view option) const;
    std::vector<std::string> values(std::string_view option) const;
    const std::vector<std::string>& positionals() const { return positionals_; }

private:
    friend Expected<Arguments> parse(const struct Command& command, std::span<const std::string> words);
    std::vector<std::pair<std::string, std::string>> options_;
    std::vector<std::string> positionals_;
};

struct Command {
    std::string_view name;
    std::string_view positional;  ///< `FILE`; empty if it takes none; `[FILE...]` if it takes several
    bool positionalRequired = false;
    std::string_view summary;
    std::string_view details;
    std::vector<Option> options;
    std::vector<std::string_view> required;                               ///< options that must be given
    std::vector<std::pair<std::string_view, std::string_view>> examples;  ///< command line and what it answers
    int (*run)(const Arguments&, Watch&) = nullptr;
    bool shared = false;  ///< takes part on every rank of `mpirun -n N orrery-cli …`
};

/// Reads `--name value`, `--name=value`, switches, `--` and positionals. Fails with code `usage.…` and a hint that
/// names the nearest option.
Expected<Arguments> parse(const Command& command, std::span<const std::string> words);
std::string help(const Command& command);

/// All commands, in the order that help lists them.
std::span<const Command* const> commands();
std::string help();

extern const Command adaptersCommand;
extern const Command methodsCommand;
extern const Command hardwareCommand;
extern const Command workloadsCommand;
extern const Command importCommand;
extern const Command runCommand;
extern const Command studyCommand;
extern const Command searchCommand;
extern const Command surrogateCommand;
extern const Command compareCommand;
extern const Command exportCommand;
extern const Command projectCommand;
extern const Command mapCommand;
extern const Command arrayCommand;
extern const Command powerCommand;
extern const Command schedulesCommand;
extern const Command dramCommand;
extern const Command pimCommand;
extern const Command evaluateCommand;
extern const Command driftCommand;
extern const Command surveyCommand;
extern const Command transferCommand;
extern const Command calibrateCommand;
extern const Command serveCommand;
extern const Command trainCommand;
extern const Command planCommand;
extern const Command referencesCommand;
extern const Command measureCommand;
extern const Command adviseCommand;
extern const Command fidelityCommand;
extern const Command blockCommand;
extern const Command coreCommand;
extern const Command benchmarkCommand;
extern const Command gpuCommand;
extern const Command edgeCommand;

}  // namespace orrery::cli
