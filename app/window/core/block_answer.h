#pragma once

// What the block analyser is asked and what it says, for the tab that shows it.

#include "learning/blocks/block_correction.h"

#include <QString>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery::app {

struct BlockQuestion {
    std::string core;  ///< of presets/cores
    QString text;      ///< machine code as it was typed; empty where `bytes` are given
    std::vector<std::uint8_t> bytes;
    std::string correction;  ///< file of what measured blocks say beyond the bounds; empty: none
    bool operator==(const BlockQuestion&) const = default;
};

struct BlockAnswer {
    std::shared_ptr<const block::Core> core;
    block::Code code;
    std::vector<std::string> lines;  ///< of the listing, Intel syntax
    block::Prediction prediction;
    std::string correction;                                  ///< file; empty: none
    std::optional<block::BlockCorrection::Verdict> verdict;  ///< of the correction
    std::vector<block::ChainLink> chain;
    std::vector<std::array<double, block::mostPorts>> ports;  ///< of each instruction
};

/// Answers one question after the other; keeps the last core and correction, which take longer to read than an answer.
class BlockDesk {
public:
    /// A refusal of text has the position in it as its column, from 1.
    Expected<BlockAnswer> ask(const BlockQuestion& question);

    using FileState = std::pair<std::filesystem::file_time_type, std::uintmax_t>;  ///< when written, bytes

private:
    Expected<void> prepare(const BlockQuestion& question);
    std::unique_ptr<block::Analyser> analyser_;
    std::shared_ptr<const block::Core> core_;
    std::string id_;
    std::optional<block::BlockCorrection> correction_;
    std::string correctionFile_;
    FileState correctionState_;
    std::vector<double> features_;
};

}  // namespace orrery::app
