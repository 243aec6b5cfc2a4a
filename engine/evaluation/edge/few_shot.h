#pragma once

// One few-shot question while it is judged: where samples come from, which are drawn, what the prior may know.

#include "evaluation/edge/edge_judge.h"
#include "learning/edge/level_steps.h"
#include "learning/edge/network_matrix.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

struct FewShot {
    const EdgeTable& known;
    const EdgeTable& asked;
    const EdgeProtocol& protocol;
    bool same = false;

    /// Where a target's samples are.
    const EdgeTable& sampled(const std::string& target) const;
    std::vector<std::size_t> rowsOf(const EdgeTable& table, const std::string& target,
                                    const std::optional<std::pair<double, double>>& range) const;
    std::vector<std::string> judged() const;
    std::vector<std::string> priorFor(const std::string& target) const;
    /// Rows of `sampled(target)` that samples may be, in its order; those of the trimmed times only where it is drawn.
    std::vector<std::size_t> pool(const std::string& target, bool trimmed) const;
    /// By seed, or the references that the target was measured with.
    std::vector<std::size_t> draw(const std::string& target, std::size_t repeat) const;
    bool chooses() const { return protocol.choose && protocol.references.empty(); }
};

/// Networks by name, and what other devices took for them: of both tables.
struct NamedNetworks {
    std::map<std::string, std::size_t, std::less<>> place;
    std::vector<std::string> names;
    std::vector<std::vector<double>> devices;  ///< × networks, NaN where not measured
    NetworkMatrix matrix;
};
Expected<NamedNetworks> namedNetworks(const FewShot& task, const std::string& target);

/// Columns of `known` that belong to the same whole device as `target` of `table`, itself too.
bool sameWhole(const EdgeTable& known, std::size_t other, const EdgeTable& table, std::string_view target);

/// What a model says of a network with these features, and whether that may be off by two.
std::pair<Predicted, EdgeDoubt> toldWithDoubt(const DeviceModel& model, std::span<const double> features);

/// `edge.level-steps`: a device that changed its speed while its samples were measured. Nothing of one that did not.
std::optional<Diagnostic> levelNote(const LevelSteps& levels, std::string_view target);

/// `simple`: of a simple model, one per row; rows where it has none are left out of its figures.
EdgeJudgement judgeEdgeRows(std::span<const EdgePrediction> rows, std::span<const double> simple);
Expected<EdgeJudgement> judgeByName(const FewShot& task, const std::string& target, std::size_t repeat,
                                    EdgeResult& result);

}  // namespace orrery
