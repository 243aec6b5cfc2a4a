#include "app/cli/train_fit.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "base/text/read_file.h"
#include "evaluation/published_steps.h"
#include "evaluation/stack_fit.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

bool hasOut(const Arguments& arguments) {
    if (arguments.has("out")) return true;
    report(Diagnostic{
        Severity::Error, "usage.missing", "a fit must go somewhere", "--out FILE, - for standard output", {}, {}});
    return false;
}

}  // namespace

int fitStep(const Arguments& arguments, Watch& watch) {
    if (!hasOut(arguments)) return Usage;
    const auto steps = readPublishedSteps(*arguments.value("fit-step"));
    if (!steps) {
        report(steps.error());
        return Unanswered;
    }
    watch.begin("fitting learned-step");
    const auto fit = fitPublishedSteps(*steps, arguments.value("date").value_or(today()), watch.token());
    watch.end();
    if (!fit) {
        report(fit.error());
        return Unanswered;
    }
    const std::string out = *arguments.value("out");
    if (!writeTo(out, writeCalibration(fit->calibration))) return Unanswered;
    if (out == "-") return Answered;
    const StepCorrection& its = fit->correction;
    return print(fmt::format("fitted {} steps of {} publications\n"
                             "mean error: kernels alone {:.1f} %, fitted {:.1f} %; of steps left out {:.1f} %, of "
                             "publications left out {:.1f} %\n",
                             steps->rows.size(), its.section.sources.size(), 100 * its.before, 100 * its.fitted,
                             100 * its.rowsOut, 100 * its.publicationsOut))
               ? Answered
               : Unanswered;
}

int fitTrainingStacks(const Arguments& arguments, Watch& watch) {
    if (!hasOut(arguments)) return Usage;
    const auto steps = readPublishedSteps(*arguments.value("fit-stacks"));
    if (!steps) {
        report(steps.error());
        return Unanswered;
    }
    watch.begin("fitting training stacks");
    const auto fit = fitStacks(*steps, arguments.value("date").value_or(today()), watch.token());
    watch.end();
    if (!fit) {
        report(fit.error());
        return Unanswered;
    }
    const std::string out = *arguments.value("out"), table = stackErrorTable(*fit);
    if (!writeTo(out, writeCalibration(fit->calibration))) return Unanswered;
    if (const auto errors = arguments.value("errors")) {
        const auto there = readFile(*errors, std::size_t{1} << 24);
        if (!writeTo(*errors, withErrorTable(there.value_or(std::string()), table))) return Unanswered;
    }
    if (out == "-") return Answered;
    return print(fmt::format("fitted {} stacks on their generations\n\n{}", fit->calibration.sections.size(), table))
               ? Answered
               : Unanswered;
}

}  // namespace orrery::cli
