#include "app/cli/block_fit.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "evaluation/error_metrics.h"
#include "learning/blocks/fit_block_correction.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace orrery::cli {

namespace {

struct MeasuredTable {
    std::vector<block::MeasuredBlock> blocks;
    std::size_t unmeasured = 0, unread = 0;
};

// Rows without a time are passed over; one whose code or time cannot be read is counted.
Expected<MeasuredTable> readMeasured(const std::string& path, const std::string& column, double iterations) {
    auto stream = CsvStream::open(path);
    if (!stream) return Unexpected(stream.error());
    const auto first = stream->next();
    if (!first) return Unexpected(first.error());
    std::size_t code = 0, time = 0, width = 0;
    bool hasCode = false, hasTime = false;
    if (*first) {
        for (const auto cell : stream->cells()) {
            if (cell == "hex") code = width, hasCode = true;
            if (cell == column) time = width, hasTime = true;
            ++width;
        }
    }
    if (!hasCode || !hasTime)
        return fail("block.no-column", fmt::format("the table has no column `{}`", hasCode ? column : "hex"),
                    "`hex`, machine code, and a column of measured cycles", "--measured COLUMN says which",
                    Place{path, stream->line(), 0, {}});
    MeasuredTable table;
    block::Code decoded;
    for (;;) {
        const auto more = stream->next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        const auto cells = stream->cells();
        if (time >= cells.size() || cells[time].empty()) {
            ++table.unmeasured;
            continue;
        }
        const double cycles = numberIn(cells[time]).value_or(0) / iterations;
        auto bytes = block::readHex(code < cells.size() ? cells[code] : std::string_view{});
        if (!(cycles > 0) || !std::isfinite(cycles) || !bytes || !block::decode(*bytes, decoded)) {
            ++table.unread;
            continue;
        }
        table.blocks.push_back({std::move(*bytes), cycles});
    }
    return table;
}

std::string percentOf(double share) {
    return fmt::format("{:.2f} %", 100 * share);
}

std::string textOf(const block::BlockFit& fit, const std::string& file) {
    const auto& evidence = fit.correction.evidence;
    std::string text =
        fmt::format("{}: learned from {} blocks, judged on {} others\n\n", file,
                    count(static_cast<double>(evidence.fitted)), count(static_cast<double>(evidence.judged)));
    Table table({"", "bounds", "corrected"}, {false, true, true});
    table.add({"mean error", percentOf(evidence.errorBefore), percentOf(evidence.errorAfter)});
    table.add({"Kendall's τ", fmt::format("{:.4f}", kendallTau(fit.before, fit.measured)),
               fmt::format("{:.4f}", kendallTau(fit.after, fit.measured))});
    table.add({"high by low", fmt::format("{:.3f}", evidence.widthBefore), fmt::format("{:.3f}", evidence.widthAfter)});
    text += table.text();
    text += fmt::format("\n{} of the judged blocks lie in the corrected interval\n", percentOf(evidence.coverage));
    for (std::size_t b = 0; b < block::boundCount; ++b) {
        if (!fit.correction.classes[b].helps)
            text +=
                fmt::format("blocks bound by {} stay as they are: it does not help them, or too few were measured\n",
                            block::meaning(static_cast<block::Bound>(b)));
    }
    return text;
}

}  // namespace

int fitBlocks(const std::shared_ptr<const block::Core>& core, const Arguments& arguments, Watch& watch) {
    const std::string path = *arguments.value("fit");
    const auto out = arguments.value("out");
    if (!out) {
        return failed(fail("usage.missing", "nothing says where the correction goes", "`--out FILE.json`",
                           "--correct FILE.json then reads it")
                          .value());
    }
    const std::string per = arguments.value("per").value_or("1");
    const auto iterations = numberIn(per);
    if (!iterations || !(*iterations > 0)) {
        return failed(fail("usage.argument", fmt::format("`--per {}` is no number of iterations", per), "100").value());
    }
    auto table = readMeasured(path, arguments.value("measured").value_or("measured"), *iterations);
    if (!table) return failed(table.error());
    if (table->unread > 0) {
        report(warning("block.unread",
                       fmt::format("{} rows are left out: their code or their time cannot be read", table->unread),
                       "`hex` is machine code, times are numbers above 0", Place{path, 0, 0, {}}));
    }
    block::BlockFitOptions options;
    options.source = std::filesystem::path(path).filename().string();
    options.date = arguments.value("date").value_or(today());
    options.stop = watch.token();
    watch.progress().setTotal(100);
    options.onProgress = [&](double share) {
        const auto at = static_cast<std::uint64_t>(100 * share), done = watch.progress().done();
        if (at > done) watch.progress().advance(at - done);
    };
    watch.begin("learning from blocks");
    const auto fit = block::fitBlockCorrection(core, table->blocks, options);
    watch.end();
    if (!fit) return failed(fit.error());
    if (!writeTo(*out, writeBlockCorrection(fit->correction))) return Unanswered;
    return *out == "-" || print(textOf(*fit, *out)) ? Answered : Unanswered;
}

}  // namespace orrery::cli
