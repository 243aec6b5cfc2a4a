#include "app/cli/evaluation_question.h"

#include "app/cli/output.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "evaluation/evaluation_export.h"
#include "methods/among_all.h"
#include "methods/kernel_method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace orrery::cli {

namespace {

std::string percent(double share) {
    return fmt::format("{:.2f} %", 100 * share);
}

// Of the rows within a factor of two, those that are flagged.
std::string alarms(const EvaluationFigures& figures) {
    const std::size_t good = figures.errors.rows - figures.wrong;
    if (good == 0) return "–";
    return fmt::format("{:.1f} %",
                       100 * static_cast<double>(figures.flagged - figures.wrongFlagged) / static_cast<double>(good));
}

// What the intervals promise of them, to be compared with what was seen.
std::string expectedText(const Evaluation& evaluation) {
    const auto& rows = evaluation.rows;
    if (std::ranges::equal(rows.low, rows.high)) return {};  // the method states no interval
    return fmt::format("expected off by two, by the chances that intervals give: {:.3g} rows; seen: {}\n",
                       expectedOffByTwo(rows), count(static_cast<double>(evaluation.figures.wrong)));
}

// Two shares that are easily taken for each other: of good rows those flagged in vain, and of flags those in vain.
std::string flagsText(const EvaluationFigures& figures) {
    if (figures.flagged == 0) return {};
    const std::size_t good = figures.errors.rows - figures.wrong;
    std::string text = fmt::format(
        "\nfalse alarms: of {} rows within a factor of two {} are flagged; of {} flagged rows {:.1f} % are "
        "off by two",
        count(static_cast<double>(good)), alarms(figures), count(static_cast<double>(figures.flagged)),
        100 * static_cast<double>(figures.wrongFlagged) / static_cast<double>(figures.flagged));
    if (figures.wrong > 0)
        text += fmt::format("; of {} rows off by two {:.1f} % are flagged", count(static_cast<double>(figures.wrong)),
                            100 * static_cast<double>(figures.wrongFlagged) / static_cast<double>(figures.wrong));
    return text + "\n";
}

void addRow(Table& table, const EvaluationGroup& group) {
    const auto& figures = group.figures;
    const auto& e = figures.errors;
    table.add({group.device, group.kind, group.variant, count(static_cast<double>(e.rows)), percent(e.mape),
               percent(e.medianError), percent(e.p90Error), percent(e.bias), fmt::format("{:.4f}", e.kendall),
               percent(figures.coverage90), e.mape > 0 ? fmt::format("{:.2f}", figures.halfWidth / e.mape) : "–",
               count(static_cast<double>(figures.flagged)),
               figures.wrong > 0 ? fmt::format("{} of {}", figures.wrongFlagged, figures.wrong) : "–", alarms(figures),
               figures.floorRows > 0 ? percent(figures.floor) : "–"});
}

}  // namespace

const std::vector<Option>& referenceOptions() {
    static const std::vector<Option> all{
        {"references", "FILE",
         "a table of measured kernels (.csv, .csv.gz, .parquet, .yaml) or a folder of them; more may follow", true},
        {"where", "TERMS", "which rows: device=h100-sxm,dtype=bf16|fp8,kind=gemm,m=1..64 (all must hold)"},
        {"device", "ID", "the device of rows whose own the hardware catalogue does not know"},
        {"import", "NAME", "the import description of the tables, where their names do not tell it"},
        {"map", "TERMS",
         "how a CSV's columns become kernels: kind=gemm,dtype={precision},m=M,n=N,k=K,time=latency_us,unit=us", true},
        {"word", "COLUMN=WORD:FIELD=VALUE", "what a word of a column means: precision=half:dtype=fp16", true}};
    return all;
}

std::vector<std::string> referenceFiles(const Arguments& arguments) {
    auto files = arguments.values("references");
    const auto& more = arguments.positionals();
    files.insert(files.end(), more.begin(), more.end());
    return files;
}

Expected<std::optional<ColumnMapping>> readMapping(const Arguments& arguments) {
    if (!arguments.has("map") && !arguments.has("word")) return std::optional<ColumnMapping>();
    if (arguments.has("import")) {
        return fail("usage.twice", "`--map` and `--import` both say how columns become kernels", "one of them");
    }
    ColumnMapping mapping;
    for (const auto& terms : arguments.values("map")) {
        if (auto set = setMappedTerms(mapping, terms); !set) return tl::unexpected(std::move(set.error()));
    }
    for (const auto& text : arguments.values("word")) {
        const auto first = text.find('='), colon = text.find(':', first), second = text.find('=', colon);
        if (first == std::string::npos || colon == std::string::npos || second == std::string::npos) {
            return fail("usage.word", fmt::format("`--word {}` says no meaning", text), "COLUMN=WORD:FIELD=VALUE",
                        "for example --word precision=half:dtype=fp16");
        }
        mapping.words.push_back({text.substr(0, first), text.substr(first + 1, colon - first - 1),
                                 text.substr(colon + 1, second - colon - 1), text.substr(second + 1)});
    }
    return std::optional(std::move(mapping));
}

Expected<ReadOptions> readReferenceOptions(const Arguments& arguments) {
    ReadOptions options;
    options.device = arguments.value("device").value_or("");
    options.description = arguments.value("import").value_or("");
    auto filter = parseFilter(arguments.value("where").value_or(""));
    if (!filter) {
        auto error = std::move(filter.error());
        error.code = "usage.where";
        return tl::unexpected(std::move(error));
    }
    options.filter = std::move(*filter);
    auto mapping = readMapping(arguments);
    if (!mapping) return tl::unexpected(std::move(mapping.error()));
    if (*mapping) {
        auto description = describe(**mapping);
        if (!description) return tl::unexpected(std::move(description.error()));
        options.mapping = std::make_shared<const ImportDescription>(std::move(*description));
    }
    return options;
}

Expected<ReferenceQuestion> readReferenceQuestion(const Arguments& arguments) {
    ReferenceQuestion question;
    question.where = arguments.value("where").value_or("");
    const auto options = readReferenceOptions(arguments);
    if (!options) return tl::unexpected(options.error());
    if (const auto files = referenceFiles(arguments); !files.empty()) {
        auto tables = readReferences(files, *options);
        if (!tables) return tl::unexpected(std::move(tables.error()));
        question.tables = std::move(*tables);
        for (const auto& table : question.tables) report(table.warnings);
    } else {
        for (const char* option : {"device", "import", "map", "word"}) {
            if (!arguments.has(option)) continue;
            return fail("usage.missing", fmt::format("`--{}` says how a table is read, and none is named", option),
                        "--references FILE");
        }
        question.tables = shippedReferences();
        Diagnostic note;
        note.severity = Severity::Note;
        note.code = "reference.shipped";
        note.message = fmt::format("no table is named: rows of the {} that ship are taken", question.tables.size());
        report(note);
    }
    question.rows = selectRows(question.tables, options->filter);
    if (question.rows.empty()) {
        return fail("reference.no-rows", fmt::format("no row holds `--where {}`", question.where), "at least one row",
                    "leave terms out, or name other references");
    }
    return question;
}

namespace {

Expected<Method> methodOf(const std::string& text, OptionValues& options) {
    auto choice = methodChoice(text, builtinMethods());
    if (choice) {
        options = std::move(choice->options);
        return *findMethod(choice->id);
    }
    if (const KernelMethod* kernels = findKernelMethod(text)) {
        Method method{};
        method.card.id = kernels->id;
        method.card.version = kernels->version;
        return method;
    }
    return tl::unexpected(std::move(choice.error()));
}

}  // namespace

Expected<Method> readOneMethod(const Arguments& arguments, OptionValues& options) {
    return methodOf(*arguments.value("method"), options);
}

Expected<std::vector<Contestant>> readContestants(const Arguments& arguments) {
    std::vector<Contestant> all;
    for (const std::string& text : arguments.values("method")) {
        if (text == "all") {
            for (const Method& method : builtinMethods()) {
                if (isJudgedUnnamed(method.card)) all.push_back({std::string(method.card.id), method, {}, false});
            }
            continue;
        }
        if (std::any_of(all.begin(), all.end(), [&](const Contestant& each) { return each.asked == text; })) {
            return fail("usage.twice", fmt::format("`--method {}` stands twice", text), "each method once");
        }
        Contestant one{text, {}, {}};
        auto method = methodOf(text, one.options);
        if (!method) return tl::unexpected(std::move(method.error()));
        one.method = std::move(*method);
        all.push_back(std::move(one));
    }
    return all;
}

Expected<std::uint64_t> readSeed(const Arguments& arguments, std::uint64_t fallback) {
    const auto text = arguments.value("seed");
    if (!text) return fallback;
    const auto seed = wholeIn(*text);
    if (seed && *seed >= 0 && *seed < (std::int64_t{1} << 53)) return static_cast<std::uint64_t>(*seed);
    return fail("usage.number", fmt::format("`--seed {}` is no seed", *text), "a whole number");
}

namespace {

/// Who is of equal terms, where not all are.
std::string toldApart(const SideBySide& all) {
    if (all.common.empty()) return {};
    std::map<std::size_t, std::vector<std::string>> groups;
    std::map<std::size_t, std::string> terms;
    for (const std::size_t m : all.ranking) {
        const JudgedMethod& method = all.methods[m];
        groups[method.common.group].push_back(method.asked);
        terms[method.common.group] = fmt::format("clock: {}; stack: {}", method.clock, method.stack);
    }
    if (groups.size() < 2) return {};
    std::string text = "\ngrouped by equal assumptions; `first in` counts within a line:\n";
    for (const auto& [group, methods] : groups)
        text += fmt::format("  {} ({})\n", fmt::join(methods, ", "), terms[group]);
    return text;
}

}  // namespace

std::string sideBySideText(const SideBySide& all) {
    Table table({"method", "rows", "MAPE", "90 % of it", "first in", "median", "p90", "bias", "tau", "in 90 %", "width",
                 "off by 2", "false alarms", "per answer"},
                {false, true, true, true, true, true, true, true, true, true, true, true, true, true});
    // Where no row is common, zeros would look like figures.
    const bool none = all.common.empty();
    std::vector<std::size_t> lines = all.ranking;
    for (std::size_t m = 0; m < all.methods.size(); ++m)
        if (all.methods[m].own && !all.methods[m].compared) lines.push_back(m);
    for (const std::size_t m : lines) {
        const JudgedMethod& method = all.methods[m];
        const bool apart = none || !method.compared;
        const auto& figures = apart ? method.own->figures : method.common.figures;
        const auto& e = figures.errors;
        table.add(
            {method.asked + (method.compared ? "" : " *"), count(static_cast<double>(method.own->rows.size())),
             percent(e.mape),
             apart ? "–" : fmt::format("{} … {}", percent(method.common.mapeLow), percent(method.common.mapeHigh)),
             apart ? "–"
             : method.common.equals == 1 && all.ranking.size() > 1
                 ? "alone"
                 : fmt::format("{:.0f} %", 100 * method.common.firstShare),
             percent(e.medianError), percent(e.p90Error), percent(e.bias), fmt::format("{:.3f}", e.kendall),
             percent(figures.coverage90), e.mape > 0 ? fmt::format("{:.2f}", figures.halfWidth / e.mape) : "–",
             figures.wrong > 0 ? fmt::format("{} of {}", figures.wrongFlagged, figures.wrong) : "–", alarms(figures),
             format(Seconds(figures.secondsPerAnswer))});
    }
    std::string text = fmt::format(
        "{} of {} rows are priced by every {}method; {}\n\n{}", count(static_cast<double>(all.common.size())),
        count(static_cast<double>(all.asked)), lines.size() > all.ranking.size() ? "compared " : "",
        none ? "each figure is of the rows that its method prices, so that they do not compare: leave methods out, or "
               "choose rows by --where"
             : "figures are of these, `rows` is what each prices",
        table.text());
    if (lines.size() > all.ranking.size())
        text += "* prices less than half of what the widest does: its own rows, not comparable\n";
    text += fmt::format(
        "\n90 % of it, first in: of {} draws of the rows with replacement, how far the mean error reaches and how "
        "often "
        "it is the smallest; width: half the 90 % interval of the median row ÷ MAPE; off by 2: rows off by more than "
        "twice or half, how many flagged; false alarms: of the other rows, how many flagged\n",
        bootstrapDraws);
    text += toldApart(all);
    for (const JudgedMethod& method : all.methods) {
        if (method.refusal) text += fmt::format("\n{} answers none: {}\n", method.asked, method.refusal->message);
    }
    return text;
}

std::vector<MatrixEntry> matrixEntries(const SideBySide& all, std::span<const Contestant> asked) {
    std::vector<MatrixEntry> entries;
    for (std::size_t m = 0; m < all.methods.size(); ++m) {
        const JudgedMethod& method = all.methods[m];
        entries.push_back({method.asked, &asked[m].method.card, method.own ? &*method.own : nullptr,
                           method.refusal ? method.refusal->message : std::string()});
    }
    return entries;
}

std::string matrixText(const MethodMatrix& matrix, std::span<const MatrixEntry> entries) {
    std::vector<std::string> heads{"method", "methodology"};
    std::vector<bool> right{false, false};
    for (const MatrixColumn& column : matrix.columns) {
        heads.push_back(column.asked > 0 ? fmt::format("{} ({})", column.word, column.asked) : column.word);
        right.push_back(true);
    }
    Table table(heads, right);
    std::string reasons;
    for (const std::size_t m : matrix.order) {
        std::vector<std::string> cells{entries[m].asked, std::string(toText(entries[m].card->methodology))};
        for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
            const MatrixCell& cell = matrix.cells[m][c];
            switch (cell.state) {
                case MatrixCell::State::NoTruth:
                    cells.emplace_back();
                    break;
                case MatrixCell::State::NotApplicable:
                    cells.emplace_back("n/a");
                    reasons += fmt::format("{} on {}: {}\n", entries[m].asked, matrix.columns[c].word, cell.reason);
                    break;
                case MatrixCell::State::Judged:
                    cells.push_back(fmt::format("{:+.1f} % [{:+.1f} … {:+.1f}] {}{}", 100 * cell.median, 100 * cell.low,
                                                100 * cell.high, cell.rows,
                                                cell.common || matrix.columns[c].common == 0 ? "" : "*"));
                    break;
            }
        }
        table.add(std::move(cells));
    }
    return table.text() +
           "\nmedian error, signed, with 90 % of it and the number of rows; * of other rows than its column: the "
           "method prices less than half of them; n/a: not applicable; blank: nothing measured\n\n" +
           reasons;
}

std::string evaluationText(const Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    Table table({"device", "kind", "variant", "rows", "MAPE", "median", "p90", "bias", "tau", "in 90 %", "width",
                 "flagged", "off by 2", "false alarms", "floor"},
                {false, false, false, true, true, true, true, true, true, true, true, true, true, true, true});
    for (const auto& family : evaluation.families) addRow(table, family);
    addRow(table, {"all", "", "", "", evaluation.figures});
    std::string text = fmt::format("{} {}\n\n{}", evaluation.method, evaluation.version, table.text());
    text +=
        "\nwidth: half the 90 % interval of the median row ÷ MAPE; off by 2: rows off by more than twice or half, how "
        "many flagged\n";
    text += flagsText(evaluation.figures) + expectedText(evaluation);
    Table worst({"worst", "measured", "predicted", "error"}, {false, true, true, true});
    for (std::size_t i = 0; i < std::min<std::size_t>(5, evaluation.worst.size()); ++i) {
        const auto row = evaluation.worst[i];
        worst.add({rowText(tables, evaluation.rows.ref[row]), format(Seconds(evaluation.rows.measured[row])),
                   format(Seconds(evaluation.rows.predicted[row])), percent(evaluation.rows.error(row))});
    }
    if (const auto& all = evaluation.figures; all.floorRows > 0) {
        text +=
            fmt::format("\nfloor: what repeats of the same kernel differ by, known of {} rows; no method is better\n",
                        count(static_cast<double>(all.floorRows)));
    }
    return text + "\n" + worst.text() +
           fmt::format("\n{} per answer\n", format(Seconds(evaluation.figures.secondsPerAnswer)));
}

}  // namespace orrery::cli
