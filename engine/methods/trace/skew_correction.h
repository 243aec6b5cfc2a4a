#pragma once

// How much of the way from attention at the mean length to attention at the longest length a batch of uneven decoding
// sequences takes: measured per bucket (LLMServingSim 2, profiler's skew sweep).

#include "base/diagnostic.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace orrery {

class SkewCorrection {
public:
    /// Mostly 0 … 1. Lengths are of the decoding sequences; `cached` is what prompts of the iteration have in the
    /// cache. The default of the profile where the bucket was not measured. Allocates nothing.
    double alpha(std::int64_t chunk, std::int64_t decodes, std::int64_t shortest, std::int64_t mean,
                 std::int64_t longest, std::int64_t cached) const;
    bool known() const { return fallback_ != 0 || !buckets_.empty(); }

private:
    friend Expected<SkewCorrection> readSkewCorrection(const std::filesystem::path& folder, int tensorParallel);
    struct Axis {
        std::vector<double> bins;  ///< bucket i is (bins[i], bins[i + 1]], the last one open
        std::vector<std::string> labels;
        std::uint64_t bucket(double value) const;
    };
    static std::uint64_t key(std::uint64_t chunk, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
        return ((((chunk << 8 | a) << 8 | b) << 8 | c) << 8) | d;
    }
    Axis decodes_, skew_, longest_, cached_;
    std::unordered_map<std::uint64_t, double> buckets_;
    double fallback_ = 0;
};

/// From meta.yaml beside or above `folder` and skew_fit.csv in it; without either nothing is corrected.
Expected<SkewCorrection> readSkewCorrection(const std::filesystem::path& folder, int tensorParallel);

}  // namespace orrery
