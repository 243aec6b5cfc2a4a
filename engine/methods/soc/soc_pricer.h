#pragma once

// Prices of soc-offload: one kernel in tiles through processor, way and accelerators, or on the processor.

#include "hardware/views/soc_view.h"
#include "methods/model/placed.h"
#include "methods/soc/copies.h"
#include "methods/soc/tile_schedule.h"
#include "methods/soc/tiles.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace orrery {

struct SocSettings {
    bool cheaper = false;   ///< only kernels that take less than on the processor go to the accelerators
    bool coherent = false;  ///< through the processor's last cache, without flushes
    TileBuffers buffers = TileBuffers::One;
    std::int64_t threads = 1;                   ///< that prepare
    bool weightsAhead = false;                  ///< tiles of weights are made once, before any pass
    bool hostLayout = false;                    ///< the processor's own operators keep channels outermost
    std::array<bool, dtypeCount> multiplies{};  ///< types that the accelerator multiplies
    std::optional<DType> own;                   ///< what it computes other types as; none: as they are
    /// Operations per second of the vector units of one accelerator; 0: none is drawn for the type.
    std::array<double, dtypeCount> vectorRates{};
};
/// More are refused with `soc.accelerators`: each has a lane of the schedule and rows of the timeline.
inline constexpr std::int64_t mostAccelerators = 1024;

/// Cycles of the processor's clock to write one line of its caches back, and to throw one away: measured on the two
/// Cortex-A9 of a Zynq at 667 MHz (84 and 71 ns; Shao et al.: Co-Designing Accelerators and SoC Interfaces using
/// gem5-Aladdin, MICRO 2016; 56 and 47 cycles in its sources).
inline constexpr double flushCycles = 56, invalidateCycles = 47;

/// A kernel away, and how its price came about.
struct SocKernel {
    Tiling tiling;
    TileBuffers buffers = TileBuffers::One;
    TileBill bill;
    double computing = 0;               ///< of all invocations, one after another
    double carrying = 0;                ///< of the way
    double copying = 0, coherence = 0;  ///< of the processor: copies, and flushes with invalidations
    double finishing = 0;               ///< of fused operators and bias on vector units, in the bill's computing
    double operands = 0;                ///< of what they read on top, in the bill's transfers
    double finishingHost = 0;           ///< of the processor, where no vector unit is drawn; behind the bill
    double low = 0, high = 0;           ///< sides of `computing`
    std::vector<KernelSpan> spans;
    KernelPrice price;

    double seconds() const { return bill.seconds + finishingHost; }
};

class SocPricer final : public PlacedPricer {
public:
    /// `accelerator` prices tiles on a device whose main memory takes no time.
    SocPricer(SocView view, KernelPricerPtr host, KernelPricerPtr accelerator, std::shared_ptr<const CopyTimes> copies,
              SocSettings settings, std::string acceleratorMethod);

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override;
    KernelStory explain(const Kernel& kernel) const override;
    PriceParts parts(const Kernel& kernel) const override;
    double leastAway(const Kernel& kernel) const override;
    double layoutSeconds(const Tensor& tensor, bool outside) const override;
    std::int32_t layoutRow() const override { return preparationRow; }
    std::array<std::string, 4> partNames() const override;
    std::vector<std::string> rows() const override;
    std::vector<KernelNote> notes() const override;
    std::vector<std::string> assumptions() const override;
    std::vector<std::string> levels() const override { return host_->levels(); }
    std::string basis() const override { return host_->basis(); }
    double correlation(KernelKind kind) const override { return host_->correlation(kind); }
    PartsRead used() const override;
    bool launchInside() const override { return host_->launchInside(); }
    bool takesEpilogue() const override { return true; }
    bool takesAnyType() const override { return host_->takesAnyType(); }

    /// Nothing where it stays on the processor: another kind of kernel, no tile fits, or it takes less there. Fails
    /// with `study.cancelled`.
    Expected<std::optional<SocKernel>> away(const Kernel& kernel, PriceContext& context) const;
    const SocView& view() const { return view_; }

private:
    enum class Stays : std::uint8_t { Away, OtherKind, NoTile, Cheaper };
    struct Known {
        Stays stays = Stays::OtherKind;
        std::optional<SocKernel> away;
        KernelPrice host;
    };
    using KnownPtr = std::shared_ptr<const Known>;
    /// Equal kernels are answered once, whoever asks.
    Expected<KnownPtr> priceOnce(const Kernel& kernel, PriceContext& context) const;
    Expected<KnownPtr> priceNew(const Kernel& kernel, PriceContext& context) const;
    struct TileCosts;
    TileCosts costsOf(SocKernel& away) const;
    /// False where the accelerator's method does not price a tile.
    Expected<bool> addJobs(const Kernel& kernel, const TileCosts& costs, SocKernel& away, std::vector<TileJob>& jobs,
                           PriceContext& context) const;
    Expected<std::optional<SocKernel>> inTiles(const Kernel& kernel, const TileProblem& problem, TileBuffers buffers,
                                               PriceContext& context) const;
    double carrySeconds(double bytes, double transfers, double cached) const;
    double sharedPart(double cached) const;
    Expected<void> finish(const Kernel& kernel, SocKernel& away, PriceContext& context) const;
    double operandSeconds(const Kernel& kernel) const;
    double vectorRate(DType type) const;
    double cachedShare(const Tiling& tiling) const;
    std::int64_t lanesOf(const Tiling& tiling) const;  ///< accelerators that get a tile of results
    KernelPrice priceOf(const SocKernel& away, const Kernel& kernel) const;

    SocView view_;
    KernelPricerPtr host_, accelerator_;
    std::shared_ptr<const CopyTimes> copies_;
    SocSettings settings_;
    std::string acceleratorMethod_;
    std::int8_t firstNote_ = 0;
    mutable std::mutex guard_;
    /// By identity, bias, and operations and bytes of the epilogue.
    mutable std::map<std::tuple<std::uint64_t, bool, double, double>, KnownPtr> known_;
};

}  // namespace orrery
