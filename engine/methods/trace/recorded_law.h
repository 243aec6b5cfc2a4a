#pragma once

// What a recording says of a kernel: its time where one of that kind and size was recorded, else a linear law over the
// recorded ones of its kind, as TrioSim extrapolates (Li et al., "TrioSim", ISCA 2025): seconds = a + b FLOPs + c
// bytes, each at least 0, least squares of relative errors. The law scales the recorded kernel that is nearest in form
// (channels, sides, width), FLOPs and bytes, which for another batch is that of the same layer; what no kernel does
// (idle) stays. Each size is predicted once from all others; the residuals are the sides of what is extrapolated, and
// count twice where it is outside the recorded range. Those of what was recorded are the scatter of equal kernels
// within the recording.

#include "learning/domain.h"
#include "methods/trace/recorded_kernels.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace orrery {

/// Of one kind of kernel in one use: forward convolutions of 4-byte numbers.
struct RecordedFamily {
    struct Size {
        std::uint64_t size = 0;
        double flops = 0, bytes = 0;   ///< FLOPs of products, convolutions and attention; 0 of others
        std::array<float, 6> form{};   ///< logarithms of the extents that no batch changes
        double seconds = 0, idle = 0;  ///< means; idle: of them, as in RecordedLaunch
        double busy() const { return seconds - idle; }
        int rows = 0;
    };
    KernelKind kind = KernelKind::Other;
    KernelUse use = KernelUse::Forward;
    std::string_view function;
    std::vector<Size> sizes;
    std::array<double, 3> law{};  ///< s, s/FLOP, s/B
    bool known = false;           ///< its error: enough sizes to leave one out
    double low = 1, high = 1;     ///< measured ÷ predicted of sizes left out: 5 and 95 %
    double error = 0;             ///< mean |ln| of these
    double weighted = 0;          ///< Σ|predicted − measured| ÷ Σ measured, rows counted
};

class RecordedLaw {
public:
    static RecordedLaw of(const RecordedLaunches& recording);

    struct Found {
        double seconds = 0, low = 0, high = 0;
        DomainVerdict domain = DomainVerdict::Inside;
        bool recorded = false;  ///< this very size
        const RecordedFamily* family = nullptr;
    };
    /// family null where no kernel of its kind was recorded. Allocates nothing.
    Found find(const Kernel& kernel, KernelUse use) const;
    struct Unasked {
        const RecordedFamily* family = nullptr;
        double seconds = 0;
    };
    /// Families that none of the kernels belongs to, and their recorded time.
    std::vector<Unasked> unasked(std::span<const std::pair<const Kernel*, KernelUse>> kernels) const;
    const std::vector<RecordedFamily>& families() const { return families_; }
    double scatter() const { return scatter_; }  ///< mean |ln(time ÷ mean)| of equal kernels

private:
    std::vector<RecordedFamily> families_;
    std::unordered_map<std::uint64_t, std::int32_t> at_;                              ///< family by its identity
    std::unordered_map<std::uint64_t, std::pair<std::int32_t, std::int32_t>> sizes_;  ///< family and size
    double low_ = 1, high_ = 1, scatter_ = 0;
};

/// The kind of kernel in its use; and that with its size. Those of an optimizer have one kind.
std::uint64_t familyIdentity(const Kernel& kernel, KernelUse use);
std::uint64_t sizeIdentity(const Kernel& kernel, KernelUse use);

}  // namespace orrery
