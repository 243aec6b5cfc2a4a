#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "base/text/nearest.h"
#include "base/version.h"
#include "study/distributed/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <vector>

using namespace orrery;
using namespace orrery::cli;

namespace {

int unknownCommand(const std::string& word) {
    std::vector<std::string> names;
    for (const Command* command : commands()) names.emplace_back(command->name);
    const std::string hint = didYouMean(word, names);
    report(fail("usage.command", fmt::format("`{}` is not a command", word), "",
                hint.empty() ? "`orrery-cli --help` lists them" : hint)
               .value());
    return Usage;
}

int dispatch(const std::vector<std::string>& words, Watch& watch) {
    if (words.empty()) {
        say(help());
        return Usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        return print(help()) ? Answered : Unanswered;
    }
    if (words[0] == "--version") return print(fmt::format("orrery-cli {}\n", buildVersion())) ? Answered : Unanswered;
    const auto all = commands();
    const auto command = std::find_if(all.begin(), all.end(), [&](const Command* c) { return c->name == words[0]; });
    if (command == all.end()) return unknownCommand(words[0]);
    const std::span<const std::string> rest(words.begin() + 1, words.end());
    if (std::any_of(rest.begin(), rest.end(), [](const std::string& w) { return w == "--help" || w == "-h"; })) {
        return print(help(**command)) ? Answered : Unanswered;
    }
    const auto arguments = parse(**command, rest);
    if (!arguments) {
        report(arguments.error());
        return Usage;
    }
    // Started on several ranks, a command that cannot share its work is answered by the first alone.
    if (!(*command)->shared && launch().value_or(RankLaunch{}).rank != 0) return Answered;
    return (*command)->run(*arguments, watch);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write: print() sees it
    Watch watch;
    try {
        return dispatch(std::vector<std::string>(argv + 1, argv + argc), watch);
    } catch (const std::exception& error) {
        report(fail("internal", fmt::format("something went wrong inside: {}", error.what()), "",
                    "this is a bug in Orrery; please report it with the command line")
                   .value());
        return Unanswered;
    }
}
