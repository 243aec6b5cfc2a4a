#pragma once

// Throughput of an unrolled basic block: the largest of what predecoding, decoding, issue, ports and loop-carried
// dependences demand. After Abel and Reineke, "Facile" (2023) and "uiCA" (ICS 2022), reimplemented from the papers.

#include "simulation/cpu/block/core.h"

#include <span>

namespace orrery::block {

enum class Bound : std::uint8_t { Predecode, Decode, Issue, Ports, Dependence };
inline constexpr std::size_t boundCount = 5;
std::string_view toText(Bound bound);
/// `the ports that its micro-operations need`: for sentences.
std::string_view meaning(Bound bound);

/// In place of a register: what a store has left.
inline constexpr std::uint8_t StoredInMemory = 254;

struct Prediction {
    double cycles = 0;                        ///< per iteration
    double low = 0, high = 0;                 ///< holds nine of ten measured blocks of its kind
    std::array<double, boundCount> bounds{};  ///< cycles per iteration, as `Bound`
    Bound binding = Bound::Issue;
    double uops = 0, fusedSlots = 0;
    double path = 0;  ///< cycles by latencies alone from an iteration's start to its last result
    std::array<double, mostPorts> portCycles{};  ///< per iteration, in the balanced assignment
    std::vector<int> unknown;                    ///< instructions without a row in the port table
};

/// One step of the chain that carries an iteration's result into the next.
struct ChainLink {
    int instruction = 0;
    std::uint8_t through = 0;  ///< register that it writes, or StoredInMemory
    double cycles = 0;         ///< since the link before
};

/// What the bounds are taken from, kept from block to block so that nothing is allocated.
class Analyser {
public:
    explicit Analyser(std::shared_ptr<const Core> core);
    ~Analyser();
    Analyser(Analyser&&) noexcept;
    const Core& core() const;
    /// Cycles, bounds and the interval that the core states for the bound that binds.
    void predict(const Code& code, Prediction& out);
    /// Rows of the port table, one per instruction of the block last predicted; null: it has none.
    std::span<const Form* const> forms() const;
    /// The dependence chain of the block last predicted, in the order of time; empty where nothing is carried over.
    std::vector<ChainLink> chain(const Code& code);
    /// Cycles of each instruction of the block last predicted on each port, in the balanced assignment: columns sum to
    /// `portCycles`. Of two fused instructions the first has them.
    std::vector<std::array<double, mostPorts>> portsByInstruction() const;

private:
    struct Work;
    std::unique_ptr<Work> work_;
};

// The bounds by themselves, for tests and views.

struct FrontEndItem {
    std::uint16_t start, length, opcodeAt;
    bool changesLength;
};
/// Cycles per iteration of an unrolled block in front of the decoders, exact for lines of `fetchBytes`.
double predecodeBound(const std::vector<FrontEndItem>& items, int blockBytes, const CoreRules& rules);

struct DecodeItem {
    bool complex;
    int fusedSlots;  ///< micro-operations that the complex decoder yields
    bool fusesFirst, branch;
};
double decodeBound(const std::vector<DecodeItem>& items, const CoreRules& rules);
/// Least cycles in which the uses can be spread over their ports: the largest sum over a set of ports by its size.
double portBound(const std::vector<PortUse>& uses);
/// A spread that attains it.
void balancePorts(const std::vector<PortUse>& uses, std::array<double, mostPorts>& load);
/// The cycles of each use on each port in such a spread: rows sum to `uops`, columns to balancePorts().
std::vector<std::array<double, mostPorts>> spreadPorts(const std::vector<PortUse>& uses);

}  // namespace orrery::block
