#include "app/cli/command.h"
#include "app/cli/edge_question.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/judging_cli.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/schedule_question.h"
#include "evaluation/edge/edge_import.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/holdout.h"
#include "learning/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

namespace orrery::cli {

namespace {

struct Calibrations {
    std::optional<CalibrationSet> set;  // none: the shipped ones
    std::vector<std::string> files;
    std::string split;  // of the last file
};

Expected<Calibrations> readCalibrations(const Arguments& arguments, std::span<const Contestant> asked) {
    Calibrations all;
    all.files = arguments.values("calibration");
    if (all.files.empty()) return all;
    all.set.emplace();
    for (const auto& file : all.files) {
        auto read = readCalibration(file);
        if (!read) return tl::unexpected(std::move(read.error()));
        const auto fits = [&](const Contestant& each) { return each.method.card.id == read->method; };
        if (std::none_of(asked.begin(), asked.end(), fits)) {
            const auto method = asked.front().method.card.id;
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

struct Judged {
    ReferenceQuestion question;
    EvaluationContext context;
};

// The rows that are to be judged: all, the test side of a split, or those by which nothing asked was fitted.
Expected<Judged> readRows(const Arguments& arguments, const Calibrations& calibrations,
                          std::span<const Contestant> asked) {
    if (arguments.has("held-out") && (arguments.has("holdout") || arguments.has("leave-device-out"))) {
        return fail("usage.twice",
                    fmt::format("`--held-out` and `--{}` both say what is tested",
                                arguments.has("holdout") ? "holdout" : "leave-device-out"),
                    "one of them");
    }
    const auto seed = readSeed(arguments, 1);
    if (!seed) return tl::unexpected(seed.error());
    auto holdout = parseHoldout(arguments.value("holdout").value_or(""), *seed);
    if (!holdout) return tl::unexpected(std::move(holdout.error()));
    const bool own = arguments.has("held-out") && !calibrations.files.empty() && asked.size() == 1;
    if (own) {
        holdout = readHoldout(calibrations.split);
        if (!holdout) return tl::unexpected(std::move(holdout.error()));
    }
    auto question = readReferenceQuestion(arguments);
    if (!question) return tl::unexpected(std::move(question.error()));
    Judged judged{std::move(*question), {calibrations.files, {}, {}}};
    judged.context.where = judged.question.where;
    auto& rows = judged.question.rows;
    if (holdout->kind != Holdout::Kind::None) {
        auto split = splitRows(judged.question.tables, rows, *holdout);
        if (!split) return tl::unexpected(std::move(split.error()));
        rows = std::move(split->test);
        judged.context.split = toText(split->holdout);
    } else if (arguments.has("held-out")) {
        const CalibrationSet& fitted = calibrations.set ? *calibrations.set : shippedCalibrations().set;
        for (const Contestant& each : asked) {
            Diagnostics warnings;
            auto left = heldOutRows(fitted, each.method.card.id, judged.question.tables, rows, warnings);
            if (!left) return tl::unexpected(std::move(left.error()));
            report(warnings);
            rows = std::move(*left);
        }
        judged.context.split = "rows by which nothing of the methods was fitted";
    }
    return judged;
}

/// Nothing where no matrix is asked for.
Expected<std::optional<Facet>> readMatrixFacet(const Arguments& arguments) {
    const auto text = arguments.value("matrix");
    if (!text) return std::nullopt;
    for (const Facet facet : facets) {
        if (*text == toText(facet)) return facet;
    }
    return fail("usage.value", fmt::format("there is no matrix by '{}'", *text),
                "platform, class, kind, level or truth", "give `--matrix platform`");
}

// Tables of measured networks: a device is told from a few of its own. A second table is the one that is judged.
int evaluateNetworks(const Arguments& arguments, const std::vector<std::string>& files, Watch& watch) {
    for (const char* option : {"method", "calibration", "where", "device", "import", "map", "word", "held-out",
                               "leave-device-out", "holdout", "own-assumptions", "matrix", "table"}) {
        if (!arguments.has(option)) continue;
        return failed(fail("usage.networks", fmt::format("`--{}` does not go with a table of networks", option),
                           "--samples, --seed, --repeats, --target, --known",
                           "`orrery-cli edge --help` has all options")
                          .value());
    }
    if (files.size() > 2)
        return failed(fail("usage.networks", "more than two tables of networks", "one, and one to judge").value());
    auto protocol = edgeProtocolOf(arguments);
    if (!protocol) return failed(protocol.error());
    protocol->stop = watch.token();
    const auto known = openEdgeTable(files.front());
    if (!known) return failed(known.error());
    report(known->notes);
    std::optional<EdgeTable> asked;
    if (files.size() == 2) {
        auto read = openEdgeTable(files.back());
        if (!read) return failed(read.error());
        report(read->notes);
        asked = std::move(*read);
    }
    watch.begin("telling devices from samples");
    const auto result = judgeEdge(*known, asked ? *asked : *known, *protocol);
    watch.end();
    if (!result) return failed(result.error());
    report(result->leftOut);
    report(result->notes);
    if (const auto rows = arguments.value("rows"); rows && !writeTo(*rows, edgeCsv(*result))) return Unanswered;
    const std::string text = arguments.has("json") ? edgeJson(*result, *known, asked ? &*asked : nullptr, *protocol)
                                                   : edgeText(*result, *known, *protocol);
    return print(text) ? Answered : Unanswered;
}

// Compilers' tuning logs: operators left out, a second log, or, with --samples, devices left out but for so many rows.
int evaluateLogs(const Arguments& arguments, const std::vector<std::string>& files, Watch& watch) {
    for (const char* option :
         {"method", "calibration", "where", "device", "import", "map", "word", "held-out", "leave-device-out",
          "holdout", "own-assumptions", "matrix", "table", "repeats", "target", "known", "model"}) {
        if (!arguments.has(option)) continue;
        return failed(fail("usage.networks", fmt::format("`--{}` does not go with a tuning log", option),
                           "--samples, --seed, --rows", "`orrery-cli schedules --help` has all options")
                          .value());
    }
    if (files.size() > 2)
        return failed(fail("usage.networks", "more than two tuning logs", "one, and one to judge").value());
    JudgeScheduleOptions options;
    const auto samples = wholeOption(arguments, "samples", options.anchors, 10'000);
    if (!samples) return failed(samples.error());
    const auto seed = readSeed(arguments, 1);
    if (!seed) return failed(seed.error());
    options.anchors = *samples;
    options.training.seed = *seed;
    options.training.stop = watch.token();
    const auto known = readLogs({files.front()});
    if (!known) return failed(known.error());
    Expected<std::vector<TunedRow>> asked;
    if (files.size() == 2) asked = readLogs({files.back()});
    if (!asked) return failed(asked.error());
    const bool devices = arguments.has("samples") && asked->empty();
    if (devices && isOfTrials(*known)) {
        return failed(fail("usage.networks", "`--samples` does not go with a log of many schedules of each operator",
                           "the log alone: each of its operators is left out",
                           "of a log of best schedules it is the "
                           "rows that are given of a device that is new")
                          .value());
    }
    watch.begin("learning from schedules");
    const auto judged = !asked->empty() ? judgeOther(*known, *asked, options)
                        : devices       ? judgeNewDevices(*known, options)
                                        : judgeLeftOut(*known, options);
    watch.end();
    if (!judged) return failed(judged.error());
    report(judged->notes);
    const auto& of = asked->empty() ? *known : *asked;
    if (const auto rows = arguments.value("rows"); rows && !writeTo(*rows, schedulesCsv(*judged, of)))
        return Unanswered;
    const std::string_view split = !asked->empty() ? "other-log" : devices ? "new-devices" : "operators";
    return print(arguments.has("json") ? schedulesJson(*judged, of, split) : schedulesText(*judged)) ? Answered
                                                                                                     : Unanswered;
}

int runEvaluate(const Arguments& arguments, Watch& watch) {
    const auto files = referenceFiles(arguments);
    if (!files.empty() && std::all_of(files.begin(), files.end(), isEdgeTable))
        return evaluateNetworks(arguments, files, watch);
    if (!files.empty() && std::all_of(files.begin(), files.end(), isTuningLog))
        return evaluateLogs(arguments, files, watch);
    for (const char* option : {"samples", "repeats", "target", "known", "model"}) {
        if (!arguments.has(option)) continue;
        // A file that is not there is what is wrong, whatever goes with it.
        for (const std::string& file : files) {
            if (std::filesystem::exists(file)) continue;
            return failed(
                fail("file.system", "there is no such file", "a CSV with a column of networks", "see the path", {file})
                    .value());
        }
        return failed(fail("usage.networks", fmt::format("`--{}` goes with a table of measured networks", option),
                           "a CSV with a column of networks", "`orrery-cli edge --help` says which tables are read")
                          .value());
    }
    if (const auto asked = judgingArgument(referenceFiles(arguments))) {
        // A file of the page says everything itself.
        for (const char* option : {"method", "calibration", "where", "device", "import", "map", "word", "held-out",
                                   "leave-device-out", "holdout", "seed", "own-assumptions"}) {
            if (!arguments.has(option)) continue;
            return failed(fail("usage.judging", fmt::format("`--{}` does not go with a judging file", option),
                               "the file alone", "write it into the file", Place{asked->file, 0, 0, {}})
                              .value());
        }
        return answerJudging(*asked, arguments, watch);
    }
    if (!arguments.has("method")) {
        return failed(fail("usage.missing", "`--method` is missing", "a method, or a file that the page saved",
                           "`--method all`, or `orrery-cli evaluate --help`")
                          .value());
    }
    const auto asked = readContestants(arguments);
    if (!asked) return failed(asked.error());
    const auto calibrations = readCalibrations(arguments, *asked);
    if (!calibrations) return failed(calibrations.error());
    const auto judged = readRows(arguments, *calibrations, *asked);
    if (!judged) return failed(judged.error());
    const auto& tables = judged->question.tables;
    const auto executor = makeDefaultExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.calibrations = calibrations->set ? &*calibrations->set : nullptr;
    options.leaveDeviceOut = arguments.has("leave-device-out");
    options.asMeasured = !arguments.has("own-assumptions");
    const auto by = readMatrixFacet(arguments);
    if (!by) return failed(by.error());
    const bool json = arguments.has("json");
    const auto rowsFile = arguments.value("rows");
    bool written = true;
    if (asked->size() > 1 || *by || arguments.has("table")) {
        watch.begin(fmt::format("evaluating {} methods", asked->size()));
        const auto all = judgeSideBySide(*asked, tables, judged->question.rows, options);
        watch.end();
        if (!all) return failed(all.error());
        if (rowsFile) written = writeTo(*rowsFile, sideBySideCsv(*all, tables));
        const auto entries = matrixEntries(*all, *asked);
        const MethodMatrix matrix =
            methodMatrix(entries, tables, judged->question.rows, by->value_or(Facet::Platform), true);
        if (const auto file = arguments.value("table")) {
            const bool csv = file->ends_with(".csv");
            written = writeTo(*file, csv ? matrixCsv(matrix, entries)
                                         : sideBySideTex(*all) + "\n" + matrixTex(matrix, entries)) &&
                      written;
        }
        std::string text = json ? sideBySideJson(*all, tables, judged->context) : sideBySideText(*all);
        if (!json && *by) text += "\n" + matrixText(matrix, entries);
        written = print(text) && written;
        return written ? Answered : Unanswered;
    }
    const Contestant& one = asked->front();
    options.options = one.options;
    watch.begin(fmt::format("evaluating {}", one.method.card.id));
    const auto evaluation = evaluate(one.method, tables, judged->question.rows, options);
    watch.end();
    if (!evaluation) return failed(evaluation.error());
    report(evaluation->warnings);
    if (rowsFile) written = writeTo(*rowsFile, evaluationCsv(*evaluation, tables));
    written =
        print(json ? evaluationJson(*evaluation, tables, judged->context) : evaluationText(*evaluation, tables)) &&
        written;
    return written ? Answered : Unanswered;
}

std::vector<Option> optionsOfEvaluate() {
    std::vector<Option> all{{"method", "ID",
                             "the method, with its options in parentheses where it has some; several are judged on the "
                             "rows that all of them price; all: every method that needs no file and states less than "
                             "a hundredth of a second for a kernel, narrow ones apart on their own rows",
                             true},
                            {"calibration", "FILE", "use this calibration instead of the shipped ones", true}};
    const auto& shared = referenceOptions();
    all.insert(all.end(), shared.begin(), shared.end());
    const std::vector<Option> own{
        {"held-out", "", "only rows that nothing asked was fitted to, by the splits that the calibrations record"},
        {"leave-device-out", "",
         "every device as if nobody had measured it: without the sections that learned from it"},
        {"holdout", "SPLIT", "only the test side of a split: fraction=0.8, rows=50 or device=ID"},
        {"seed", "N", "of --holdout; 1 if left out"},
        {"own-assumptions", "",
         "whole models: launches and fusion as each method has them by itself, not as they were measured"},
        {"matrix", "BY", "several methods: also a matrix of methods by platform, class, kind, level or truth"},
        {"table", "FILE", "several methods: the figures and the matrix as LaTeX, or the matrix as CSV by its ending"},
        {"model", "NAME", "of a table of networks: additive (the default) or graph"},
        {"samples", "N", "of a table of networks: measured on a device, from which the others are predicted (10)"},
        {"repeats", "N", "of a table of networks: draws that figures are means of (1)"},
        {"target", "NAME", "of a table of networks: a device that is judged; all if left out", true},
        {"known", "NAME", "of a table of networks: a device that may be known; all others if left out", true},
        {"rows", "FILE", "write every row as CSV, - for standard output"},
        {"results", "FILE", "of a judging file: results of other tools as CSV", true},
        {"questions", "FILE", "of a judging file: write its rows with their names, for other tools to answer"},
        {"no-timings", "", "of a judging file: leave what answers took out of the JSON"},
        {"json", "",
         "as JSON (resources/schema/evaluation.schema.json, side-by-side.schema.json, judging.schema.json)"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

}  // namespace

const Command evaluateCommand{
    .name = "evaluate",
    .positional = "[FILE...]",
    .summary = "compare methods with measured kernels",
    .details =
        "Prices every row of the references and prints how far predictions are from measurements: mean, median and "
        "90th "
        "percentile of absolute relative errors, bias, Kendall's tau, the share of values within the 90 % intervals, "
        "and "
        "rows outside the trained domain; per device and family of kernels. A file that the page Evidence saved "
        "(`orrery: judging/1`) stands for methods, references and all terms. Of a table of measured networks (as for "
        "`edge`) each device is predicted from a few of its own; a second table is the one that is judged. Of a "
        "compiler's tuning log (as for `schedules`) each operator is predicted by a model of the others; a second log "
        "is the one that is judged; with --samples, of a log of best schedules, each device from so many of its rows. "
        "Without references, methods are judged on those that ship.",
    .options = optionsOfEvaluate(),
    .examples =
        {{"orrery-cli evaluate --method roofline --method tile-hybrid --held-out",
          "how far are these two from what is published, on rows that neither was fitted to?"},
         {"orrery-cli evaluate --method roofline --references h100_sxm__trtllm-1__gemm.csv --where dtype=bf16",
          "how far is a roofline from measured products?"},
         {"orrery-cli evaluate --method tile-hybrid --method booster --method roofline --held-out --references "
          "h100_sxm__trtllm-1__gemm.csv",
          "which is the best on the rows that all of them price, and how sure is that?"},
         {"orrery-cli evaluate --method all --matrix platform --references measured.csv",
          "every method on every platform of which something is published"},
         {"orrery-cli evaluate --method tile-hybrid --leave-device-out --references h100_sxm__trtllm-1__gemm.csv",
          "what would it say of this device, had nobody measured it?"},
         {"orrery-cli evaluate nasbench201_latency_ms.csv --samples 10 --seed 1 --json",
          "how well a device's other networks are predicted from ten"},
         {"orrery-cli evaluate tuned_best.csv --samples 10 --json",
          "how well times of a compiler's best schedules are predicted on a device from ten of its rows"},
         {"orrery-cli evaluate --method tile-hybrid --calibration mine.json --references h100_sxm__trtllm-1__gemm.csv "
          "--held-out --json",
          "of one's own calibration, on the rows that it was not fitted to"}},
    .run = runEvaluate,
};

}  // namespace orrery::cli
