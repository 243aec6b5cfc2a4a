#pragma once

// What measured blocks of one core say beyond its bounds: cycles = bounds × exp(trees), with an interval from blocks
// that were left out. It fades out away from the blocks that it was fitted to, and leaves alone what it does not help.
// A file: JSON, format "orrery-block-correction" (resources/schema/block-correction.schema.json).

#include "learning/blocks/block_features.h"
#include "learning/domain.h"
#include "learning/regressor.h"

#include <array>
#include <string>
#include <vector>

namespace orrery::block {

/// Bounds below count as so many: a block of nothing but what renaming does away with.
inline constexpr double leastCycles = 0.01;

/// Of blocks that took no part in the fit.
struct CorrectionEvidence {
    std::size_t fitted = 0, judged = 0;      ///< blocks
    double errorBefore = 0, errorAfter = 0;  ///< mean |predicted − measured| ÷ measured
    double coverage = 0;                     ///< share of the judged inside [low, high]
    double widthBefore = 0, widthAfter = 0;  ///< mean high ÷ low
};

struct BlockCorrection {
    /// What is learned of the blocks that one bound binds.
    struct Class {
        bool helps = false;           ///< on blocks left out; else the bounds stand
        double below = 0, above = 0;  ///< 5 % and 95 % of ln(measured ÷ corrected) ÷ scale
    };
    std::string core, coreHash;  ///< id, and coreHash() of what it was fitted over
    std::string source, date;    ///< of the measured blocks, as who fitted it says
    MnemonicColumns mnemonics;
    RegressorPtr ratio;  ///< ln(measured ÷ bounds)
    RegressorPtr scale;  ///< ln of how far off it is
    Domain domain;       ///< over the plain features
    std::array<Class, boundCount> classes{};
    /// Of ln: what is learned less than that is left out, so that blocks which the bounds call equal stay equal.
    double quiet = 0;
    double learned(std::span<const double> features) const;  ///< ln(measured ÷ bounds), within ± ln 100
    CorrectionEvidence evidence;

    /// How much of it counts for a block.
    struct Verdict {
        double weight = 0;  ///< 1 inside what was fitted and where it helps, 0 where the bounds stand
        DomainVerdict domain = DomainVerdict::Outside;
        double bounds = 0;  ///< cycles without it
    };
    /// Replaces cycles, low and high of the block that the analyser has predicted last. Where the weight is less than
    /// 1, the interval reaches over that of the bounds and that of the whole correction. `features`: room that is kept
    /// from block to block.
    Verdict apply(const Analyser& analyser, const Code& code, Prediction& prediction,
                  std::vector<double>& features) const;
    std::size_t inputs() const { return plainFeatureNames().size() + mnemonics.names().size(); }
};

/// Of all that the bounds of a core are taken from: its rules and its port table.
std::string coreHash(const Core& core);
/// Fails with `block.correction-core` where it was fitted over another core, table or rules.
Expected<void> checkFits(const BlockCorrection& correction, const Core& core, const std::string& file);

std::string writeBlockCorrection(const BlockCorrection& correction);
/// Strict. Codes `block-correction.…`, with file and line.
Expected<BlockCorrection> parseBlockCorrection(std::string_view text, std::string_view file);
Expected<BlockCorrection> readBlockCorrection(const std::string& path);

}  // namespace orrery::block
