#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "evaluation/transfer/transfer.h"
#include "learning/calibration.h"
#include "store/judging/judged_rows.h"

#include <fmt/format.h>

#include <array>

namespace orrery::cli {

namespace {

constexpr std::array<std::string_view, 4> alwaysAsked{"GPU", "TPU", "Accelerator", "PIM"};

std::string cellText(const TransferCell& cell) {
    switch (cell.state) {
        case TransferCell::State::Judged:
            return fmt::format("{:.0f} % / {:.0f}", 100 * cell.mape, 100 * cell.coverage90);
        case TransferCell::State::NotFitted:
            return "–";
        case TransferCell::State::NoTruth:
            return "";
    }
    return {};
}

std::string textOf(const Transfer& transfer) {
    std::vector<std::string> heads{"fitted on", "rows"};
    std::vector<bool> right{false, true};
    for (const TransferGroup& group : transfer.groups) {
        heads.push_back(fmt::format("{} ({})", group.name, group.judged));
        right.push_back(true);
    }
    Table table(heads, right);
    std::vector<std::string> first{"nothing", ""};
    for (const TransferCell& cell : transfer.untouched) first.push_back(cellText(cell));
    table.add(std::move(first));
    std::string missing;
    for (std::size_t a = 0; a < transfer.groups.size(); ++a) {
        if (transfer.groups[a].fitted < leastFitted) {
            missing += fmt::format("  {}: {}\n", transfer.groups[a].name,
                                   transfer.groups[a].fitted + transfer.groups[a].judged == 0
                                       ? "no row that the method prices"
                                       : fmt::format("{} rows are too few to learn from", transfer.groups[a].fitted));
            continue;
        }
        std::vector<std::string> cells{transfer.groups[a].name, count(static_cast<double>(transfer.groups[a].fitted))};
        for (const TransferCell& cell : transfer.cells[a]) cells.push_back(cellText(cell));
        table.add(std::move(cells));
    }
    return fmt::format(
        "{}, {}: mean error / share inside the 90 % interval, judged on the columns' rows (in parentheses)\n\n{}{}",
        transfer.method,
        transfer.fit == TransferFit::Own
            ? "its own fit to the rows of a line"
            : "without calibrations, times factors per kind learned from the rows of a line",
        table.text(), missing.empty() ? "" : "\nNot fitted:\n" + missing);
}

int runTransfer(const Arguments& arguments, Watch& watch) {
    TransferOptions options;
    if (const auto by = arguments.value("by").value_or("device"); by == "platform") {
        options.by = TransferGroups::Platform;
    } else if (by != "device") {
        return failed(fail("usage.value", fmt::format("`--by {}`", by), "device or platform").value());
    }
    if (const auto fit = arguments.value("fit").value_or("factors"); fit == "own") {
        options.fit = TransferFit::Own;
    } else if (fit != "factors") {
        return failed(fail("usage.value", fmt::format("`--fit {}`", fit), "factors or own").value());
    }
    const std::string asked = arguments.value("method").value_or("roofline");
    const auto choice = methodChoice(asked, builtinMethods());
    if (!choice) return failed(choice.error());
    const Contestant method{asked, *findMethod(choice->id), choice->options};
    const auto question = readReferenceQuestion(arguments);
    if (!question) return failed(question.error());
    const auto& [tables, rows, where] = *question;
    const auto executor = makeDefaultExecutor();
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    watch.begin("judging all pairs");
    const auto transfer = measureTransfer(method, tables, rows, options, alwaysAsked);
    watch.end();
    if (!transfer) return failed(transfer.error());
    bool written = true;
    const auto csv = arguments.value("csv"), json = arguments.value("json");
    if (csv) written = writeTo(*csv, transferCsv(*transfer)) && written;
    if (json) written = writeTo(*json, transferJson(*transfer)) && written;
    if (csv != "-" && json != "-") written = print(textOf(*transfer)) && written;
    return written ? Answered : Unanswered;
}

std::vector<Option> optionsOfTransfer() {
    std::vector<Option> all = referenceOptions();
    all.push_back({"method", "ID", "which method; roofline if left out"});
    all.push_back({"by", "GROUPS", "device or platform; device if left out"});
    all.push_back({"fit", "HOW", "factors: one per kind of kernel; own: the method's own fit, of GPUs"});
    all.push_back({"csv", "FILE", "one line per pair as CSV; - is standard output"});
    all.push_back({"json", "[FILE]", "as JSON (resources/schema/transfer.schema.json); standard output if left out"});
    return all;
}

}  // namespace

const Command transferCommand{
    .name = "transfer",
    .positional = "[FILE...]",
    .summary = "learned on one device, asked about another: errors of all pairs",
    .details =
        "Fits a method to one half of the measured kernels of a device and judges it on the other half of those of "
        "every device, GPUs, TPUs, accelerators and memory that computes. FILES are tables of measured kernels; those "
        "that ship if left out. Nothing that Orrery has learned enters. A place without rows says so.",
    .options = optionsOfTransfer(),
    .required = {},
    .examples = {{"orrery-cli transfer --by platform", "what GPUs teach about TPUs, with the rows that ship"},
                 {"orrery-cli transfer --method tile-wave --csv -", "device by device, for another method"},
                 {"orrery-cli transfer h100.csv a100.csv l40s.csv --method tile-hybrid --fit own",
                  "how a calibration of one GPU holds on the next"}},
    .run = runTransfer,
};

}  // namespace orrery::cli
