#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/surrogate_text.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "evaluation/surrogate_table.h"
#include "store/project/search_file.h"
#include "store/project/study_file.h"
#include "store/runs/run_store.h"
#include "store/runs/search_store.h"
#include "store/runs/study_keys.h"
#include "study/exploration/learned_points.h"

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

// The newest search of a run folder whose question is there, or the one that FILE asks.
Expected<Surrogate> fittedToSearch(const std::string& folder, const LoadedSearch& loaded, bool seeded,
                                   const LearnOptions& options) {
    const auto agent = searchAgent(loaded.settings.agent);
    if (!agent) return Unexpected(agent.error());
    auto store = SearchStore::open(folder + "/runs.sqlite");
    if (!store) return Unexpected(store.error());
    const auto id = (*store)->find(searchProblemText(loaded.problem, **agent));
    if (!id) return Unexpected(id.error());
    if (*id == 0) {
        return fail("surrogate.no-search", fmt::format("no search in {} asks what {} asks", folder, loaded.name),
                    "the file, agent and seed of a search that was made with `--out`",
                    "`orrery-cli search FILE --out DIR` makes one");
    }
    const auto points = (*store)->points(*id, loaded.problem.objectives.size());
    if (!points) return Unexpected(points.error());
    LearnOptions own = options;
    own.name = loaded.name;
    if (!seeded) own.fit.seed = loaded.problem.seed;
    return learnPoints(loaded.problem, *points, own);
}

// Answers that the folder has of the study's questions, whichever run gave them.
Expected<Surrogate> fittedToStudy(const std::string& folder, const LoadedStudy& loaded, const Arguments& arguments,
                                  const LearnOptions& options) {
    auto store = RunStore::open(folder + "/runs.sqlite");
    if (!store) return Unexpected(store.error());
    const auto run = (*store)->continueRun(loaded.study, pairKeys(loaded.study, loaded.timelines));
    if (!run) return Unexpected(run.error());
    std::string method = arguments.value("method").value_or("");
    if (method.empty() && loaded.study.methods.size() == 1) method = loaded.study.methods.front();
    if (method.empty()) {
        return fail("usage.missing", "the study asks several methods", "`--method ID`: whose answers are learned");
    }
    LearnOptions own = options;
    own.name = loaded.study.name;
    return learnStudy(loaded.study, run->known, method, own);
}

Expected<std::string> newestQuestion(const std::string& folder) {
    auto store = SearchStore::open(folder + "/runs.sqlite");
    if (!store) return Unexpected(store.error());
    const auto searches = (*store)->searches();
    if (!searches) return Unexpected(searches.error());
    for (auto each = searches->rbegin(); each != searches->rend(); ++each) {
        const std::string file = fmt::format("{}/search-{}/search.yaml", folder, each->id);
        if (std::filesystem::exists(file)) return file;
    }
    return fail("surrogate.no-search", fmt::format("{} holds no search with its question", folder),
                "a folder that `orrery-cli search … --out` made", "or the file that asked: `surrogate fit DIR FILE`");
}

// `fit DIR [FILE]`.
Expected<Surrogate> fittedToRun(const Arguments& arguments, Watch& watch) {
    const auto& words = arguments.positionals();
    if (words.size() < 2 || words.size() > 3) {
        return fail("usage.argument", "nothing says which run is learned", "surrogate fit DIR [FILE] --out FILE",
                    "DIR is the `--out` of a search or a study; FILE, of a study, is its file");
    }
    const std::string& folder = words[1];
    if (!std::filesystem::exists(folder + "/runs.sqlite")) {
        return fail("surrogate.no-run", fmt::format("{} holds no runs.sqlite", folder),
                    "the `--out` of a search or a study");
    }
    auto fit = fitOptionsOf(arguments);
    if (!fit) return Unexpected(fit.error());
    LearnOptions options;
    options.fit = *fit;
    options.date = arguments.value("date").value_or(today());
    const auto executor = makeDefaultExecutor();
    options.fit.executor = executor.get();
    options.fit.stop = watch.token();
    options.fit.progress = &watch.progress();
    Expected<std::string> file = words.size() == 3 ? Expected<std::string>(words[2]) : newestQuestion(folder);
    if (!file) return Unexpected(file.error());
    auto text = readFile(*file);
    if (!text) return Unexpected(text.error());
    const bool ofStudy = text->find("orrery: study/") != std::string::npos;
    watch.begin("learning from a run");
    Expected<Surrogate> made = fail("surrogate.no-search", "nothing was asked");
    if (ofStudy) {
        auto study = readStudyFile(*file);
        made = study ? fittedToStudy(folder, *study, arguments, options) : Unexpected(study.error());
    } else {
        auto search = readSearchFile(*file);
        if (search) {
            auto ready = readied(std::move(search->problem));
            if (ready) search->problem = std::move(*ready);
            made = ready ? fittedToSearch(folder, *search, arguments.has("seed"), options) : Unexpected(ready.error());
        } else {
            made = Unexpected(search.error());
        }
    }
    watch.end();
    return made;
}

int runSurrogate(const Arguments& arguments, Watch& watch) {
    const std::string& path = arguments.positionals().front();
    if (path == "fit") {
        const auto out = arguments.value("out");
        if (!out) return failed(fail("usage.missing", "nothing says where it goes", "`--out FILE`").value());
        const auto made = fittedToRun(arguments, watch);
        if (!made) return failed(made.error());
        if (!writeTo(*out, writeSurrogate(*made))) return Unanswered;
        return print(learnedText(*made, *out)) ? Answered : Unanswered;
    }
    if (arguments.positionals().size() > 1)
        return failed(
            fail("usage.argument", "one file at a time", "one table or surrogate, or `fit DIR [FILE]`").value());
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
    .positional = "FILE...",
    .positionalRequired = true,
    .summary = "learn a table of designs, and answer what it does not hold",
    .details =
        "FILE is a table (CSV) of designs that somebody has evaluated, or the points of a search (`search … --csv`): "
        "every column that is no target is an input. Ridge regression on logarithms, boosted trees and a Gaussian "
        "process are tried on rows left out, and the best is kept, with 90 % intervals from those rows. A fifth of the "
        "rows judges a first fit: its errors are what the file states. With a FILE that ends in .json, a surrogate "
        "that is there answers. `surrogate fit DIR` learns from the newest search that was made with `--out DIR`, "
        "`surrogate fit DIR FILE` from what the search or study of FILE has left there: what it writes answers as the "
        "method `surrogate(file=…)`, wherever methods are named.",
    .options = {{"target", "NAME", "a column to predict; more may follow", true},
                {"ignore", "NAME", "a column that is no input; more may follow", true},
                {"model", "KIND", "auto (default), ridge, trees, process, or `trees + process`"},
                {"holdout", "SHARE", "of the rows, kept from the fit that is judged; 0.2 if left out"},
                {"seed", "N", "of the split and the fit; 1 if left out, of a search the search's"},
                {"date", "DAY", "the day that the file says; today if left out"},
                {"out", "FILE", "where the surrogate goes, - for standard output"},
                {"method", "ID", "of a study of several methods: whose answers are learned"},
                {"rows", "FILE", "a table to answer, and to judge by where it has the targets"},
                {"csv", "FILE", "answers to these rows with their intervals; - is standard output"},
                {"json", "[FILE]", "models and errors as JSON; standard output if left out"}},
    .required = {},
    .examples = {{"orrery-cli surrogate designs.csv --target Latency --target Energy --out designs.json",
                  "learn two columns of a table"},
                 {"orrery-cli surrogate designs.json --rows others.csv --csv -", "answer other rows"},
                 {"orrery-cli surrogate fit results --out chip.json", "learn from a search with `--out results`"}},
    .run = runSurrogate,
};

}  // namespace orrery::cli
