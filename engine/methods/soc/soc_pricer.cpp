#include "methods/soc/soc_pricer.h"

#include "workload/kernel_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery {

namespace {

// More invocations are scheduled several as one.
constexpr double mostJobs = 1 << 16;
// Runs of jobs that the rows of all accelerators show together.
constexpr std::int64_t mostPieces = 1024, usualPieces = 16;

std::int64_t lengthOf(std::int64_t extent, std::int64_t tile, std::int64_t index) {
    return std::min(tile, extent - index * tile);
}

Kernel tileKernel(const Kernel& whole, const TileProblem& p, const ImageTile& tile) {
    Kernel kernel = whole;
    kernel.epilogue = {};
    kernel.bias = false;
    if (kernel.kind == KernelKind::Gemm) {
        kernel.batch = 1;
        kernel.m = tile.rows, kernel.n = tile.outputs, kernel.k = tile.inputs;
    } else {
        ConvolutionShape& c = kernel.convolution;
        c.batch = 1;
        c.inChannels = tile.inputs, c.outChannels = tile.outputs;
        c.outHeight = tile.rows, c.outWidth = tile.columns;
        c.height = (tile.rows - 1) * p.stride + (p.windowRows - 1) * p.dilation + 1;
        c.width = (tile.columns - 1) * p.stride + (p.windowColumns - 1) * p.dilation + 1;
    }
    countWork(kernel);
    return kernel;
}

// Prices of tiles by their extents: those in the middle and those at either far end.
class TilePrices {
public:
    TilePrices(const Kernel& kernel, const Tiling& tiling, const KernelPricer& accelerator, PriceContext& context)
        : kernel_(kernel), tiling_(tiling), accelerator_(accelerator), context_{context.executor, context.stop} {}

    Expected<const KernelPrice*> at(std::int64_t h, std::int64_t w, std::int64_t c, std::int64_t k) {
        const Tiling& t = tiling_;
        const auto slot = static_cast<std::size_t>((h + 1 == t.rowTiles) + 2 * (w + 1 == t.columnTiles) +
                                                   4 * (c + 1 == t.inputTiles) + 8 * (k + 1 == t.outputTiles));
        if (!known_[slot]) {
            const ImageTile tile{
                lengthOf(t.problem.rows, t.tile.rows, h), lengthOf(t.problem.columns, t.tile.columns, w),
                lengthOf(t.problem.inputs, t.tile.inputs, c), lengthOf(t.problem.outputs, t.tile.outputs, k)};
            auto price = accelerator_.price(tileKernel(kernel_, t.problem, tile), context_);
            if (!price) return Unexpected(std::move(price.error()));
            known_[slot] = *price;
        }
        return &*known_[slot];
    }

private:
    const Kernel& kernel_;
    const Tiling& tiling_;
    const KernelPricer& accelerator_;
    PriceContext context_;
    std::array<std::optional<KernelPrice>, 16> known_;
};

void addJob(TileJob& to, const TileJob& job) {
    to.prepare += job.prepare, to.in += job.in, to.compute += job.compute, to.out += job.out, to.gather += job.gather;
}

}  // namespace

SocPricer::SocPricer(SocView view, KernelPricerPtr host, KernelPricerPtr accelerator,
                     std::shared_ptr<const CopyTimes> copies, SocSettings settings, std::string acceleratorMethod)
    : view_(std::move(view)),
      host_(std::move(host)),
      accelerator_(std::move(accelerator)),
      copies_(std::move(copies)),
      settings_(settings),
      acceleratorMethod_(std::move(acceleratorMethod)),
      firstNote_(static_cast<std::int8_t>(host_->notes().size())) {}

// Of bytes that the processor wrote just before, the part that its last cache still holds: all of a kernel's tiles pass
// through it.
double SocPricer::cachedShare(const Tiling& tiling) const {
    const double written =
        tiling.input.bytes + tiling.output.bytes + (settings_.weightsAhead ? 0 : tiling.weights.bytes);
    return settings_.coherent && written > 0 ? std::min(1.0, view_.cache.value / written) : 0;
}

double SocPricer::carrySeconds(double bytes, double transfers, double cached) const {
    const SocWay& way = settings_.coherent ? *view_.coherent : *view_.direct;
    const double past = std::min(way.rate.value, view_.memoryBandwidth.value);
    const double cache =
        view_.cacheBandwidth.value > 0 ? std::min(way.rate.value, view_.cacheBandwidth.value) : way.rate.value;
    return bytes * (cached / cache + (1 - cached) / past) + transfers * way.latency.value;
}

// Of the time of a transfer, the part in which it holds what both directions of the way share: memory and cache. A
// link's bandwidth is that of one direction; a bus is the memory's own.
double SocPricer::sharedPart(double cached) const {
    const double cache = view_.cacheBandwidth.value > 0 ? cached / view_.cacheBandwidth.value : 0;
    const double behind = cache + (1 - cached) / view_.memoryBandwidth.value;
    return std::min(1.0, behind / carrySeconds(1, 0, cached));
}

// Seconds of one tile of each operand.
struct SocPricer::TileCosts {
    double prepareInput = 0, prepareWeights = 0, gather = 0;
    double carryInput = 0, carryWeights = 0, carryOutput = 0;
};

SocPricer::TileCosts SocPricer::costsOf(SocKernel& away) const {
    const Tiling& t = away.tiling;
    const bool weights = !settings_.weightsAhead;
    const double copyIn = copies_->seconds(t.input.runs, CopyWay::IntoTile, settings_.threads);
    const double copyWeights = weights ? copies_->seconds(t.weights.runs, CopyWay::IntoTile, settings_.threads) : 0;
    const double copyOut = copies_->seconds(t.output.runs, CopyWay::IntoTensor, settings_.threads);
    // Lines are written back before a transfer reads them past the caches, and thrown away before its results are read.
    const double clocks = copies_->machine().clock * static_cast<double>(settings_.threads);
    const double cycle = settings_.coherent ? 0 : 1 / (clocks * view_.line.value);  // of every line, per byte
    const double flushIn = flushCycles * cycle * t.input.bytes;
    const double flushWeights = weights ? flushCycles * cycle * t.weights.bytes : 0;
    const double dropOut = invalidateCycles * cycle * t.output.bytes;
    away.copying = copyIn + copyWeights + copyOut;
    away.coherence = flushIn + flushWeights + dropOut;
    const double cached = cachedShare(t);
    return {.prepareInput = (copyIn + flushIn) / t.input.tiles,
            .prepareWeights = (copyWeights + flushWeights) / t.weights.tiles,
            .gather = (copyOut + dropOut) / t.output.tiles,
            .carryInput = carrySeconds(t.input.bytes / t.input.tiles, 1, cached),
            .carryWeights = carrySeconds(t.weights.bytes / t.weights.tiles, 1, weights ? cached : 0),
            .carryOutput = carrySeconds(t.output.bytes / t.output.tiles, 1, cached)};
}

// In SMAUG's order: images, places, channels out, channels in. Tiles of results go to the accelerators in turns, and
// all that add to one tile of results stay on one accelerator, which reads no tile again that it has just read.
Expected<bool> SocPricer::addJobs(const Kernel& kernel, const TileCosts& costs, SocKernel& away,
                                  std::vector<TileJob>& jobs, PriceContext& context) const {
    const Tiling& t = away.tiling;
    const TileProblem& p = t.problem;
    Kernel computed = kernel;  // in a type that the accelerator has
    if (settings_.own && !settings_.multiplies[static_cast<std::size_t>(kernel.type)])
        computed.type = computed.weightType = *settings_.own;
    TilePrices prices(computed, t, *accelerator_, context);
    struct Lane {
        std::int64_t input = -1, weights = -1;  // tiles in its scratchpads
        std::size_t job = 0;
        std::int64_t joined = 0;  // invocations in it
    };
    const std::int64_t lanes = lanesOf(t);
    std::vector<Lane> at(static_cast<std::size_t>(lanes));
    const auto together = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(t.invocations / mostJobs)));
    jobs.reserve(static_cast<std::size_t>(std::min(t.invocations, mostJobs) + 2 * double(lanes)));
    const std::int64_t places = t.rowTiles * t.columnTiles, groups = p.products * p.images * places * t.outputTiles;
    for (std::int64_t group = 0; group < groups; ++group) {
        if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
        const std::int64_t k = group % t.outputTiles, place = group / t.outputTiles % places;
        const std::int64_t image = group / (t.outputTiles * places), product = image / p.images;
        Lane& lane = at[static_cast<std::size_t>(group % lanes)];
        for (std::int64_t c = 0; c < t.inputTiles; ++c) {
            if (c % 4096 == 4095 && context.stop.stop_requested())
                return fail("study.cancelled", "the estimate was cancelled");
            const auto price = prices.at(place / t.columnTiles, place % t.columnTiles, c, k);
            if (!price) return Unexpected(price.error());
            if (!(*price)->priced || !std::isfinite((*price)->seconds)) return false;
            TileJob job;
            job.accelerator = static_cast<std::int32_t>(group % lanes);
            job.compute = (*price)->seconds;
            away.computing += job.compute;
            away.low += (*price)->low, away.high += (*price)->high;
            const std::int64_t input = (image * places + place) * t.inputTiles + c;
            const std::int64_t weights = (product * t.outputTiles + k) * t.inputTiles + c;
            if (k == 0) job.prepare += costs.prepareInput;
            if (image % p.images == 0 && place == 0) job.prepare += costs.prepareWeights;
            if (std::exchange(lane.input, input) != input) job.in += costs.carryInput;
            if (std::exchange(lane.weights, weights) != weights) job.in += costs.carryWeights;
            if (c + 1 == t.inputTiles) job.out = costs.carryOutput, job.gather = costs.gather;
            away.carrying += job.in + job.out;
            if (lane.joined > 0 && lane.joined < together) {
                addJob(jobs[lane.job], job);
                ++lane.joined;
            } else {
                lane.job = jobs.size(), lane.joined = 1;
                jobs.push_back(job);
            }
        }
    }
    return true;
}

Expected<std::optional<SocKernel>> SocPricer::inTiles(const Kernel& kernel, const TileProblem& problem,
                                                      TileBuffers buffers, PriceContext& context) const {
    auto tiling = chooseTiling(problem, view_.buffers, buffers == TileBuffers::Two ? 2 : 1, view_.inputLanes,
                               view_.outputLanes, view_.line.value, context.stop);
    if (context.stop.stop_requested()) return fail("study.cancelled", "the estimate was cancelled");
    if (!tiling) return std::optional<SocKernel>{};
    SocKernel away;
    away.buffers = buffers;
    away.tiling = std::move(*tiling);
    std::vector<TileJob> jobs;
    const TileCosts costs = costsOf(away);
    const auto priced = addJobs(kernel, costs, away, jobs, context);
    if (!priced) return Unexpected(priced.error());
    if (!*priced) return std::optional<SocKernel>{};
    const std::int64_t lanes = lanesOf(away.tiling);
    away.bill = scheduleTiles(jobs, static_cast<std::int32_t>(lanes), buffers, &away.spans,
                              static_cast<std::size_t>(std::clamp<std::int64_t>(mostPieces / lanes, 1, usualPieces)),
                              sharedPart(cachedShare(away.tiling)));
    if (auto finished = finish(kernel, away, context); !finished) return Unexpected(std::move(finished.error()));
    away.price = priceOf(away, kernel);
    return std::optional<SocKernel>(std::move(away));
}

double SocPricer::operandSeconds(const Kernel& kernel) const {
    return view_.memoryBandwidth.value > 0 ? kernel.epilogue.bytes / view_.memoryBandwidth.value : 0;
}

double SocPricer::vectorRate(DType type) const {
    const auto of = [&](DType each) { return settings_.vectorRates[static_cast<std::size_t>(each)]; };
    if (of(type) > 0) return of(type);
    return settings_.own && of(*settings_.own) > 0 ? of(*settings_.own) : of(DType::F32);
}

// Bias and the operators fused behind the product: on the vector units behind the arrays, all results of a kernel after
// its products. Where none is drawn the processor passes over the results once more.
Expected<void> SocPricer::finish(const Kernel& kernel, SocKernel& away, PriceContext& context) const {
    const TileProblem& p = away.tiling.problem;
    const double rows = double(p.products) * double(p.images) * double(p.rows) * double(p.columns);
    const double operations = kernel.epilogue.operations + (kernel.bias ? rows * double(p.outputs) : 0);
    if (const double rate = vectorRate(kernel.type); rate > 0 || operations <= 0) {
        if (operations > 0) away.finishing = operations / (rate * double(lanesOf(away.tiling)));
        away.operands = operandSeconds(kernel);
    } else {
        Kernel pass;
        pass.kind = KernelKind::Elementwise;
        pass.function = "Add";
        pass.type = pass.weightType = wideType(kernel.type);
        pass.m = static_cast<std::int64_t>(rows), pass.n = p.outputs;
        countWork(pass);
        pass.flops = operations;
        pass.readBytes += kernel.epilogue.bytes;
        auto price = host_->price(pass, context);
        if (!price) return Unexpected(std::move(price.error()));
        away.finishingHost = price->seconds;
    }
    const double end = away.bill.seconds;
    if (away.operands > 0) away.spans.push_back({transferRow(0), end, end + away.operands});
    if (away.finishing > 0)
        away.spans.push_back({computeRow(0), end + away.operands, end + away.operands + away.finishing});
    if (away.finishingHost > 0) away.spans.push_back({0, end, end + away.finishingHost});
    away.bill.compute += away.finishing;
    away.bill.transfer += away.operands;
    away.bill.seconds += away.finishing + away.operands;
    return {};
}

std::int64_t SocPricer::lanesOf(const Tiling& tiling) const {
    const double results = tiling.output.tiles;
    return results < double(view_.accelerators) ? std::max<std::int64_t>(1, static_cast<std::int64_t>(results))
                                                : view_.accelerators;
}

KernelPrice SocPricer::priceOf(const SocKernel& away, const Kernel& kernel) const {
    const TileBill& bill = away.bill;
    const Tiling& t = away.tiling;
    KernelPrice price;
    price.seconds = away.seconds();
    const double scale = away.computing > 0 ? (bill.compute - away.finishing) / away.computing : 0;
    price.low = price.seconds - scale * std::max(0.0, away.computing - away.low);
    price.high = price.seconds + scale * std::max(0.0, away.high - away.computing);
    price.errorKnown = false;  // nobody has measured what stands around the accelerator
    price.bound =
        bill.compute >= bill.transfer + bill.preparation ? Bound{BoundKind::Compute, -1} : Bound{BoundKind::Memory, 0};
    const double sent = t.input.sent + t.weights.sent + t.output.sent;
    double copied = 0;
    for (const auto* operand : {&t.input, &t.output})
        for (const CopyRuns& runs : operand->runs) copied += runs.count * runs.bytes;
    if (!settings_.weightsAhead)
        for (const CopyRuns& runs : t.weights.runs) copied += runs.count * runs.bytes;
    price.levelBytes[0] = static_cast<float>(sent + 2 * copied + kernel.epilogue.bytes);
    price.busy = static_cast<float>(price.seconds > 0 ? (bill.compute - away.finishing) / price.seconds : 0);
    price.note = static_cast<std::int8_t>(firstNote_ + static_cast<std::int8_t>(Stays::Away));
    price.stands = true;  // of other units than those whose peaks bound the processor's kernels
    if (view_.macEnergy.value > 0 && view_.memoryEnergy.value > 0) {
        const SocWay& way = settings_.coherent ? *view_.coherent : *view_.direct;
        double buffer = 0;
        for (const SocBuffer& each : view_.buffers) buffer = std::max(buffer, each.energy.value);
        price.joules = kernel.flops / 2 * view_.macEnergy.value +
                       sent * (view_.memoryEnergy.value + way.energy.value + buffer) +
                       (2 * copied + kernel.epilogue.bytes) * view_.memoryEnergy.value;
    }
    return price;
}

Expected<SocPricer::KnownPtr> SocPricer::priceNew(const Kernel& kernel, PriceContext& context) const {
    auto made = std::make_shared<Known>();
    Known& known = *made;
    PriceContext inside{context.executor, context.stop};
    auto host = host_->price(kernel, inside);
    if (!host) return Unexpected(std::move(host.error()));
    known.host = *host;
    if (!host_->takesEpilogue()) {
        const double operands = operandSeconds(kernel);
        for (double* each : {&known.host.seconds, &known.host.low, &known.host.high}) *each += operands;
        if (known.host.levelBytes[0] >= 0) known.host.levelBytes[0] += static_cast<float>(kernel.epilogue.bytes);
    }
    if (known.host.joules < 0 && view_.operationEnergy.value > 0 && view_.memoryEnergy.value > 0)
        known.host.joules = kernel.flops * view_.operationEnergy.value +
                            (kernel.bytes() + kernel.epilogue.bytes) * view_.memoryEnergy.value;
    const auto problem = tileProblem(kernel);
    if (!problem) return made;
    auto one = inTiles(kernel, *problem, TileBuffers::One, inside);
    if (!one) return Unexpected(std::move(one.error()));
    known.stays = Stays::NoTile;
    if (settings_.buffers == TileBuffers::Two) {
        // Two buffers hold smaller tiles: where that costs more than it hides, one is used.
        auto two = inTiles(kernel, *problem, TileBuffers::Two, inside);
        if (!two) return Unexpected(std::move(two.error()));
        if (*two && (!*one || (*two)->seconds() < (*one)->seconds())) one = std::move(two);
    }
    if (!*one) return made;
    known.stays = settings_.cheaper && (*one)->seconds() >= known.host.seconds ? Stays::Cheaper : Stays::Away;
    known.away = std::move(*one);
    return made;
}

Expected<SocPricer::KnownPtr> SocPricer::priceOnce(const Kernel& kernel, PriceContext& context) const {
    const std::tuple identity{kernelIdentity(kernel), kernel.bias, kernel.epilogue.operations, kernel.epilogue.bytes};
    {
        const std::scoped_lock lock(guard_);
        if (const auto found = known_.find(identity); found != known_.end()) return found->second;
    }
    auto known = priceNew(kernel, context);
    if (!known) return known;
    const std::scoped_lock lock(guard_);
    return known_.emplace(identity, std::move(*known)).first->second;
}

Expected<KernelPrice> SocPricer::price(const Kernel& kernel, PriceContext& context) const {
    auto known = priceOnce(kernel, context);
    if (!known) return Unexpected(std::move(known.error()));
    if ((*known)->stays == Stays::Away) {
        if (context.spans)
            context.spans->insert(context.spans->end(), (*known)->away->spans.begin(), (*known)->away->spans.end());
        return (*known)->away->price;
    }
    KernelPrice price = (*known)->host;
    if (context.spans && price.seconds > 0) context.spans->push_back({0, 0, price.seconds});
    if ((*known)->stays != Stays::OtherKind && price.note < 0)
        price.note = static_cast<std::int8_t>(firstNote_ + static_cast<std::int8_t>((*known)->stays));
    return price;
}

Expected<std::optional<SocKernel>> SocPricer::away(const Kernel& kernel, PriceContext& context) const {
    auto known = priceOnce(kernel, context);
    if (!known) return Unexpected(std::move(known.error()));
    if ((*known)->stays != Stays::Away) return std::optional<SocKernel>{};
    return (*known)->away;
}

PriceParts SocPricer::parts(const Kernel& kernel) const {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial};
    const auto known = priceOnce(kernel, context);
    PriceParts parts;
    if (!known) return parts;
    if ((*known)->stays == Stays::Away) {
        const TileBill& bill = (*known)->away->bill;
        parts.compute = bill.compute, parts.transfer = bill.transfer, parts.preparation = bill.preparation;
        parts.host = (*known)->away->finishingHost;
    } else {
        parts.host = (*known)->host.seconds;
    }
    return parts;
}

double SocPricer::leastAway(const Kernel& kernel) const {
    const auto p = tileProblem(kernel);
    if (!p) return std::numeric_limits<double>::infinity();
    const double macs = double(p->products) * double(p->images) * double(p->rows) * double(p->columns) *
                        double(p->inputs) * double(p->outputs) * double(p->windowRows) * double(p->windowColumns);
    return macs /
           (double(view_.inputLanes) * double(view_.outputLanes) * double(view_.accelerators) * view_.clock.value);
}

double SocPricer::layoutSeconds(const Tensor& tensor, bool outside) const {
    if (tensor.shape.size() != 4 || (!settings_.hostLayout && !outside)) return 0;
    std::array<double, 4> extents{};
    for (std::size_t d = 0; d < 4; ++d) {
        if (!tensor.shape[d].known()) return 0;
        extents[d] = static_cast<double>(tensor.shape[d].value);
    }
    const double pixels = extents[2] * extents[3];
    if (extents[1] <= 1 || pixels <= 1) return 0;
    return extents[0] * copies_->layoutSeconds(extents[1], pixels, bytesOf(tensor.type, 1).value, settings_.threads);
}

PartsRead SocPricer::used() const {
    PartsRead read = view_.used;
    read.add((settings_.coherent ? *view_.coherent : *view_.direct).used);
    read.add(host_->used());
    read.add(accelerator_->used());
    read.add(copies_->used());
    return read;
}

}  // namespace orrery
