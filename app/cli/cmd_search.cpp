#include "app/cli/answers.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/ranks_cli.h"
#include "app/cli/search_agents.h"
#include "app/cli/search_keeping.h"
#include "app/cli/search_progress.h"
#include "app/cli/surrogate_text.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "store/export/search_exports.h"
#include "store/project/search_file.h"
#include "store/runs/search_store.h"
#include "study/distributed/ranked_runs.h"
#include "study/exploration/ladder.h"
#include "study/exploration/learned_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace orrery::cli {

namespace {

struct SearchRequest {
    LoadedSearch loaded;
    const AgentInfo* agent = nullptr;
    std::uint64_t evaluations = 0;
};

Expected<SearchRequest> requestOf(const Arguments& arguments) {
    auto loaded = readSearchFile(arguments.positionals().front(), arguments.value("tables").value_or(""));
    if (!loaded) return Unexpected(loaded.error());
    SearchProblem& problem = loaded->problem;
    if (const auto method = arguments.value("method")) {
        if (problem.source) {
            return fail("usage.method", "the points of a table or a surrogate have their answers",
                        "a search without `--method`");
        }
        loaded->settings.method = *method;
        auto again = searchProblem(loaded->settings, problem.space.base());
        if (!again) return Unexpected(again.error());
        again->ladder = std::move(problem.ladder);
        problem = std::move(*again);
    }
    if (const auto ladder = arguments.value("ladder")) problem.ladder = splitMethods(*ladder);
    const auto whole = [&](std::string_view option, std::int64_t least) -> Expected<std::optional<std::uint64_t>> {
        const auto text = arguments.value(option);
        if (!text) return std::nullopt;
        const auto number = wholeIn(*text);
        if (!number || *number < least) {
            return fail("usage.value", fmt::format("`--{} {}`", option, *text),
                        fmt::format("a whole number from {}", least));
        }
        return static_cast<std::uint64_t>(*number);
    };
    const auto seed = whole("seed", 0);
    if (!seed) return Unexpected(seed.error());
    problem.seed = seed->value_or(problem.seed);
    auto evaluations = whole("evaluations", 1);
    if (!evaluations) return Unexpected(evaluations.error());
    if (!*evaluations && loaded->settings.evaluations > 0) *evaluations = loaded->settings.evaluations;
    auto agent = searchAgent(arguments.value("agent").value_or(loaded->settings.agent));
    if (!agent) {
        agent.error().code = "usage.agent";
        return Unexpected(agent.error());
    }
    if ((*agent)->needsBudget && !*evaluations) {
        return fail("usage.missing", fmt::format("`{}` asks for as many points as it may", (*agent)->id),
                    "`--evaluations N`",
                    fmt::format("the space has {} points", count(static_cast<double>(problem.space.points()))));
    }
    if (!*evaluations && (*agent)->id == "grid" && problem.space.points() > mostGridPoints) {
        return fail("usage.missing",
                    fmt::format("the space has {} points", count(static_cast<double>(problem.space.points()))),
                    "`--evaluations N`, or an agent that chooses, such as `--agent nsga2`");
    }
    if (const auto form = arguments.value("progress"); form && *form != "json")
        return fail("usage.value", fmt::format("`--progress {}`", *form), "`--progress json`");
    auto ready = readied(std::move(problem));
    if (!ready) return Unexpected(ready.error());
    problem = std::move(*ready);
    // A ladder of its own choice may be none; one that is named must be one.
    if (auto asked = problem.ladder.empty() ? Expected<std::vector<Rung>>(std::vector<Rung>{}) : ladderOf(problem);
        !asked) {
        if (arguments.has("ladder")) asked.error().code = "usage.ladder";
        return Unexpected(asked.error());
    }
    if (arguments.has("fit-surrogate")) {
        if (auto able = learnable(problem); !able) return Unexpected(able.error());
    }
    return SearchRequest{std::move(*loaded), *agent, evaluations->value_or(0)};
}

std::string printed(double value, Dimension dimension) {
    return dimension == Dimension::Number ? fmt::format("{:.4g}", value) : formatMeasure(value, dimension);
}

std::string intervalOf(const Ranged& ranged, Dimension dimension) {
    if (!ranged.sure()) return printed(ranged.value, dimension) + " ?";
    if (ranged.low == ranged.high) return printed(ranged.value, dimension);
    return fmt::format("{} [{} … {}]", printed(ranged.value, dimension), printed(ranged.low, dimension),
                       printed(ranged.high, dimension));
}

std::string answerText(const SearchOutcome& outcome, std::size_t most) {
    const SearchProblem& problem = *outcome.problem;
    const PointAnswers& seen = outcome.evaluations;
    const auto knobs = problem.space.knobs();
    std::size_t feasible = 0, refused = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        feasible += seen.feasible(i) ? 1 : 0;
        refused += seen.answered(i) ? 0 : 1;
    }
    std::string text =
        fmt::format("{}: {} of {} points by {}, {}{}, {:.2f} s ({:.0f} points/s)\n\n", outcome.name,
                    count(static_cast<double>(seen.size())), count(static_cast<double>(problem.space.points())),
                    problem.source ? problem.source->title() : methodTitle(problem.method), outcome.agent->title,
                    outcome.finished ? "" : " (stopped)", outcome.seconds,
                    outcome.seconds > 0 ? static_cast<double>(outcome.answered) / outcome.seconds : 0);
    for (const RungAnswers& rung : outcome.cheap) {
        text += fmt::format("Besides {} points by {}, at the cost of {:.2f} of these\n\n",
                            count(static_cast<double>(rung.answers.size())), methodTitle(rung.rung.method),
                            rung.rung.cost * static_cast<double>(rung.answers.size()));
    }
    if (const std::size_t broken = seen.size() - feasible - refused; broken > 0)
        text += fmt::format("{} break a constraint\n{}", count(static_cast<double>(broken)), refused > 0 ? "" : "\n");
    if (refused > 0) {
        text += fmt::format("{} have no answer, such as: {}\n\n", count(static_cast<double>(refused)),
                            seen.refusals.front());
    }
    std::vector<std::string> heads{""};
    std::vector<bool> right{false};
    for (const Knob& knob : knobs) heads.push_back(knob.path), right.push_back(true);
    for (const Objective& objective : problem.objectives) heads.push_back(toText(objective)), right.push_back(true);
    Table table(heads, right);
    const auto row = [&](std::string mark, std::vector<std::string> cells, const PointAnswer& evaluation) {
        cells.insert(cells.begin(), std::move(mark));
        for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
            cells.push_back(evaluation.refusal.empty() ? intervalOf(evaluation.values[k], outcome.base.dimensions[k])
                                                       : "–");
        }
        table.add(std::move(cells));
    };
    std::vector<std::string> own;
    for (const Knob& knob : knobs) own.push_back(knob.own);
    if (!problem.source) row("as drawn", own, outcome.base.evaluation);
    const Front front = frontOf(problem, seen);
    for (std::size_t n = 0; n < std::min(front.points.size(), most); ++n) {
        const PointAnswer each = seen.at(front.points[n]);
        const auto levels = problem.space.levelsAt(each.point);
        std::vector<std::string> cells;
        for (std::size_t k = 0; k < knobs.size(); ++k) cells.push_back(knobs[k].values[levels[k]]);
        row("front", std::move(cells), each);
    }
    text += table.text();
    if (front.points.size() > most) text += fmt::format("… and {} more\n", front.points.size() - most);
    text += fmt::format(
        "\nNo other point beats these {} in every objective. For {} more that cannot be said: their "
        "intervals overlap the front's.\n",
        front.points.size(), count(static_cast<double>(front.possible.size())));
    const auto& values = outcome.base.evaluation.values;
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (!outcome.base.evaluation.refusal.empty() || values[k].sure()) continue;
        text += fmt::format("No interval of `{}` is known (?): points are compared by its value.\n",
                            problem.objectives[k].quantity);
    }
    return text;
}

std::string effectsText(const SearchOutcome& outcome) {
    const SearchProblem& problem = *outcome.problem;
    std::vector<std::string> heads{"knob", "value"};
    std::vector<bool> right{false, true};
    for (const Objective& objective : problem.objectives) heads.push_back(toText(objective)), right.push_back(true);
    Table table(heads, right);
    for (const KnobEffect& effect : knobEffects(problem, outcome.evaluations)) {
        const Knob& knob = problem.space.knobs()[effect.knob];
        for (std::size_t level = 0; level < effect.rows.size(); ++level) {
            std::vector<std::string> cells{level == 0 ? knob.path : "", knob.values[level]};
            for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
                const auto at = effect.rows[level];
                cells.push_back(at && outcome.evaluations.answered(*at)
                                    ? intervalOf(outcome.evaluations.at(*at).values[k], outcome.base.dimensions[k])
                                    : "–");
            }
            table.add(std::move(cells));
        }
    }
    return fmt::format("\nEach knob alone, the others as {}:\n\n{}",
                       problem.space.isOfRows() ? "in the table's first row; –: it has no such row"
                       : problem.source         ? "their first values"
                                                : "drawn",
                       table.text());
}

// An objective or a limit that is neither a known quantity nor a figure of an answer, at the question as it stands and
// at a few points across the space: a slip, said before thousands of points are answered to no end. Where none of these
// has an answer, the points tell.
Expected<void> knownQuantities(const SearchProblem& problem, const std::stop_token& stop) {
    constexpr std::uint64_t probes = 5;
    std::vector<std::string> names;
    for (const QuantityInfo& each : searchQuantities()) names.emplace_back(each.name);
    std::vector<std::pair<const char*, std::string>> open;  // code, quantity
    const auto listed = [&](const std::string& name) {
        return name.empty() || name == "slo" || std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const Objective& each : problem.objectives)
        if (!listed(each.quantity)) open.emplace_back("search.objective", each.quantity);
    for (const Constraint& each : problem.constraints)
        if (!listed(each.quantity)) open.emplace_back("search.constraint", each.quantity);
    if (problem.source || open.empty()) return {};
    const auto executor = makeSerialExecutor();
    std::size_t answered = 0;
    const auto probe = [&](const Expected<Scenario>& scenario, const Expected<MethodChoice>& choice) {
        if (!scenario || !choice || stop.stop_requested()) return;
        EstimateContext context{.executor = *executor,
                                .stop = stop,
                                .seed = problem.seed,
                                .wantTimeline = false,
                                .options = choice->options};
        const auto answer = estimate(*findMethod(choice->id), *scenario, context);
        if (!answer) return;
        ++answered;
        for (const Figure& figure : answer->figures)
            if (!listed(figure.label)) names.push_back(figure.label);
    };
    const auto own = methodChoice(problem.method, builtinMethods());
    probe(problem.space.base(), own);
    const auto missing = [&] {
        return std::any_of(open.begin(), open.end(), [&](const auto& each) { return !listed(each.second); });
    };
    for (std::uint64_t i = 0; i < probes && missing(); ++i) {
        const std::uint64_t point = i * ((problem.space.points() - 1) / (probes - 1));
        probe(problem.space.scenarioAt(point), own ? problem.space.methodAt(point, *own) : own);
    }
    for (const auto& [code, name] : open) {
        if (listed(name) || answered == 0 || stop.stop_requested()) continue;
        const std::vector<std::string> shown(
            names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), std::size_t{24})));
        return fail(code, fmt::format("{} predicts no `{}`", methodTitle(problem.method), name),
                    quotedList(shown, "or"), didYouMean(name, names));
    }
    return {};
}

// The question beside its points, so that they can be learned later without the file that asked it.
bool keepQuestion(const std::string& folder, std::int64_t id, const LoadedSearch& loaded, const AgentInfo& agent) {
    if (loaded.problem.source) return true;
    SearchSettings settings = loaded.settings;
    settings.agent = std::string(agent.id);
    settings.seed = loaded.problem.seed;
    const std::string own = fmt::format("{}/search-{}", folder, id);
    std::string ladder;
    for (const std::string& method : loaded.problem.ladder)
        ladder += fmt::format("{}\"{}\"", ladder.empty() ? "" : ", ", method);
    if (!ladder.empty()) ladder = "ladder: [" + ladder + "]\n";
    if (!makeFolder(own)) return false;
    for (const SearchPart& part : writeSearch(loaded.name, loaded.problem.space.base(), settings))
        if (!writeTo(own + "/" + part.name, part.text + (part.name == "search.yaml" ? ladder : ""))) return false;
    return true;
}

// What was found as a learned method, in a file.
bool learned(const SearchOutcome& outcome, const Arguments& arguments, Watch& watch) {
    const auto file = arguments.value("fit-surrogate");
    if (!file) return true;
    const auto executor = makeDefaultExecutor();
    LearnOptions options;
    options.fit.seed = outcome.problem->seed;
    options.fit.executor = executor.get();
    options.fit.stop = watch.token();
    options.fit.progress = &watch.progress();
    options.name = outcome.name;
    options.date = arguments.value("date").value_or(today());
    watch.begin("learning from the points");
    const auto surrogate = learnPoints(*outcome.problem, outcome.evaluations, options);
    watch.end();
    if (!surrogate) {
        report(surrogate.error());
        return false;
    }
    return writeTo(*file, writeSurrogate(*surrogate)) && print(learnedText(*surrogate, *file));
}

// Another rank than 0 answers points until all is done.
int helpSearch(Ranks& ranks, const Expected<SearchRequest>& request, Watch& watch) {
    if (!request) {
        ranks.refuse(request.error());
        return Unanswered;
    }
    const SearchProblem& problem = request->loaded.problem;
    std::stop_source stop;
    const std::stop_callback interrupted(watch.token(), [&] { stop.request_stop(); });
    const SearchOptions options{.stop = stop.get_token()};
    watch.begin(request->loaded.name);
    const auto served = ranks.serve(
        {searchProblemText(problem, *request->agent), ranks.threadsHere(), pointAnswers(problem, options)}, stop);
    return served ? Answered : Unanswered;
}

int searchOn(Ranks* ranks, const Arguments& arguments, Watch& watch) {
    auto request = requestOf(arguments);
    if (isHelper(ranks)) return helpSearch(*ranks, request, watch);
    if (!request) return failed(request.error());
    report(request->loaded.warnings);
    const SearchProblem& problem = request->loaded.problem;
    if (auto known = knownQuantities(problem, watch.token()); !known) return failed(known.error());
    const AgentInfo& agent = *request->agent;

    // What an earlier run has stored, and where this one goes on.
    std::unique_ptr<SearchKeeping> keeping;
    if (const auto out = arguments.value("out")) {
        if (!makeFolder(*out)) return Unanswered;
        auto opened = SearchKeeping::open(*out, request->loaded, agent, arguments.has("resume"));
        if (!opened) return failed(opened.error());
        keeping = std::move(*opened);
        if (!keepQuestion(*out, keeping->id(), request->loaded, agent)) return Unanswered;
    } else if (arguments.has("resume")) {
        return failed(
            fail("usage.missing", "nothing says where the earlier search stands", "`--out DIR --resume`").value());
    }

    const auto executor = makeDefaultExecutor();
    std::vector<RungAnswers> cheap;
    SearchOptions options{.executor = executor.get(),
                          .stop = watch.token(),
                          .progress = &watch.progress(),
                          .evaluations = request->evaluations,
                          .cheap = &cheap};
    if (keeping) keeping->join(options);
    const std::uint64_t most = request->evaluations > 0 ? std::min(request->evaluations, problem.space.points())
                               : agent.id == "grid"     ? problem.space.points()
                                                        : 0;
    std::optional<SearchProgress> lines;
    if (arguments.has("progress")) lines.emplace(searchProblemText(problem, agent), most);
    options.onBatch = [&](const PointAnswers& seen, std::size_t first) {
        if (lines && !lines->add(seen)) return false;
        return !keeping || keeping->add(seen, first);
    };
    if (ranks) {
        ranks->begin({searchProblemText(problem, agent), ranks->threadsHere(), pointAnswers(problem, options)});
        answerOn(*ranks, options);
    }
    watch.progress().setTotal(most);
    watch.begin(request->loaded.name);
    const auto start = std::chrono::steady_clock::now();
    SearchOutcome outcome{.name = request->loaded.name, .problem = &problem, .agent = &agent};
    bool stopped = false;
    outcome.evaluations = runSearch(problem, agent, options, &stopped);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.cheap = std::move(cheap);
    outcome.answered = keeping ? keeping->fresh(outcome.evaluations) : outcome.evaluations.size();
    outcome.finished = !stopped;
    outcome.base = evaluateBase(problem, options);
    watch.end();
    if (ranks) {
        ranks->finish();
        reportRanks(*ranks, arguments.has("ranks"));
    }
    const bool broken = keeping && keeping->broken();
    if (lines) lines->end(outcome.evaluations, outcome.finished && !broken);
    if (broken) return failed(*keeping->broken());
    if (keeping && outcome.finished) {
        if (auto done = keeping->finish(); !done) return failed(done.error());
    }
    bool written = true;
    const auto json = arguments.value("json");
    const bool toLearn = outcome.finished && !watch.interrupted();
    if (!lines && (!json || *json != "-")) {
        written = print(answerText(outcome, 20));
        if (agent.id == "one-at-a-time") written = print(effectsText(outcome)) && written;
    }
    if (json) written = writeTo(*json, searchJson(outcome)) && written;
    if (const auto csv = arguments.value("csv")) written = writeTo(*csv, searchCsv(outcome)) && written;
    if (toLearn) written = learned(outcome, arguments, watch) && written;
    if (watch.interrupted()) {
        return failed(fail("search.interrupted", "interrupted", "",
                           keeping ? "every finished batch is kept: the same command with `--resume` goes on"
                                   : "with `--out DIR` every finished batch is kept")
                          .value());
    }
    const PointAnswers& seen = outcome.evaluations;
    bool answered = seen.size() == 0;
    for (std::size_t i = 0; i < seen.size() && !answered; ++i) answered = seen.answered(i);
    if (!answered) {
        return failed(fail("search.no-answer",
                           fmt::format("none of the {} designs tried has an answer{}", seen.size(),
                                       seen.refusals.empty() ? std::string() : ": " + seen.refusals.front()),
                           "one that does, for a front to begin with",
                           "another method, other objectives or other values of the knobs may have one")
                          .value());
    }
    if (frontOf(problem, outcome.evaluations).points.empty()) {
        return failed(fail("search.no-answer",
                           fmt::format("none of the {} designs tried has an answer that the constraints allow",
                                       outcome.evaluations.size()),
                           "one that does, for a front to begin with",
                           "`--evaluations N` tries more of them; or loosen a constraint of the file")
                          .value());
    }
    return written ? Answered : Unanswered;
}

int runSearchCommand(const Arguments& arguments, Watch& watch) {
    if (arguments.has("agents")) {
        auto ranks = joinedRanks();
        if (!ranks) return isHelper(nullptr) ? Unanswered : failed(ranks.error());
        const int code = compareAgents(ranks->get(), arguments, watch);
        return *ranks ? (*ranks)->ended(code) : code;
    }
    for (const char* of : {"seeds", "page"}) {
        if (arguments.has(of))
            return failed(fail("usage.missing", fmt::format("`--{}` is of agents that are compared", of),
                               "`--agents all`, or a list of them")
                              .value());
    }
    if (arguments.positionals().size() > 1)
        return failed(
            fail("usage.argument", "one search at a time", "one file, or `--agents LIST` to compare agents").value());
    auto ranks = joinedRanks();
    if (!ranks) return isHelper(nullptr) ? Unanswered : failed(ranks.error());
    const int code = searchOn(ranks->get(), arguments, watch);
    return *ranks ? (*ranks)->ended(code) : code;
}

}  // namespace

const Command searchCommand{
    .name = "search",
    .positional = "FILE...",
    .positionalRequired = true,
    .summary = "which of many designs, plans and options is best",
    .details =
        "FILE (`orrery: search/1`) holds one question, the knobs that may turn, objectives and constraints; the "
        "handbook's page on exploration describes it. Points that no other one beats are listed, and how many more may "
        "belong to them for all that the intervals say. Same file, agent and seed: the same bytes. A file may name a "
        "table (`table: FILE.csv`) in place of a question: its rows are the points. With --agents, agents are compared "
        "over several files and seeds by the hypervolume of what they find with equal numbers of answers.",
    .options =
        {{"agent", "NAME",
          "grid (default), one-at-a-time, random, latin, hill, nsga2, moead, cma-es, annealing, ants, bayesian, "
          "multi-fidelity"},
         {"evaluations", "N", "answer at most so many points; of compared agents, where a file does not say"},
         {"tables", "DIR", "where tables stand that files name, in place of the file's folder"},
         {"seed", "S", "of agents that draw, and of the method; without it the file's"},
         {"method", "ID", "who answers, in place of the file's: tile-hybrid, or id(key=value,…)"},
         {"ladder", "LIST", "of multi-fidelity: methods from cheap to dear, in place of the file's or its own choice"},
         {"out", "DIR", "keep every answer in DIR/runs.sqlite, and take from there what any search has answered"},
         {"resume", "", "go on where an earlier search of the same file, agent and seed was stopped"},
         {"progress", "json", "points as they come as lines of JSON on standard output, in place of the table"},
         {"ranks", "", "on several ranks: what a point and a batch took, on standard error"},
         {"fit-surrogate", "FILE", "learn from the points: FILE answers others, as the method surrogate(file=FILE)"},
         {"date", "DAY", "the day that such a file says; today if left out"},
         {"csv", "FILE", "all points, or the scores of agents, as CSV; - is standard output"},
         {"json", "[FILE]", "best, front and history as JSON; standard output if left out"},
         {"agents", "LIST",
          "compare agents: all, or names with commas between them; NAME/3 gets a third of the evaluations"},
         {"seeds", "N", "of compared agents (20)"},
         {"page", "FILE",
          "where the table of compared agents goes in Markdown: in place of such a table, if FILE has one"}},
    .required = {},
    .examples = {{"orrery-cli search hbm-or-cores.yaml", "every combination, and the front"},
                 {"orrery-cli search hbm-or-cores.yaml --agent one-at-a-time", "what each knob does alone"},
                 {"orrery-cli search chip.yaml --agent nsga2 --evaluations 2000 --seed 1 --json -",
                  "2,000 of a large space"},
                 {"orrery-cli search chip.yaml --out results --resume", "go on after an interrupt"},
                 {"orrery-cli search --agents all --evaluations 300 chip.yaml table.yaml",
                  "which agent finds most with 300 answers, over 20 seeds"}},
    .run = runSearchCommand,
    .shared = true,
};

}  // namespace orrery::cli
