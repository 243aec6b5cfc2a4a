#pragma once

// Direction predictors of branches: perfect, always taken, gshare (McFarling, WRL TN-36, 1993) and a TAGE of four
// tagged tables over a bimodal one (Seznec and Michaud, JILP 8, 2006).

#include "simulation/cpu/core/machine.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::pipeline {

class Predictor {
public:
    Predictor(PredictorKind kind, int bits);
    /// Whether the branch was foretold rightly; learns from it.
    bool foretells(std::uint32_t branch, bool taken);

private:
    static constexpr std::size_t tables = 4;
    struct Entry {
        std::uint16_t tag = 0;
        std::int8_t counter = 0;  ///< −4 … 3, taken from 0 on
        std::uint8_t useful = 0;
    };
    bool tage(std::uint32_t branch, bool taken);
    void push(bool taken);
    std::uint32_t folded(int length, int bits) const;

    PredictorKind kind_;
    int bits_;
    std::uint32_t history_ = 0;            ///< of gshare
    std::array<std::uint64_t, 4> past_{};  ///< outcomes, the newest in bit 0
    std::vector<std::int8_t> base_;        ///< −2 … 1
    std::array<std::vector<Entry>, tables> tagged_;
    std::uint32_t tick_ = 0;
};

}  // namespace orrery::pipeline
