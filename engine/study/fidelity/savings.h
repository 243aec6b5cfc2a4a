#pragma once

// What a budget saves: full fidelity of several questions, and what budgeted answers of several widths take and miss.

#include "study/fidelity/budget.h"

#include <string>
#include <vector>

namespace orrery {

struct SavingsCase {
    std::string question, full;
    double to = 0;  ///< half-width asked for: of what was not asked, ÷ latency
    bool reached = false;
    std::size_t kernels = 0, asked = 0;
    double launches = 0;
    double seconds = 0, fullSeconds = 0;  ///< of pricing, by the clock, one thread; every kernel once
    double eachSeconds = 0;               ///< the same with every launch priced by itself: kernels × launches
    double error = 0;                     ///< (budgeted − full) ÷ full
    double halfWidth = 0;                 ///< of where full fidelity was expected, ÷ latency
    bool inside = false;                  ///< full fidelity's answer lies there
};

struct SavingsOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;
    std::vector<std::string> methods;  ///< as BudgetOptions has them
    std::string full;
    std::vector<double> widths{0.2, 0.1, 0.05, 0.02};
};

/// Runs each question once with an endless budget, keeping every step: what a budget with that width would have said is
/// the first step that is as narrow, for the order of asking does not hang on the width. Fails as answerWithin().
Expected<std::vector<SavingsCase>> budgetSavings(const std::vector<Scenario>& questions, const SavingsOptions& options);

struct SavingsCount {
    std::size_t inside = 0, answers = 0;
};
/// Answers whose interval holds full fidelity's. Widths of one question that the same kernels answer are one answer.
SavingsCount differentAnswers(const std::vector<SavingsCase>& cases);

/// The five test models on one design: convolutions, depthwise convolutions, an encoder, two decoders.
Expected<std::vector<Scenario>> savingsQuestions(std::string_view hardware);

}  // namespace orrery
