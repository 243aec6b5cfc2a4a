#include "app/cli/block_fit.h"
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/csv_cell.h"
#include "base/text/csv_stream.h"
#include "learning/blocks/block_correction.h"
#include "simulation/cpu/block/block.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

using Json = nlohmann::ordered_json;
using block::Bound;

double rounded(double cycles) {
    return std::round(cycles * 1e4) / 1e4;
}

constexpr std::string_view noneMeasured = "none: no block of this core was measured";

bool measured(const block::Core& core) {
    return std::ranges::any_of(core.rules.interval, [](const auto& around) { return around[1] > around[0]; });
}

/// Bounds, and what measured blocks say beyond them where a correction is given.
struct Asked {
    block::Analyser analyser;
    std::optional<block::BlockCorrection> correction;
    std::string file;  ///< of the correction
    std::vector<double> features;

    block::BlockCorrection::Verdict predict(const block::Code& code, block::Prediction& answer) {
        analyser.predict(code, answer);
        if (!correction) return {0, DomainVerdict::Outside, answer.cycles};
        return correction->apply(analyser, code, answer, features);
    }
};

std::string_view fadingText(const block::BlockCorrection::Verdict& verdict) {
    if (verdict.weight <= 0) return verdict.domain == DomainVerdict::Outside ? "unlike the fitted blocks" : "no help";
    return verdict.domain == DomainVerdict::Edge ? "half: near the edge of the fitted blocks" : "whole";
}

std::string throughText(const block::ChainLink& link) {
    return link.through == block::StoredInMemory ? "memory" : block::registerName(link.through);
}

Json jsonOf(const Asked& asked, const block::BlockCorrection::Verdict& verdict, const block::Code& code,
            const block::Prediction& answer, const std::vector<block::ChainLink>& chain) {
    const block::Core& core = asked.analyser.core();
    Json json;
    json["format"] = "orrery-block";
    json["version"] = 1;
    json["core"] = core.rules.id;
    json["table"] = core.source;
    json["cycles"] = rounded(answer.cycles);
    json["low"] = rounded(answer.low);
    json["high"] = rounded(answer.high);
    json["interval"] = measured(core) || verdict.weight > 0 ? std::string_view("of measured blocks") : noneMeasured;
    if (asked.correction) {
        json["correction"] = {{"file", asked.file},
                              {"bounds", rounded(verdict.bounds)},
                              {"weight", verdict.weight},
                              {"counts", std::string(fadingText(verdict))}};
    }
    json["binds"] = std::string(block::toText(answer.binding));
    for (std::size_t b = 0; b < block::boundCount; ++b)
        json["bounds"][std::string(block::toText(static_cast<Bound>(b)))] = rounded(answer.bounds[b]);
    json["uops"] = rounded(answer.uops);
    json["slots"] = rounded(answer.fusedSlots);
    for (std::size_t p = 0; p < core.rules.portNames.size(); ++p)
        json["ports"][core.rules.portNames[p]] = rounded(answer.portCycles[p]);
    json["chain"] = Json::array();
    for (const auto& link : chain)
        json["chain"].push_back(
            {{"instruction", link.instruction}, {"through", throughText(link)}, {"cycles", rounded(link.cycles)}});
    const auto text = block::disassemble(code);
    json["instructions"] = Json::array();
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const auto& one = code.instructions[i];
        Json row{{"offset", one.offset}, {"bytes", one.length}, {"text", text[i]}, {"form", block::toText(one.key)}};
        const auto* form = core.find(one.key);
        row["known"] = form != nullptr || one.nop || one.zeroIdiom;
        if (form) row["row"] = form->name;
        json["instructions"].push_back(std::move(row));
    }
    return json;
}

std::string textOf(const Asked& asked, const block::BlockCorrection::Verdict& verdict, const block::Code& code,
                   const block::Prediction& answer, const std::vector<block::ChainLink>& chain) {
    const block::Core& core = asked.analyser.core();
    std::string text = fmt::format("{:.2f} cycles per iteration on {}, bound by {}\n", answer.cycles, core.rules.title,
                                   block::meaning(answer.binding));
    if (asked.correction)
        text +=
            fmt::format("{:.2f} by the bounds; corrected by {}: {}\n", verdict.bounds, asked.file, fadingText(verdict));
    text += measured(core) || verdict.weight > 0
                ? fmt::format("nine of ten measured blocks lie in {:.2f} … {:.2f}\n", answer.low, answer.high)
                : "no block of this core was measured, so no interval is known\n";
    Table bounds({"bound", "cycles"}, {false, true});
    for (std::size_t b = 0; b < block::boundCount; ++b)
        bounds.add({std::string(block::toText(static_cast<Bound>(b))), fmt::format("{:.2f}", answer.bounds[b])});
    text += "\n" + bounds.text() + "\n";
    Table ports({"port", "cycles"}, {false, true});
    for (std::size_t p = 0; p < core.rules.portNames.size(); ++p)
        ports.add({core.rules.portNames[p], fmt::format("{:.2f}", answer.portCycles[p])});
    text += ports.text() + "\n";
    Table rows({"byte", "instruction", "row of the port table"}, {true, false, false});
    const auto lines = block::disassemble(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto* form = core.find(code.instructions[i].key);
        rows.add({std::to_string(code.instructions[i].offset), lines[i], form ? form->name : "none"});
    }
    text += rows.text();
    if (!chain.empty()) {
        Table links({"chain", "through", "cycles"}, {false, false, true});
        for (const auto& link : chain)
            links.add({lines[static_cast<std::size_t>(link.instruction)], throughText(link),
                       fmt::format("{:.2f}", link.cycles)});
        text += "\n" + links.text();
    }
    return text;
}

void tellUnknown(const block::Code& code, const block::Prediction& answer, const Place& place) {
    for (const int i : answer.unknown) {
        const auto& one = code.instructions[static_cast<std::size_t>(i)];
        Place at = place;
        at.path = fmt::format("byte {}", one.offset);
        report(warning("block.no-row",
                       fmt::format("the port table has no row for {}, which counts as one micro-operation of one cycle",
                                   block::toText(one.key)),
                       "--uops FILE reads another table", at));
    }
}

int runOne(Asked& asked, const std::string& hex, bool asJson) {
    const auto bytes = block::readHex(hex);
    if (!bytes) return failed(bytes.error());
    block::Code code;
    if (const auto read = block::decode(*bytes, code); !read) return failed(read.error());
    block::Prediction answer;
    const auto verdict = asked.predict(code, answer);
    tellUnknown(code, answer, {});
    const auto chain = asked.analyser.chain(code);
    return print(asJson ? jsonOf(asked, verdict, code, answer, chain).dump(2) + "\n"
                        : textOf(asked, verdict, code, answer, chain))
               ? Answered
               : Unanswered;
}

// The rows as they are, with what was predicted behind. A row whose code cannot be read is reported and left empty.
int runTable(Asked& asked, const std::string& path, Watch& watch) {
    auto stream = CsvStream::open(path);
    if (!stream) return failed(stream.error());
    const auto first = stream->next();
    if (!first) return failed(first.error());
    int column = -1, mixes = -1;
    std::string text;
    if (*first) {
        const auto cells = stream->cells();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (cells[i] == "hex") column = static_cast<int>(i);
            if (cells[i] == "instruction_ids") mixes = static_cast<int>(i);
            // What a column was called that is predicted here, so that no name stands twice.
            const bool ours = cells[i] == "cycles" || cells[i] == "low" || cells[i] == "high" || cells[i] == "bound" ||
                              (asked.correction && cells[i] == "by_bounds");
            text += (ours ? "given_" : "") + csvCell(cells[i]) + ',';
        }
    }
    const bool mixed = column < 0 && mixes >= 0;
    if (mixed) column = mixes;
    if (column < 0) {
        return failed(fail("block.no-column", "the table has no column `hex` or `instruction_ids`",
                           "machine code in hexadecimal digits, or ids of a mix", {},
                           {.file = path, .line = stream->line()})
                          .value());
    }
    const auto& core = asked.analyser.core();
    if (mixed && asked.correction) {
        return failed(fail("usage.both", "`--correct` and a table of mixes are given together",
                           "a table with a column `hex`", "the table of mixes is fitted by itself")
                          .value());
    }
    if (mixed ? core.mixes.empty() : core.forms.empty()) {
        return failed(fail(mixed ? "mix.no-table" : "block.no-table",
                           fmt::format("{} has no table of {}", core.rules.title, mixed ? "mixes" : "ports"),
                           mixed ? "skl, zen or a72" : "--uops FILE, or a core that has one")
                          .value());
    }
    text += asked.correction ? "cycles,low,high,bound,by_bounds\n" : "cycles,low,high,bound\n";
    block::Code code;
    block::Prediction answer;
    std::size_t wrong = 0;
    const auto stop = watch.token();
    for (std::size_t row = 0;; ++row) {
        const auto more = stream->next();
        if (!more) return failed(more.error());
        if (!*more) break;
        if (row % 1024 == 0 && stop.stop_requested()) return Unanswered;
        const auto cells = stream->cells();
        for (const auto cell : cells) text += csvCell(cell) + ',';
        const auto at = static_cast<std::size_t>(column);
        const auto refuse = [&](Diagnostic problem) {
            problem.severity = Severity::Warning;
            problem.place.file = path;
            problem.place.line = stream->line();
            if (wrong++ < 20) report(problem);
            text += asked.correction ? ",,,,\n" : ",,,\n";
        };
        if (mixed) {
            const auto ids = block::readMix(at < cells.size() ? cells[at] : std::string_view{}, core.mixes);
            if (!ids) {
                refuse(ids.error());
                continue;
            }
            const auto mix = block::predictMix(core.mixes, *ids);
            text += fmt::format("{:.4f},{:.4f},{:.4f},resource {}\n", mix.cycles, mix.low, mix.high, mix.binding);
            continue;
        }
        auto bytes = block::readHex(at < cells.size() ? cells[at] : std::string_view{});
        auto read = bytes ? block::decode(*bytes, code) : Expected<void>(tl::unexpected(bytes.error()));
        if (!read) {
            refuse(read.error());
            continue;
        }
        const auto verdict = asked.predict(code, answer);
        text += fmt::format("{:.4f},{:.4f},{:.4f},{}", answer.cycles, answer.low, answer.high,
                            block::toText(answer.binding));
        text += asked.correction ? fmt::format(",{:.4f}\n", verdict.bounds) : "\n";
    }
    if (wrong > 20) report(warning("block.more", fmt::format("{} more rows could not be read", wrong - 20)));
    return print(text) ? Answered : Unanswered;
}

Diagnostic noTable(const block::Core& core) {
    return fail("block.no-table", fmt::format("{} has no table of ports", core.rules.title),
                "--uops FILE, or --csv FILE with a column instruction_ids")
        .value();
}

int runBlock(const Arguments& arguments, Watch& watch) {
    const auto core = block::loadCore(*arguments.value("core"), arguments.value("uops").value_or(""));
    if (!core) return failed(core.error());
    const auto hex = arguments.value("hex"), table = arguments.value("csv");
    if (arguments.has("fit")) {
        if (hex || table || arguments.has("correct") || arguments.has("json")) {
            return failed(fail("usage.both", "`--fit` learns from a table and answers nothing else",
                               "`--fit FILE --out FILE`, then `--correct FILE` with `--hex` or `--csv`")
                              .value());
        }
        if ((*core)->forms.empty()) return failed(noTable(**core));
        return fitBlocks(*core, arguments, watch);
    }
    for (const char* each : {"measured", "per", "out", "date"}) {
        if (!arguments.has(each)) continue;
        return failed(fail("usage.missing", fmt::format("`--{}` is of `--fit`, which is not given", each),
                           "`--fit FILE --out FILE`", "without `--fit` nothing is learned or written")
                          .value());
    }
    if (hex.has_value() == table.has_value()) {
        return failed(fail("usage.missing", hex ? "`--hex` and `--csv` both say which blocks" : "no block is given",
                           "--hex HEX or --csv FILE")
                          .value());
    }
    if (table && arguments.has("json")) {
        return failed(fail("usage.both", "`--json` and `--csv` are given together",
                           "`--json` with `--hex`; a table is answered as a table")
                          .value());
    }
    if (hex && (*core)->forms.empty()) return failed(noTable(**core));
    Asked asked{block::Analyser(*core), {}, {}, {}};
    if (const auto file = arguments.value("correct")) {
        auto read = block::readBlockCorrection(*file);
        if (!read) return failed(read.error());
        if (const auto fits = checkFits(*read, **core, *file); !fits) return failed(fits.error());
        asked.correction = std::move(*read);
        asked.file = *file;
    }
    return table ? runTable(asked, *table, watch) : runOne(asked, *hex, arguments.has("json"));
}

}  // namespace

const Command blockCommand{
    .name = "block",
    .summary = "predict the throughput of a basic block of x86-64 machine code",
    .details =
        "The block repeats, one copy behind the other. Cycles per iteration are the largest of what predecoding, "
        "decoding, issue, ports and dependences between iterations demand; the answer says which binds.",
    .options = {{"core", "NAME|FILE", "skl, hsw, ivb, icl, zen, zen2, a72, or a core of your own (.yaml)"},
                {"hex", "HEX", "the machine code, two digits per byte"},
                {"csv", "FILE",
                 "many: a table with a column `hex`, or `instruction_ids` of PMEvo's mixes; its rows come back with "
                 "what is predicted"},
                {"uops", "FILE", "read the port table from this file, in the columns of uops.info"},
                {"correct", "FILE", "what measured blocks say beyond the bounds, as `--fit` has learned it"},
                {"fit", "FILE", "learn such a correction from a table of measured blocks, and say how good it is"},
                {"measured", "COLUMN", "of that table: the measured cycles; usual is `measured`"},
                {"per", "N", "of that column: so many iterations together; usual is 1"},
                {"out", "FILE", "where the correction is written"},
                {"date", "DATE", "kept in it; usual is today"},
                {"json", "", "of one block, as JSON (resources/schema/block.schema.json)"}},
    .required = {"core"},
    .examples = {{"orrery-cli block --core skl --hex 4801d84829d8", "a chain of an addition and a subtraction"},
                 {"orrery-cli block --core hsw --csv blocks.csv --uops hsw.csv",
                  "every block of a table, by a port table of one's own"},
                 {"orrery-cli block --core skl --fit measured.csv --out skl.json",
                  "learn from measured blocks what the bounds leave out"},
                 {"orrery-cli block --core skl --hex 4801d84829d8 --correct skl.json", "the same block, corrected"}},
    .run = runBlock,
};

}  // namespace orrery::cli
