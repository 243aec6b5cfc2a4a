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

// What fits start from: the shipped calibrations, those of files, or nothing (null).
struct Start {
    CalibrationSet own;
    const CalibrationSet* set = nullptr;
};

Expected<Start> readStart(const Arguments& arguments, std::string_view method) {
    Start start;
    const auto words = arguments.values("from");
    if (words.empty() || words == std::vector<std::string>{"shipped"}) {
        start.set = &shippedCalibrations().set;
        return start;
    }
    if (words == std::vector<std::string>{"none"}) return start;
    for (const std::string& word : words) {
        auto read = readCalibration(word);
        if (!read) return tl::unexpected(std::move(read.error()));
        if (read->method != method) {
            return fail("calibration.method",
                        fmt::format("{} is a calibration of {}, not of {}", word, read->method, method),
                        fmt::format("shipped, none, or calibrations of {}", method));
        }
        start.own.add(std::make_shared<const Calibration>(std::move(*read)));
    }
    return start;
}

std::string outcomesText(const std::vector<SectionOutcome>& sections) {
    std::string text;
    const auto percent = [](double error) {
        return error < 0 ? std::string("?") : fmt::format("{:.1f} %", 100 * error);
    };
    for (const SectionOutcome& one : sections) {
        if (one.start.empty()) {
            text += fmt::format("{} {} {}: {} rows, own fit, off by {} on rows left out\n", one.device, one.kind,
                                one.variant, one.rows, percent(one.after));
        } else {
            text += fmt::format("{} {} {}: {} rows, from {}, off by {} before; kept: {}, off by {} on rows left out\n",
                                one.device, one.kind, one.variant, one.rows, one.start, percent(one.before), one.kept,
                                percent(one.after));
        }
    }
    return text;
}

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
    const auto start = readStart(arguments, id);
    if (!start) return failed(start.error());
    const auto executor = makeDefaultExecutor();
    CalibrateOptions options;
    options.start = start->own.all().empty() ? start->set : &start->own;
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
    text += outcomesText(result->sections);
    if (result->before && result->heldOut) {
        text += fmt::format("\nheld-out rows before: MAPE {:.2f} %, after: {:.2f} %\n",
                            100 * result->before->figures.errors.mape, 100 * result->heldOut->figures.errors.mape);
    }
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
        {"from", "START",
         "what the fit starts from: shipped (if left out), none, or calibration files; more may follow; never across "
         "devices",
         true},
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
        "the rows that were held out. The fit corrects what is known of the device, or of those like it, as far as "
        "rows "
        "left out confirm it; families of fewer than ten rows keep what is known. A row's side of the split depends on "
        "the seed, its device and its kernel alone, so "
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
