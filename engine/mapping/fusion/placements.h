#pragma once

// How one operator of a chain may be placed inside given loops: the ways that no other one beats.

#include "base/executor.h"
#include "mapping/fusion/chain.h"
#include "mapping/mappers/mapper.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// What stands around one execution of an operator's nest in a fused group.
struct Surroundings {
    std::array<std::int64_t, maxNestDimensions>
        count{};  ///< iterations of the loops around, per dimension; 0 or 1: none
    std::array<std::int64_t, maxNestDimensions>
        tile{};                       ///< extent within one iteration; 0: the extent ÷ count. Tiles may overlap
    std::vector<std::uint8_t> order;  ///< dimensions of these loops, outermost first
    bool inputStays = false;          ///< the input is on the chip already
    bool outputStays = false;         ///< the result stays on the chip
    bool outputStored = false;        ///< and is written to the store as well
    double iterations() const;
    bool operator==(const Surroundings&) const = default;
};

/// One mapping of the nest inside its surroundings. Of equal ones the first found is kept.
struct FusedPlacement {
    double energy = 0, cycles = 0;  ///< over all iterations
    double resident = 0;            ///< words of the fusion level that it needs while the others run
    double transient = 0;           ///< words that it needs while it runs itself, without the resident ones
    std::uint32_t stays = 0;  ///< bit per tensor: kept resident over the innermost loops around that do not move it
    NestMapping mapping;      ///< of one iteration
};

/// Counts over all iterations, what stays on the chip taken away: no level outside the fusion level reads, fills or
/// updates it, and the fusion level is not filled with it. A resident tensor is read once for the innermost loops
/// around that do not move it.
NestCounts countsWithin(const OperatorChain& chain, const ChainOperator& op, const Surroundings& around,
                        std::uint32_t stays, const NestCounts& one);

/// The nest of one iteration.
NestProblem problemWithin(const NestProblem& problem, const Surroundings& around);

struct PlacementOptions {
    /// Of the searches whose mappings give the part inside the fusion level. `optimal` searches whole nests; the nest
    /// of one iteration, of which there are many, is searched by annealing then.
    MapperOptions mapper{.evaluations = 1000};
    bool exhaustive = false;  ///< every mapping of the mapspace instead; for small ones
    /// No search: nothing is inside the fusion level, which keeps any set of tensors. What operators alone hold is told
    /// as transient, too. For bounds on one buffer (chain_bound.h).
    bool oneBuffer = false;
};

/// Finds placements, each question once.
///
/// The space: (1) the part of a mapping inside the fusion level (loops of the levels inside, all spatial loops, what is
/// kept) is one of those that searches by latency, energy and energy × delay find for the whole nest, and for the nest
/// of one iteration; (2) at the fusion level and at the store every tile that divides, in every class of loop orders
/// (bounds/bound_space.h) at either. An operand that stays is whole at the fusion level: no loop of the store moves it.
/// (3) And the mappings that these searches found.
class Placements {
public:
    Placements(const OperatorChain& chain, const PlacementOptions& options, Executor& executor, std::stop_token stop);

    /// The ways that are not worse in energy, cycles, resident and transient words than another; sorted. Empty where
    /// none fits.
    const std::vector<FusedPlacement>& of(std::size_t op, const Surroundings& around);
    /// The same for many, in parallel.
    void find(std::size_t op, std::span<const Surroundings* const> around);
    std::uint64_t evaluated() const { return evaluated_; }

private:
    struct Question {
        const ChainOperator& op;
        const Surroundings& around;
        NestProblem problem;              ///< of one iteration
        MapspaceConstraints constraints;  ///< with what stays
        std::uint32_t whole = 0;          ///< dimensions that the store has no loop over
    };
    void collect(const Question& question, bool whole, std::vector<NestMapping>& blocks);
    void everyTile(const Question& question, const NestMapping& block, NestEvaluator& evaluator,
                   std::vector<FusedPlacement>& found);
    void everyMapping(const Question& question, NestEvaluator& evaluator, std::vector<FusedPlacement>& found);
    void offer(const Question& question, const NestMapping& mapping, NestEvaluator& evaluator,
               std::vector<FusedPlacement>& found);
    std::string keyOf(std::size_t first, const Surroundings& around) const;
    std::vector<FusedPlacement> search(std::size_t first, const Surroundings& around);

    const OperatorChain& chain_;
    PlacementOptions options_;
    Executor& executor_;
    std::stop_token stop_;
    std::vector<std::size_t> alike_;                ///< per operator: the first one with the same nest
    std::vector<std::vector<NestMapping>> blocks_;  ///< per operator: of the whole nest
    bool residents_ = false;                        ///< something may stay at the fusion level between iterations
    std::map<std::string, std::vector<FusedPlacement>> known_;
    std::atomic<std::uint64_t> evaluated_ = 0;
};

}  // namespace orrery
