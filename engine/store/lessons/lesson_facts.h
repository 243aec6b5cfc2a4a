#pragma once

// What conditions of lessons speak of, by name, in SI units.

#include "methods/method.h"
#include "serving/metrics.h"
#include "store/lessons/lesson.h"

namespace orrery {

/// Letters and digits in lower case, `_` for everything else: `Time of one pass` as `time_of_one_pass`.
std::string factName(std::string_view text);

/// `hbm3.bandwidth`, `gemmini.count`, `array.dataflow.weight_stationary` (1: that is the choice), of the first
/// component of each name.
void addDesignFacts(LessonFacts& facts, const Hardware& design);
/// `batch`, `sequence`, `phase.decode`, `weights.fp8`, `plan.tensor`, `work.flops`.
void addQuestionFacts(LessonFacts& facts, const Workload& workload, const Plan& plan);
/// `METHOD.latency`, `.low`, `.high`, `.flops`, `.bytes`, `.intensity`, `.peak`, `.bandwidth`, `.compute_share`,
/// `.memory_share`, `.outside` … and every figure by its name; METHOD is its id (`tile_wave`).
void addAnswerFacts(LessonFacts& facts, std::string_view method, const Estimate& estimate);
/// `serving.max_sequences`, `serving.scheduler.sarathi`: of the first pool's scheduler.
void addServingQuestion(LessonFacts& facts, const ServingStudy& study);
/// `serving.kept`, `serving.ttft_p90` …; of a second policy `serving2.…`.
void addServingFacts(LessonFacts& facts, int policy, const ServingMetrics& metrics);

}  // namespace orrery
