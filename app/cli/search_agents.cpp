#include "app/cli/search_agents.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/ranks_cli.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "store/export/search_exports.h"
#include "store/project/search_file.h"
#include "store/runs/search_store.h"
#include "study/distributed/ranked_runs.h"
#include "study/exploration/agent_benchmark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace orrery::cli {

namespace {

Expected<std::uint64_t> wholeOption(const Arguments& arguments, std::string_view option, std::uint64_t fallback) {
    const auto text = arguments.value(option);
    if (!text) return fallback;
    const auto number = wholeIn(*text);
    if (!number || *number < 1)
        return fail("usage.value", fmt::format("`--{} {}`", option, *text), "a whole number from 1");
    return static_cast<std::uint64_t>(*number);
}

// All that are asked for a number of points: the others ask for what they always ask for.
Expected<std::vector<BenchmarkAgent>> agentsOf(const Arguments& arguments) {
    const std::string list = *arguments.value("agents");
    std::vector<std::string_view> names;
    for (const std::string_view name : splitTrimmed(list, ',')) {
        if (name != "all") {
            names.push_back(name);
            continue;
        }
        for (const AgentInfo& agent : searchAgents())
            if (agent.needsBudget) names.push_back(agent.id);
    }
    std::vector<BenchmarkAgent> agents;
    for (const std::string_view name : names) {
        const std::size_t slash = name.find('/');
        auto agent = searchAgent(name.substr(0, slash));
        if (!agent) {
            agent.error().code = "usage.agent";
            return Unexpected(agent.error());
        }
        const auto part = slash == name.npos ? std::optional<std::int64_t>(1) : wholeIn(name.substr(slash + 1));
        if (!part || *part < 1)
            return fail("usage.agent", fmt::format("`{}`", name),
                        "`NAME/N` with a whole number from 1: an N-th of the evaluations");
        agents.emplace_back(*agent, static_cast<std::uint64_t>(*part));
    }
    return agents;
}

Expected<std::vector<BenchmarkSpace>> spacesOf(const Arguments& arguments, bool quiet) {
    std::vector<BenchmarkSpace> spaces;
    for (const std::string& path : arguments.positionals()) {
        auto loaded = readSearchFile(path, arguments.value("tables").value_or(""));
        if (!loaded) return Unexpected(loaded.error());
        if (!quiet) report(loaded->warnings);
        // A file's own number stands: spaces of 70 and of 10,000 points are compared by one command.
        auto evaluations = wholeOption(arguments, "evaluations", 0);
        if (!evaluations) return Unexpected(evaluations.error());
        if (loaded->settings.evaluations > 0) evaluations = loaded->settings.evaluations;
        if (*evaluations == 0) {
            return fail("usage.missing", fmt::format("{} does not say how many points may be asked for", path),
                        "`--evaluations N`, or `evaluations: N` in the file");
        }
        if (const auto method = arguments.value("method"); method && !loaded->problem.source)
            loaded->problem.method = *method;
        auto ready = readied(std::move(loaded->problem));
        if (!ready) return Unexpected(ready.error());
        spaces.push_back({loaded->name, std::move(*ready), *evaluations});
    }
    return spaces;
}

std::string scoresText(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkScore> scores, double seconds,
                       std::uint64_t seeds) {
    std::string text = fmt::format("{} seeds, {:.1f} s\n", seeds, seconds);
    std::vector<std::string> worse;
    for (std::size_t s = 0; s < spaces.size(); ++s) {
        text +=
            fmt::format("\n{}: {} of {} points\n\n", spaces[s].name, count(static_cast<double>(spaces[s].evaluations)),
                        count(static_cast<double>(spaces[s].problem.space.points())));
        Table table({"agent", "volume", "quartiles", "answers", "cost", "chance of so low", "greedy choice"},
                    {false, true, true, true, true, true, true});
        for (const BenchmarkScore& score : scores) {
            if (score.space != s) continue;
            table.add({score.agent.name(), fmt::format("{:.4f}", score.median),
                       fmt::format("{:.4f} … {:.4f}", score.low, score.high), fmt::format("{:.0f}", score.answers),
                       fmt::format("{:.0f}", score.cost), fmt::format("{:.2g}", score.chance),
                       score.agent.part > 1 ? fmt::format("{:.4f}", score.greedy) : ""});
            if (score.worse) worse.push_back(fmt::format("{} ({})", score.agent.name(), spaces[s].name));
        }
        text += table.text();
    }
    text +=
        "\nWorse than random beyond chance: " + (worse.empty() ? "none" : fmt::format("{}", fmt::join(worse, ", ")));
    return text + "\n";
}

// What all ranks must ask alike.
std::string questionOf(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkAgent> agents, int seeds) {
    std::string text = fmt::format("{} seeds\n", seeds);
    for (const BenchmarkSpace& space : spaces) {
        for (const BenchmarkAgent& agent : agents)
            text += fmt::format("{} of\n{}\n", agent.evaluations(space), searchProblemText(space.problem, *agent.info));
    }
    return text;
}

// Another rank than 0 runs agents until all is done.
int helpAgents(Ranks& ranks, std::string question, std::span<const BenchmarkSpace> spaces,
               std::span<const BenchmarkAgent> agents, int seeds, Watch& watch) {
    std::stop_source stop;
    const std::stop_callback interrupted(watch.token(), [&] { stop.request_stop(); });
    const BenchmarkOptions options{.stop = stop.get_token(), .seeds = seeds};
    const auto served =
        ranks.serve({std::move(question), ranks.threadsHere(), agentRuns(spaces, agents, options)}, stop);
    return served ? Answered : Unanswered;
}

}  // namespace

int compareAgents(Ranks* ranks, const Arguments& arguments, Watch& watch) {
    const bool helps = isHelper(ranks);
    for (const char* other : {"agent", "seed", "out", "resume", "json"}) {
        if (!arguments.has(other)) continue;
        if (!helps) {
            report(fail("usage.option", fmt::format("`--{}` is of one search", other), "`--agents LIST` without it")
                       .value());
        }
        return Usage;
    }
    const auto failure = [&](const Diagnostic& error) {
        if (helps && ranks) ranks->refuse(error);
        if (!helps) report(error);
        return error.code.starts_with("usage.") ? Usage : Unanswered;
    };
    const auto listed = agentsOf(arguments);
    if (!listed) return failure(listed.error());
    const std::vector<BenchmarkAgent> agents = withRandom(*listed);
    const auto seeds = wholeOption(arguments, "seeds", 20);
    if (!seeds) return failure(seeds.error());
    if (*seeds < 2 || *seeds > 10'000)
        return failure(fail("usage.value", fmt::format("`--seeds {}`", *seeds), "2 to 10,000").value());
    const auto spaces = spacesOf(arguments, helps);
    if (!spaces) return failure(spaces.error());
    const int each = static_cast<int>(*seeds);
    if (helps && !ranks) return Answered;
    if (helps) return helpAgents(*ranks, questionOf(*spaces, agents, each), *spaces, agents, each, watch);

    const auto executor = makeDefaultExecutor();
    BenchmarkOptions options{
        .executor = executor.get(), .stop = watch.token(), .progress = &watch.progress(), .seeds = each};
    if (ranks) {
        ranks->begin({questionOf(*spaces, agents, each), ranks->threadsHere(), agentRuns(*spaces, agents, options)});
        answerOn(*ranks, options);
    }
    watch.progress().setTotal(spaces->size() * agents.size() * *seeds);
    watch.begin("comparing agents");
    const auto start = std::chrono::steady_clock::now();
    const auto scores = benchmarkAgents(*spaces, agents, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    watch.end();
    if (ranks) {
        ranks->finish();
        reportRanks(*ranks, arguments.has("ranks"));
    }
    if (!scores) return failure(scores.error());
    const auto csv = arguments.value("csv");
    bool written = (csv && *csv == "-") || print(scoresText(*spaces, *scores, seconds, *seeds));
    if (csv) written = writeTo(*csv, benchmarkCsv(*spaces, *scores)) && written;
    if (const auto page = arguments.value("page")) {
        const auto there = readFile(*page, std::size_t{1} << 24);
        const std::string table = benchmarkTable(*spaces, *scores);
        written = writeTo(*page, withBenchmarkTable(there.value_or(std::string()), table)) && written;
    }
    return written ? Answered : Unanswered;
}

}  // namespace orrery::cli
