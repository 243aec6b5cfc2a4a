#pragma once

// Which methods to ask, and why: what each answers here, how far it was from measured rows like this question's, what
// it costs and needs, where it breaks. Everything is read from method cards, asked of the methods, or counted from
// reference rows that are present; no method is named here.

#include "evaluation/reference_table.h"
#include "methods/method.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What the person has beside the question.
enum class DataAtHand : std::uint8_t {
    None,
    Rows,      ///< a few measured kernels of the device
    Traces,    ///< recorded runs
    Binaries,  ///< compiled programs and their instructions
};
std::string_view toText(DataAtHand data);  ///< `none`, `rows`, `traces`, `binaries`
std::optional<DataAtHand> dataAtHand(std::string_view text);

struct AdviceQuestion {
    Scenario scenario;
    DataAtHand data = DataAtHand::None;
    std::optional<double> within;   ///< seconds that an answer may take
    std::optional<double> latency;  ///< seconds: is the latency below that?
};

/// A method on measured rows.
struct AdviceEvidence {
    std::string what;  ///< `gemm, decode-attention on h100-sxm`
    std::size_t rows = 0, outOf = 0;
    double mape = 0, bias = 0, coverage90 = 0;
    bool sameDevice = false;
};

enum class AdviceVerdict : std::uint8_t {
    Recommended,
    Possible,
    Bound,  ///< a bound: beside an answer, not instead of one
    TooSlow,
    NeedsData,  ///< more than is at hand
    Refuses,
};
std::string_view toText(AdviceVerdict verdict);  ///< `recommended`, `possible`, …

struct Advice {
    std::string method, title;
    Methodology methodology = Methodology::Analytical;
    AdviceVerdict verdict = AdviceVerdict::Possible;
    std::vector<std::string> reasons;  ///< sentences
    std::string failureMode;           ///< of the card
    std::vector<std::string> needs;    ///< of the card
    std::vector<AdviceEvidence> evidence;
    std::shared_ptr<const Estimate> answer;  ///< where it was asked
    std::optional<double> stated, measured;  ///< seconds of an answer
    double expectedError = 0;                ///< ln, as best_answer.h counts it
    std::optional<double> comparedError;     ///< mean, on the rows by which the comparable ones are ranked
    std::string decides;                     ///< of a wanted latency: `below`, `above`, `cannot tell`
};

struct AdviceAnswer {
    /// Recommended first, then those that were compared with measured rows, then the others as the error to expect; the
    /// rest by verdict.
    std::vector<Advice> methods;
    std::string device, platform;
    std::vector<std::string> kinds;            ///< kernels of the workload, as references call them
    std::size_t rows = 0, sameDeviceRows = 0;  ///< of those kinds that are present
    /// Rows that all `comparable` methods price, by which they are ranked; 0: too few, each by what it says of itself.
    std::size_t commonRows = 0, comparable = 0;
    std::string gap;  ///< what no evidence speaks for, one sentence; empty: nothing
};

struct AdviceOptions {
    Executor* executor = nullptr;  ///< required
    std::stop_token stop;
    Progress* progress = nullptr;  ///< one step per method
    const CalibrationSet* calibrations = nullptr;
    std::span<const ReferenceTable> tables;  ///< beside the shipped ones
    double trial = 2;                        ///< stated seconds up to which a method is asked to see whether it answers
    std::size_t mostRows = 400;              ///< that a method is judged by, same device first
    double rowSeconds = 1;                   ///< stated seconds that one method's rows may take together
};

/// Fails with `scenario.incomplete`, and with `study.cancelled`.
Expected<AdviceAnswer> adviseOn(const AdviceQuestion& question, const AdviceOptions& options);

}  // namespace orrery
