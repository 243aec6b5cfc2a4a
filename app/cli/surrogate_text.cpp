#include "app/cli/surrogate_text.h"

#include <fmt/format.h>

namespace orrery::cli {

std::string learnedText(const Surrogate& surrogate, const std::string& file) {
    std::string text = fmt::format("\nLearned from {} answers of {}:\n", surrogate.rows, surrogate.method);
    for (const SurrogateTarget& target : surrogate.targets) {
        if (isReach(target.name)) continue;
        text += fmt::format("  {} by {}", target.name, target.kind);
        if (target.stated.rows > 0) {
            text += fmt::format(
                ": off by {:.2g} % in the mean, {:.2g} % in the median, on {} left out, {:.0f} % of them "
                "inside the interval",
                100 * target.stated.mape, 100 * target.stated.median, target.stated.rows, 100 * target.stated.coverage);
        }
        text += "\n";
    }
    if (file == "-") return text;
    return text +
           fmt::format("`surrogate(file={})` is a method now: `orrery-cli search … --method \"surrogate(file={})\"`\n",
                       file, file);
}

}  // namespace orrery::cli
