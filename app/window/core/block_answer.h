#pragma once

// What the block analyser is asked and what it says, for the tab that shows it.

#include "simulation/cpu/block/block.h"

#include <QString>

#include <memory>
#include <string>
#include <vector>

namespace orrery::app {

struct BlockQuestion {
    std::string core;  ///< of presets/cores
    QString text;      ///< machine code as it was typed; empty where `bytes` are given
    std::vector<std::uint8_t> bytes;
    bool operator==(const BlockQuestion&) const = default;
};

struct BlockAnswer {
    std::shared_ptr<const block::Core> core;
    block::Code code;
    std::vector<std::string> lines;  ///< of the listing, Intel syntax
    block::Prediction prediction;
    std::vector<block::ChainLink> chain;
    std::vector<std::array<double, block::mostPorts>> ports;  ///< of each instruction
};

/// Answers one question after the other; keeps the last core, for loading one takes longer than an answer.
class BlockDesk {
public:
    /// A refusal of text has the position in it as its column, from 1.
    Expected<BlockAnswer> ask(const BlockQuestion& question);

private:
    std::unique_ptr<block::Analyser> analyser_;
    std::shared_ptr<const block::Core> core_;
    std::string id_;
};

}  // namespace orrery::app
