#pragma once

// Few-shot protocols: so many networks of a device are measured, drawn by seed, and the others are told from them and
// from other devices. What is judged is never among what was measured.

#include "evaluation/edge/edge_table.h"
#include "learning/edge/graph_features.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// What tells networks: counts of their operators (`space_features.h`) and by name the matrix of known devices; or what
/// a graph network learned from known devices makes of them (`graph_features.h`): by the words of their codes where
/// there are such, else operator by operator; or always by operators, alone, told of the mean of their neighbours, or
/// by attention to them.
enum class EdgeModel : std::uint8_t { Additive, Graph, Operators, Convolution, Attention };
std::string_view toText(EdgeModel model);  ///< `additive`, `graph`, `operators`, `convolution`, `attention`
std::optional<EdgeModel> edgeModel(std::string_view text);
GraphEdges edgesOf(EdgeModel model);
/// Networks of a table with codes as graphs. Fails as graphOfCode.
Expected<NetworkGraphs> edgeGraphs(const EdgeTable& table, EdgeModel model, const std::stop_token& stop = {});

struct EdgeProtocol {
    std::vector<std::string> targets;  ///< judged; empty: all
    std::vector<std::string>
        priorTargets;   ///< devices known; empty: all that are not judged, or all others where all are
    bool prior = true;  ///< false: a roofline alone
    EdgeModel model = EdgeModel::Additive;
    std::size_t samples = 10;
    std::uint64_t seed = 1;
    std::size_t repeats = 1;
    double trim = 0;                                      ///< of the fastest and of the slowest rows, never drawn
    std::optional<std::pair<double, double>> pool, test;  ///< of the table's own numbers, from and below
    std::vector<std::string> references;                  ///< networks that are measured, instead of drawn ones
    bool choose = false;  ///< without references, samples are chosen (`next_samples.h`) instead of drawn; they do not
                          ///< depend on the seed
    std::stop_token stop = {};
};

/// Rows more than 2× off, rows that were flagged (EdgeDoubt), and rows that are both.
struct EdgeFlags {
    double far = 0, flagged = 0, both = 0;
    double found() const { return far > 0 ? both / far : std::numeric_limits<double>::quiet_NaN(); }
    double precision() const { return flagged > 0 ? both / flagged : std::numeric_limits<double>::quiet_NaN(); }
};

struct EdgeJudgement {
    std::string target;
    std::size_t rows = 0;
    double samples = 0;      ///< that could be used, as a mean over repetitions
    std::size_t untold = 0;  ///< rows of networks by name that no known device has; not judged
    double mape = 0, median = 0, spearman = 0;
    double within10 = 0;  ///< share of rows less than 10 % off
    double top = 0;       ///< share of the fastest tenth that is among the tenth told fastest
    double coverage = 0;  ///< share of rows inside their 90 % interval
    EdgeFlags flags;      ///< summed over repetitions and, of the mean, over targets
    double noise = 0;
    /// The same rows by a simple model from the same samples (`simple_models.h`).
    double simpleMape = 0, simpleMedian = 0, simpleSpearman = 0;
    double simple = 0;     ///< share of repetitions in which the simple model was the better one by what was left out,
                           ///< and answered
    std::string deadCode;  ///< `dropped`, `executed`, `unclear`; empty where the space has none
};

/// Why a row may be off by two: it is unlike all networks seen, or its interval reaches far (DeviceModel::doubtful).
enum class EdgeDoubt { None, Outside, Wide };
std::string_view toText(EdgeDoubt doubt);  ///< `inside`, `outside`, `wide`

struct EdgePrediction {
    std::string target, network;
    double measured = 0;  ///< NaN where it was not
    Predicted predicted;
    EdgeDoubt doubt = EdgeDoubt::None;
};

struct EdgeResult {
    std::vector<EdgeJudgement> targets;
    EdgeJudgement mean;                ///< over targets
    Diagnostics leftOut;               ///< targets of which nothing could be told: “target: why”
    Diagnostics notes;                 ///< references that a target was not measured with
    std::size_t knownDevices = 0;      ///< that were learned from; 0: a roofline answers
    std::vector<EdgePrediction> last;  ///< of each target's last repetition
    double secondsPerNetwork = 0;      ///< of processor time, of telling one from its features
};

/// `known` holds what may be learned from; `asked` what is judged (the same table, or another of the same space). A
/// target's samples come from `known` where it has the target, else from `asked`. Fails with `edge.…`.
Expected<EdgeResult> judgeEdge(const EdgeTable& known, const EdgeTable& asked, const EdgeProtocol& protocol);

}  // namespace orrery
