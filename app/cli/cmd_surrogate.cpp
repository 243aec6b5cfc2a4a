#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "evaluation/surrogate_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

namespace orrery::cli {

namespace {

Expected<SurrogateFitOptions> fitOptionsOf(const Arguments& arguments) {
    SurrogateFitOptions options;
    options.kind = arguments.value("model").value_or("");
    if (options.kind == "auto") options.kind.clear();
    if (const auto text = arguments.value("holdout")) {
        const auto share = numberIn(*text);
        if (!share || *share < 0 || *share > 0.5)
            return fail("usage.value", fmt::format("`--holdout {}`", *text), "a share of the rows, 0 to 0.5");
        options.judged = *share;
    }
    if (const auto text = arguments.value("seed")) {
        const auto seed = wholeIn(*text);
        if (!seed || *seed < 0) return fail("usage.value", fmt::format("`--seed {}`", *text), "a whole number from 0");
        options.seed = static_cast<std::uint64_t>(*seed);
    }
    return options;
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

void addTo(Table& table, const std::string& what, const std::string& target, const std::string& kind,
           const SurrogateTarget::Stated& stated) {
    table.add({what, target, kind, count(static_cast<double>(stated.rows)), percent(stated.mape),
               percent(stated.median), fmt::format("{:.3f}", stated.spearman), percent(stated.coverage)});
}

nlohmann::json jsonOf(const SurrogateTarget::Stated& stated) {
    return {{"rows", stated.rows},
            {"mape", stated.mape},
            {"median", stated.median},
            {"spearman", stated.spearman},
            {"coverage", stated.coverage}};
}

// The rows of a table with what the surrogate says of them.
std::string answersCsv(const Surrogate& surrogate, const SurrogateRows& rows) {
    std::string out;
    const auto cell = [](const std::string& text) {
        return text.find_first_of(",\"\n") == std::string::npos ? text : "\"" + text + "\"";
    };
    for (const SurrogateInput& input : surrogate.inputs) out += cell(input.name) + ",";
    for (const SurrogateTarget& target : surrogate.targets)
        out += fmt::format("{0},{0} low,{0} high,", cell(target.name));
    out += "widening\n";
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const auto row = rows.row(r);
        for (std::size_t c = 0; c < row.size(); ++c) {
            const SurrogateInput& input = surrogate.inputs[c];
            out += input.words ? (row[c] < 0 ? "?" : cell(input.values[static_cast<std::size_t>(row[c])]))
                               : fmt::format("{}", row[c]);
            out += ",";
        }
        for (const SurrogateTarget& target : surrogate.targets) {
            const SurrogateAnswer answer = answerOf(surrogate, target, row);
            out += fmt::format("{:.8g},{:.8g},{:.8g},", answer.value, answer.low, answer.high);
        }
        out += fmt::format("{:.4g}\n", surrogateWidening(surrogate, row));
    }
    return out;
}

Expected<Surrogate> fitted(const Arguments& arguments, const std::string& path, Watch& watch) {
    if (arguments.values("target").empty()) {
        return fail("usage.missing", "nothing says which columns are to be predicted", "`--target NAME`",
                    "a file with `.json` is taken for a surrogate that is there");
    }
    auto options = fitOptionsOf(arguments);
    if (!options) return Unexpected(options.error());
    auto table = readSurrogateTable(path, arguments.values("target"), arguments.values("ignore"));
    if (!table) return Unexpected(table.error());
    report(table->notes);
    const auto executor = makeDefaultExecutor();
    options->executor = executor.get();
    options->stop = watch.token();
    options->progress = &watch.progress();
    watch.begin("fitting a surrogate");
    auto surrogate = fitSurrogate(table->rows, *options);
    watch.end();
    if (!surrogate) return surrogate;
    surrogate->name = std::filesystem::path(path).stem().string();
    surrogate->source = std::filesystem::path(path).filename().string();
    surrogate->date = arguments.value("date").value_or(today());
    return surrogate;
}

int runSurrogate(const Arguments& arguments, Watch& watch) {
    const std::string& path = arguments.positionals().front();
    const bool there = path.ends_with(".json");
    auto surrogate = there ? readSurrogate(path) : fitted(arguments, path, watch);
    if (!surrogate) return failed(surrogate.error());
    // Written before anything is printed: a closed pipe must not cost a fit.
    if (const auto out = arguments.value("out"); out && !writeTo(*out, writeSurrogate(*surrogate))) return Unanswered;
    std::optional<SurrogateTable> asked;
    std::vector<SurrogateJudgement> judged;
    if (const auto rows = arguments.value("rows")) {
        auto read = readRowsFor(*surrogate, *rows);
        if (!read) return failed(read.error());
        asked = std::move(*read);
        judged = judge(*surrogate, asked->rows);
    } else if (arguments.has("csv")) {
        return failed(
            fail("usage.missing", "nothing says which rows are asked for", "`--rows FILE --csv FILE`").value());
    }
    if (const auto csv = arguments.value("csv"); csv && !writeTo(*csv, answersCsv(*surrogate, asked->rows)))
        return Unanswered;
    if (const auto json = arguments.value("json")) {
        nlohmann::json all{{"name", surrogate->name}, {"rows", surrogate->rows}, {"targets", nlohmann::json::array()}};
        for (const SurrogateTarget& target : surrogate->targets) {
            nlohmann::json one{{"target", target.name}, {"model", target.kind}};
            if (target.stated.rows > 0) one["left_out"] = jsonOf(target.stated);
            for (const SurrogateJudgement& each : judged) {
                if (each.target != target.name) continue;
                one["judged"] = jsonOf(each.stated);
                one["judged"]["median_width"] = each.width;
            }
            all["targets"].push_back(std::move(one));
        }
        return writeTo(*json, all.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"rows", "target", "model", "count", "MAPE", "median", "rank", "in 90 %"},
                {false, false, false, true, true, true, true, true});
    for (const SurrogateTarget& target : surrogate->targets)
        if (target.stated.rows > 0) addTo(table, "left out", target.name, target.kind, target.stated);
    for (std::size_t t = 0; t < judged.size(); ++t) {
        const auto& target = *std::find_if(surrogate->targets.begin(), surrogate->targets.end(),
                                           [&](const auto& each) { return each.name == judged[t].target; });
        addTo(table, "asked", target.name, target.kind, judged[t].stated);
    }
    std::string text =
        fmt::format("{}: learned from {} rows\n\n", surrogate->name, count(static_cast<double>(surrogate->rows)));
    text += table.text();
    if (asked) {
        std::size_t outside = 0;
        for (std::size_t r = 0; r < asked->rows.rows(); ++r)
            outside += surrogateWidening(*surrogate, asked->rows.row(r)) > 1 ? 1 : 0;
        text += fmt::format("\n{} of {} rows lie outside of what was seen; their intervals are wider.\n", outside,
                            count(static_cast<double>(asked->rows.rows())));
    }
    return print(text) ? Answered : Unanswered;
}

}  // namespace

const Command surrogateCommand{
    .name = "surrogate",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "learn a table of designs, and answer what it does not hold",
    .details =
        "FILE is a table (CSV) of designs that somebody has evaluated, or the points of a search (`search … --csv`): "
        "every column that is no target is an input. Ridge regression on logarithms, boosted trees and a Gaussian "
        "process are tried on rows left out, and the best is kept, with 90 % intervals from those rows. A fifth of the "
        "rows judges a first fit: its errors are what the file states. With a FILE that ends in .json, a surrogate "
        "that is there answers.",
    .options = {{"target", "NAME", "a column to predict; more may follow", true},
                {"ignore", "NAME", "a column that is no input; more may follow", true},
                {"model", "KIND", "auto (default), ridge, trees, process, or `trees + process`"},
                {"holdout", "SHARE", "of the rows, kept from the fit that is judged; 0.2 if left out"},
                {"seed", "N", "of the split and the fit; 1 if left out"},
                {"date", "DAY", "the day that the file says; today if left out"},
                {"out", "FILE", "where the surrogate goes, - for standard output"},
                {"rows", "FILE", "a table to answer, and to judge by where it has the targets"},
                {"csv", "FILE", "answers to these rows with their intervals; - is standard output"},
                {"json", "FILE", "models and errors as JSON; - is standard output"}},
    .required = {},
    .examples = {{"orrery-cli surrogate designs.csv --target Latency --target Energy --out designs.json",
                  "learn two columns of a table"},
                 {"orrery-cli surrogate designs.json --rows others.csv --csv -", "answer other rows"}},
    .run = runSurrogate,
};

}  // namespace orrery::cli
