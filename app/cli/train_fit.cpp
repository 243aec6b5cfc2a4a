#include "app/cli/train_fit.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "evaluation/published_steps.h"

#include <fmt/format.h>

namespace orrery::cli {

int fitStep(const Arguments& arguments, Watch& watch) {
    if (!arguments.has("out")) {
        report(Diagnostic{
            Severity::Error, "usage.missing", "a fit must go somewhere", "--out FILE, - for standard output", {}, {}});
        return Usage;
    }
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

}  // namespace orrery::cli
