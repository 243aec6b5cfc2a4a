#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "evaluation/calibrate.h"
#include "evaluation/evaluation_export.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

int runCalibrate(const Arguments& arguments, Watch& watch) {
    const std::string id = *arguments.value("method");
    const KernelMethod* method = findKernelMethod(id);
    if (!method) {
        std::string known;
        for (const auto& each : kernelMethods()) {
            if (each.fit) known.append(known.empty() ? "" : ", ").append(each.id);
        }
        const bool exists = findMethod(id) != nullptr;
        return failed(
            fail(exists ? "calibration.nothing-to-fit" : "method.unknown",
                 exists ? fmt::format("{} has nothing to fit", id) : fmt::format("there is no method '{}'", id),
                 "one of " + known)
                .value());
    }
    const auto seed = readSeed(arguments, 1);
    if (!seed) return failed(seed.error());
    auto holdout = parseHoldout(arguments.value("holdout").value_or(""), *seed);
    if (!holdout) return failed(holdout.error());
    const auto question = readReferenceQuestion(arguments);
    if (!question) return failed(question.error());
    const auto executor = makeDefaultExecutor();
    CalibrateOptions options;
    options.holdout = std::move(*holdout);
    options.acrossDevices = arguments.has("across-devices");
    options.seed = *seed;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.date = arguments.value("date").value_or(today());
    watch.begin(fmt::format("fitting {}", id));
    const auto result = calibrate(*method, question->tables, question->rows, options);
    watch.end();
    if (!result) return failed(result.error());
    report(result->warnings);
    // Written before anything is printed: a closed pipe must not cost a fit.
    if (!writeTo(*arguments.value("out"), writeCalibration(result->calibration))) return Unanswered;
    const std::string split = toText(options.holdout);
    if (arguments.has("json")) {
        if (!result->heldOut) return Answered;
        const EvaluationContext context{{*arguments.value("out")}, question->where, split};
        return print(evaluationJson(*result->heldOut, question->tables, context)) ? Answered : Unanswered;
    }
    std::string text = fmt::format("fitted {} sections to {} of {} rows\n", result->calibration.sections.size(),
                                   count(static_cast<double>(result->trainingRows)),
                                   count(static_cast<double>(question->rows.size())));
    if (result->heldOut) {
        report(result->heldOut->warnings);
        text += "\nheld-out rows: " + evaluationText(*result->heldOut, question->tables);
    }
    return print(text) ? Answered : Unanswered;
}

std::vector<Option> optionsOfCalibrate() {
    std::vector<Option> all{{"method", "ID", "the method to fit"}};
    const auto& shared = referenceOptions();
    all.insert(all.end(), shared.begin(), shared.end());
    const std::vector<Option> own{
        {"holdout", "SPLIT", "what is kept for the test: fraction=0.8 (its share), rows=50 (fits 50), device=ID"},
        {"across-devices", "", "one fit for any device instead of one per device"},
        {"seed", "N", "of the split and the fit; 1 if left out"},
        {"date", "DAY", "the day that the file says; today if left out"},
        {"out", "FILE", "where the calibration goes, - for standard output"},
        {"json", "", "the figures on held-out rows as JSON (resources/schema/evaluation.schema.json)"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

}  // namespace

const Command calibrateCommand{
    .name = "calibrate",
    .positional = "[FILE...]",
    .summary = "fit a method to measured kernels",
    .details =
        "Fits what the method leaves open to the rows, writes a calibration file, and prints the method's errors on "
        "the "
        "rows that were held out. A row's side of the split hangs on the seed, its device and its kernel alone, so "
        "`orrery-cli evaluate --held-out` finds the same rows again.",
    .options = optionsOfCalibrate(),
    .required = {"method", "references", "out"},
    .examples = {{"orrery-cli calibrate --method tile-hybrid --references h100_sxm__trtllm-1__gemm.csv "
                  "--where dtype=bf16 --holdout fraction=0.8 --out mine.json",
                  "fit a fifth of the rows, test the others"},
                 {"orrery-cli calibrate --method tile-hybrid --references a100_sxm__trtllm-1__gemm.csv "
                  "h100_sxm__trtllm-1__gemm.csv --holdout device=h100-sxm --across-devices --out any.json",
                  "fit one device, test another"}},
    .run = runCalibrate,
};

}  // namespace orrery::cli
