#pragma once

// A basic block and what the block model says of it, as numbers that a correction of that model learns from.

#include "simulation/cpu/block/block.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::block {

/// Of the features, and of the bounds that they are taken from: a file of another version is not read.
inline constexpr int blockFeatureVersion = 1;

/// Features that any block has, in their order: shares of bounds and ports in the cycles predicted, counts by class.
std::span<const std::string_view> plainFeatureNames();

/// Which column counts which mnemonic; `LOCK` and `REP` forms are mnemonics of their own.
class MnemonicColumns {
public:
    MnemonicColumns() = default;
    /// Names as toText(FormKey) begins: `ADD`, `ADD_LOCK`. Of two equal names the first counts.
    explicit MnemonicColumns(std::vector<std::string> names);
    const std::vector<std::string>& names() const { return names_; }
    int columnOf(const FormKey& key) const;  ///< −1: none

private:
    std::vector<std::string> names_;
    std::vector<std::int16_t> column_;  ///< [mnemonic × 4 + prefix]
};
/// As MnemonicColumns names it.
std::string mnemonicOf(const FormKey& key);

/// plainFeatureNames(), then a count of each mnemonic; as many numbers as both. Of the block that the analyser has
/// predicted last. Allocates nothing.
void blockFeatures(const Analyser& analyser, const Code& code, const Prediction& prediction,
                   const MnemonicColumns& mnemonics, std::span<double> into);

}  // namespace orrery::block
