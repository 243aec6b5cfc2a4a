#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/holdout.h"
#include "learning/calibration.h"

#include <fmt/format.h>

#include <optional>

namespace orrery::cli {

namespace {

struct Calibrations {
    std::optional<CalibrationSet> set;  // none: the shipped ones
    std::vector<std::string> files;
    std::string split;  // of the last file
};

Expected<Calibrations> readCalibrations(const Arguments& arguments, std::string_view method) {
    Calibrations all;
    all.files = arguments.values("calibration");
    if (all.files.empty()) return all;
    all.set.emplace();
    for (const auto& file : all.files) {
        auto read = readCalibration(file);
        if (!read) return tl::unexpected(std::move(read.error()));
        if (read->method != method) {
            return fail("calibration.method",
                        fmt::format("the calibration is one of {}, not of {}", read->method, method),
                        fmt::format("a calibration of {}", method), fmt::format("give `--method {}`", read->method),
                        Place{file, 0, 0, {}});
        }
        for (const auto& section : read->sections) {
            if (!section.split.empty()) all.split = section.split;
        }
        all.set->add(std::make_shared<const Calibration>(std::move(*read)));
    }
    return all;
}

// The split that is to be tested: that of the calibration, or the one on the command line.
Expected<Holdout> readSplit(const Arguments& arguments, const Calibrations& calibrations) {
    const auto seed = readSeed(arguments, 1);
    if (!seed) return tl::unexpected(seed.error());
    if (!arguments.has("held-out")) return parseHoldout(arguments.value("holdout").value_or(""), *seed);
    if (arguments.has("holdout")) return fail("usage.twice", "`--held-out` and `--holdout` both say what is tested");
    if (calibrations.files.empty()) {
        return fail("usage.missing", "`--held-out` needs `--calibration`", "",
                    "the calibration says what was held out");
    }
    return readHoldout(calibrations.split);
}

int runEvaluate(const Arguments& arguments, Watch& watch) {
    OptionValues options;
    const auto method = readOneMethod(arguments, options);
    if (!method) return failed(method.error());
    const auto calibrations = readCalibrations(arguments, method->card.id);
    if (!calibrations) return failed(calibrations.error());
    if (arguments.has("leave-device-out") && arguments.has("held-out")) {
        return failed(fail("usage.twice", "`--held-out` and `--leave-device-out` both say what nothing was fitted to",
                           "one of them")
                          .value());
    }
    const auto holdout = readSplit(arguments, *calibrations);
    if (!holdout) return failed(holdout.error());
    auto question = readReferenceQuestion(arguments);
    if (!question) return failed(question.error());
    EvaluationContext context{calibrations->files, question->where, {}};
    if (holdout->kind != Holdout::Kind::None) {
        auto split = splitRows(question->tables, question->rows, *holdout);
        if (!split) return failed(split.error());
        question->rows = std::move(split->test);
        context.split = toText(split->holdout);
    }
    const auto executor = makeDefaultExecutor();
    EvaluateOptions asked;
    asked.executor = executor.get();
    asked.stop = watch.token();
    asked.progress = &watch.progress();
    asked.calibrations = calibrations->set ? &*calibrations->set : nullptr;
    asked.options = options;
    asked.leaveDeviceOut = arguments.has("leave-device-out");
    watch.begin(fmt::format("evaluating {}", method->card.id));
    const auto evaluation = evaluate(*method, question->tables, question->rows, asked);
    watch.end();
    if (!evaluation) return failed(evaluation.error());
    report(evaluation->warnings);
    bool written = true;
    if (const auto file = arguments.value("rows"))
        written = writeTo(*file, evaluationCsv(*evaluation, question->tables));
    written = print(arguments.has("json") ? evaluationJson(*evaluation, question->tables, context)
                                          : evaluationText(*evaluation, question->tables)) &&
              written;
    return written ? Answered : Unanswered;
}

std::vector<Option> optionsOfEvaluate() {
    std::vector<Option> all{{"method", "ID", "the method, with its options in parentheses where it has some"},
                            {"calibration", "FILE", "use this calibration instead of the shipped ones", true}};
    const auto& shared = referenceOptions();
    all.insert(all.end(), shared.begin(), shared.end());
    const std::vector<Option> own{
        {"held-out", "", "only rows that the calibration was not fitted to, by the split that it records"},
        {"leave-device-out", "",
         "every device as if nobody had measured it: without the sections that learned from it"},
        {"holdout", "SPLIT", "only the test side of a split: fraction=0.8, rows=50 or device=ID"},
        {"seed", "N", "of --holdout; 1 if left out"},
        {"rows", "FILE", "write every row as CSV, - for standard output"},
        {"json", "", "as JSON (resources/schema/evaluation.schema.json)"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

}  // namespace

const Command evaluateCommand{
    .name = "evaluate",
    .positional = "[FILE...]",
    .summary = "compare a method with measured kernels",
    .details =
        "Prices every row of the references and prints how far predictions are from measurements: mean, median and "
        "90th "
        "percentile of absolute relative errors, bias, Kendall's tau, the share of values within the 90 % intervals, "
        "and "
        "rows outside the trained domain; per device and family of kernels.",
    .options = optionsOfEvaluate(),
    .required = {"method", "references"},
    .examples =
        {{"orrery-cli evaluate --method roofline --references h100_sxm__trtllm-1__gemm.csv --where dtype=bf16",
          "how far is a roofline from measured products?"},
         {"orrery-cli evaluate --method tile-hybrid --leave-device-out --references h100_sxm__trtllm-1__gemm.csv",
          "what would it say of this device, had nobody measured it?"},
         {"orrery-cli evaluate --method tile-hybrid --calibration mine.json --references h100_sxm__trtllm-1__gemm.csv "
          "--held-out --json",
          "of one's own calibration, on the rows that it was not fitted to"}},
    .run = runEvaluate,
};

}  // namespace orrery::cli
