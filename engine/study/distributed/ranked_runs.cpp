#include "study/distributed/ranked_runs.h"

#include "study/distributed/wire.h"

#include <algorithm>

namespace orrery {

AnswerItem pairAnswers(const Study& study, const StudyOptions& options, const ResultCodec& codec) {
    return [&](std::uint64_t pair) {
        const StudyResult result = answerPair(study, options, static_cast<std::size_t>(pair));
        // What a stopped method refused is no answer of that pair.
        const bool stopped =
            result.failure && (result.failure->code == "study.cancelled" || options.stop.stop_requested());
        return stopped ? std::string() : codec.write(result);
    };
}

void answerOn(Ranks& ranks, StudyOptions& options, const ResultCodec& codec) {
    options.elsewhere = [&ranks, &codec, stop = options.stop](std::span<const std::size_t> pairs,
                                                              const StudyOptions::Give& give) {
        const std::vector<std::uint64_t> numbers(pairs.begin(), pairs.end());
        std::vector<StudyResult> results;
        std::vector<std::size_t> places;
        ranks.answer(
            numbers,
            [&](std::span<AnsweredItem> answers) {
                results.clear();
                places.clear();
                for (const AnsweredItem& each : answers) {
                    const std::size_t pair = pairs[each.item.place];
                    results.push_back(codec.read(pair, each.bytes));
                    places.push_back(pair);
                }
                give(results, places);
                return true;
            },
            stop);
    };
}

std::string written(const PointAnswer& answer) {
    std::string bytes;
    const auto add = [&](const auto& number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
    add(answer.point);
    add(answer.violation);
    add(static_cast<std::uint32_t>(answer.values.size()));
    for (const Ranged& each : answer.values) add(each);
    return bytes + answer.refusal;
}

Expected<PointAnswer> readPointAnswer(std::string_view bytes) {
    MessageReader reader(bytes);
    PointAnswer answer;
    answer.point = reader.number<std::uint64_t>();
    answer.violation = reader.number<double>();
    const auto values = reader.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < values && reader.good(); ++i) answer.values.push_back(reader.number<Ranged>());
    if (!reader.good()) return fail("ranks.damaged", "what another rank says of a point cannot be read");
    answer.refusal = reader.rest();
    return answer;
}

AnswerItem pointAnswers(const SearchProblem& problem, const SearchOptions& options) {
    return [&](std::uint64_t point) {
        PointAnswer answer = evaluatePoint(problem, point, options);
        return options.stop.stop_requested() ? std::string() : written(answer);
    };
}

void answerOn(Ranks& ranks, SearchOptions& options) {
    const auto threads = static_cast<std::size_t>(ranks.ranks() * ranks.threadsHere());
    options.batch = std::min<std::size_t>(options.batch * std::max<std::size_t>(threads, 1), std::size_t{1} << 20);
    options.elsewhere = [&ranks, stop = options.stop](std::span<const std::uint64_t> points,
                                                      std::span<PointAnswer> answers) {
        return ranks.answer(
            points,
            [&](std::span<AnsweredItem> came) {
                return std::ranges::all_of(came, [&](const AnsweredItem& each) {
                    auto answer = readPointAnswer(each.bytes);
                    if (answer) answers[each.item.place] = std::move(*answer);
                    return answer.has_value();
                });
            },
            stop);
    };
}

std::string written(const AgentRun& run) {
    std::string bytes;
    const auto add = [&](const auto& number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
    add(run.answers);
    add(run.cost);
    add(static_cast<std::uint64_t>(run.costs.width));
    add(static_cast<std::uint64_t>(run.costs.value.size()));
    for (const double each : run.costs.value) add(each);
    return bytes;
}

Expected<AgentRun> readAgentRun(std::string_view bytes) {
    MessageReader reader(bytes);
    AgentRun run;
    run.answers = reader.number<double>();
    run.cost = reader.number<double>();
    run.costs.width = reader.number<std::uint64_t>();
    const auto values = reader.number<std::uint64_t>();
    for (std::uint64_t i = 0; i < values && reader.good(); ++i) run.costs.value.push_back(reader.number<double>());
    const bool whole = run.costs.width > 0 && values % run.costs.width == 0;
    if (!reader.good() || !reader.atEnd() || !whole)
        return fail("ranks.damaged", "what another rank says of an agent cannot be read");
    run.costs.low = run.costs.high = run.costs.value;
    return run;
}

AnswerItem agentRuns(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkAgent> agents,
                     const BenchmarkOptions& options) {
    return [=, &options](std::uint64_t number) {
        const AgentRun run = agentRun(spaces, agents, options, number);
        return options.stop.stop_requested() ? std::string() : written(run);
    };
}

void answerOn(Ranks& ranks, BenchmarkOptions& options) {
    options.elsewhere = [&ranks, stop = options.stop, progress = options.progress](
                            std::span<const std::uint64_t> numbers, std::span<AgentRun> runs) {
        return ranks.answer(
            numbers,
            [&](std::span<AnsweredItem> came) {
                if (progress) progress->advance(came.size());
                return std::ranges::all_of(came, [&](const AnsweredItem& each) {
                    auto run = readAgentRun(each.bytes);
                    if (run) runs[each.item.place] = std::move(*run);
                    return run.has_value();
                });
            },
            stop);
    };
}

}  // namespace orrery
