#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/run_fidelity.h"
#include "base/unit.h"
#include "store/export/fidelity_exports.h"
#include "study/fidelity/advice.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cli {

namespace {

std::string off(const Advice& advice) {
    if (advice.evidence.empty()) return "–";
    return fmt::format("{:.1f} %", 100 * advice.evidence.front().mape);
}
std::string rowsText(const Advice& advice) {
    if (advice.evidence.empty()) return "–";
    const AdviceEvidence& e = advice.evidence.front();
    return fmt::format("{}{}", e.rows, e.sameDevice ? "" : " elsewhere");
}
std::string insideText(const Advice& advice) {
    return advice.evidence.empty() ? "–" : fmt::format("{:.0f} %", 100 * advice.evidence.front().coverage90);
}

std::string adviceText(const AdviceQuestion& question, const AdviceAnswer& answer) {
    std::string text = fmt::format(
        "{}\n{}: {}; {} reference rows of such kernels are present, {} of this very device\n\n",
        question.scenario.name(), answer.device, fmt::join(answer.kinds, ", "), answer.rows, answer.sameDeviceRows);
    const bool wanted = question.latency.has_value();
    std::vector<std::string> heads{"",     "method",    "methodology", "answer", "interval", "off on rows",
                                   "rows", "on common", "inside",      "takes"};
    std::vector<bool> right{false, false, false, true, true, true, true, true, true, true};
    if (wanted) heads.push_back(fmt::format("below {}", format(Seconds(*question.latency)))), right.push_back(false);
    Table table(heads, right);
    for (const Advice& each : answer.methods) {
        if (each.verdict >= AdviceVerdict::TooSlow) continue;
        const bool bound = each.answer && each.answer->interval.kind == IntervalKind::Bound;
        std::vector<std::string> cells{std::string(toText(each.verdict)),
                                       each.method,
                                       std::string(toText(each.methodology)),
                                       each.answer ? format(each.answer->latency) : "–",
                                       !each.answer ? "–"
                                       : bound      ? "bound"
                                                    : intervalText(*each.answer),
                                       off(each),
                                       rowsText(each),
                                       each.comparedError ? fmt::format("{:.1f} %", 100 * *each.comparedError) : "–",
                                       insideText(each),
                                       each.measured ? format(Seconds(*each.measured), 2)
                                       : each.stated ? format(Seconds(*each.stated), 2)
                                                     : "–"};
        if (wanted) cells.push_back(each.decides == "below" ? "yes" : each.decides == "above" ? "no" : "cannot tell");
        table.add(std::move(cells));
    }
    text += table.text();
    text +=
        answer.commonRows > 0
            ? fmt::format("\nranked by the error on {} rows that all {} comparable methods price (`on common`)\n",
                          answer.commonRows, answer.comparable)
        : answer.comparable > 0
            ? std::string("\ntoo few rows are priced by all who were compared: ranked by the error that each expects\n")
            : std::string("\nnobody here was compared with measured rows: ranked by the error that each expects\n");
    for (const Advice& each : answer.methods) {
        if (each.verdict != AdviceVerdict::Recommended) continue;
        text += fmt::format("\n{} ({})\n", each.method, each.title);
        for (const std::string& reason : each.reasons) text += fmt::format("  {}\n", reason);
        text += fmt::format("  needs: {}\n  limits: {}\n", fmt::join(each.needs, "; "), each.failureMode);
    }
    std::string others;
    for (const Advice& each : answer.methods) {
        if (each.verdict < AdviceVerdict::TooSlow) continue;
        others += fmt::format("  {}: {}{}\n", each.method, toText(each.verdict),
                              each.reasons.empty() ? "" : ", " + each.reasons.front());
    }
    if (!others.empty()) text += "\nnot for this question\n" + others;
    if (!answer.gap.empty()) text += "\n" + answer.gap + "\n";
    return text;
}

int advise(const Arguments& arguments, Watch& watch) {
    AdviceQuestion question;
    auto scenario = readScenario(arguments);
    if (!scenario) return failed(scenario.error());
    question.scenario = std::move(*scenario);
    if (const auto data = arguments.value("data")) {
        const auto known = dataAtHand(*data);
        if (!known)
            return failed(fail("usage.bad-value", fmt::format("--data does not know '{}'", *data),
                               "none, rows, traces or binaries", "say what you have beside the question")
                              .value());
        question.data = *known;
    }
    for (const char* option : {"within", "latency"}) {
        const auto text = arguments.value(option);
        if (!text) continue;
        const auto value = readSeconds(*text, option);
        if (!value) return failed(value.error());
        (std::string_view(option) == "within" ? question.within : question.latency) = *value;
    }
    std::vector<ReferenceTable> tables;
    if (const auto files = arguments.values("references"); !files.empty()) {
        auto read = readReferences(files);
        if (!read) return failed(read.error());
        tables = std::move(*read);
    }
    CalibrationSet calibrations = shippedCalibrations().set;
    for (const std::string& file : arguments.values("calibration")) {
        auto calibration = readCalibration(file);
        if (!calibration) return failed(calibration.error());
        calibrations.add(std::make_shared<const Calibration>(std::move(*calibration)));
    }
    const auto executor = makeDefaultExecutor();
    AdviceOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.calibrations = &calibrations;
    options.tables = tables;
    watch.begin("asking methods");
    const auto answer = adviseOn(question, options);
    watch.end();
    if (!answer) return failed(answer.error());
    const auto json = arguments.value("json");
    bool written = true;
    if (json != "-") written = print(adviceText(question, *answer));
    if (json) written = writeTo(*json, adviceJson(question.scenario, *answer)) && written;
    const bool answered =
        std::ranges::any_of(answer->methods, [](const Advice& each) { return each.answer != nullptr; });
    return written && answered ? Answered : Unanswered;
}

std::vector<Option> options() {
    std::vector<Option> all{
        {"hardware", "H", "a device of the catalogue (id or name) or a hardware file"},
        {"workload", "W", "a built-in model, an ONNX file, a Hugging Face config.json, or a workload YAML"},
        {"set", "PATH=VALUE", "change an attribute of the hardware, as in hbm3.bandwidth='4 TB/s'", true},
        {"data", "WORD",
         "what you have beside the question: `none`, `rows` (a few measured kernels), `traces`, `binaries`"},
        {"within", "TIME", "an answer must not take longer, as `1s`"},
        {"latency", "TIME", "the latency that is wanted: which methods can tell whether it is kept?"},
        {"references", "FILE", "measured kernels to judge by, beside those that ship", true},
        {"calibration", "FILE", "what learned methods answer with, before what ships", true},
    };
    all.insert(all.end(), scenarioOptions().begin(), scenarioOptions().end());
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    all.push_back(
        {"json", "[FILE]", "the advice as JSON (resources/schema/advice.schema.json); standard output if left out"});
    return all;
}

}  // namespace

const Command adviseCommand{
    .name = "advise",
    .summary = "which methods to ask about a question, and why",
    .details = "",
    .options = options(),
    .required = {},
    .examples = {{"orrery-cli advise --hardware h100-sxm --workload llama-2-7b --phase decode",
                  "which method has evidence here, and what does it cost?"},
                 {"orrery-cli advise --hardware gemmini-like --workload resnet-50 --within 100ms --latency 80ms",
                  "who can tell in time whether 80 ms is kept?"},
                 {"orrery-cli advise --hardware a100-80-sxm --workload bert-large --data rows",
                  "and with a few measurements of my own?"}},
    .run = advise,
};

}  // namespace orrery::cli
