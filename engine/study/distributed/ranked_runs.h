#pragma once

// Studies and searches on several ranks: their pairs and points as numbered items, their answers as bytes. Orders and
// numbers are those of one rank.

#include "study/distributed/ranks.h"
#include "study/exploration/agent_benchmark.h"
#include "study/exploration/search.h"
#include "study/study.h"

#include <functional>
#include <string>
#include <string_view>

namespace orrery {

/// A result as bytes and back, with the same numbers: the store knows how (store/runs/result_codec.h). Bytes that are
/// no result are a failure.
struct ResultCodec {
    std::function<std::string(const StudyResult&)> write;
    std::function<StudyResult(std::size_t pair, std::string_view)> read;
};
/// What a rank answers of a study; study, options and codec must outlive it.
AnswerItem pairAnswers(const Study& study, const StudyOptions& options, const ResultCodec& codec);
/// On rank 0: pairs are answered by all ranks.
void answerOn(Ranks& ranks, StudyOptions& options, const ResultCodec& codec);

/// Numbers as they stand in memory.
std::string written(const PointAnswer& answer);
/// Fails with `ranks.damaged`.
Expected<PointAnswer> readPointAnswer(std::string_view bytes);
AnswerItem pointAnswers(const SearchProblem& problem, const SearchOptions& options);
/// On rank 0: points are answered by all ranks, in larger batches.
void answerOn(Ranks& ranks, SearchOptions& options);

std::string written(const AgentRun& run);
/// Fails with `ranks.damaged`.
Expected<AgentRun> readAgentRun(std::string_view bytes);
/// What a rank answers where agents are compared; spaces, agents (withRandom()) and options must outlive it.
AnswerItem agentRuns(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkAgent> agents,
                     const BenchmarkOptions& options);
/// On rank 0: runs are answered by all ranks.
void answerOn(Ranks& ranks, BenchmarkOptions& options);

}  // namespace orrery
