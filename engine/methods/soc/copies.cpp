#include "methods/soc/copies.h"

#include "base/text/read_file.h"
#include "hardware/views/core_view.h"
#include "methods/cpu/core_windows.h"
#include "simulation/cpu/core/view_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using pipeline::AffineAddress;
using pipeline::LoopNest;
using pipeline::NestWriter;
using pipeline::OpKind;

constexpr int unrolled = 4;
constexpr std::uint8_t V = pipeline::FirstVectorRegister;
// A run of more is timed by a piece of it, and so many bytes of short ones by some of them.
constexpr std::int64_t longRun = 1 << 18, someBytes = 1 << 19;
constexpr std::int64_t fewestRuns = 16, mostRuns = 8192;

// All of a core by which the time of a loop may differ; a pipeline file of one's own may change under its name.
std::string keyOf(const CoreView& core) {
    std::string key = fmt::format("{} {} {} {} {}", core.microarchitecture, core.clock.value, core.issueWidth,
                                  core.memoryBandwidth.value, core.memoryLatency.value);
    for (const CoreCache& cache : core.caches)
        key += fmt::format(" {} {} {}", cache.capacity.value, cache.latency.value, cache.ways);
    const std::string& pipeline = core.microarchitecture;
    if (pipeline.find('/') != std::string::npos || pipeline.ends_with(".yaml"))
        if (const auto text = readFile(pipeline)) key += *text;
    return key;
}

// Runs that were timed on a core stay known while the drawing around it changes; of the last cores alone.
std::shared_ptr<TimedRuns> knownOf(const std::string& key) {
    constexpr std::size_t most = 8;
    static std::mutex guard;
    static std::vector<std::pair<std::string, std::shared_ptr<TimedRuns>>> cores;
    const std::scoped_lock lock(guard);
    const auto found = std::ranges::find(cores, key, [](const auto& each) { return each.first; });
    if (found != cores.end()) return found->second;
    if (cores.size() == most) cores.erase(cores.begin());
    return cores.emplace_back(key, std::make_shared<TimedRuns>()).second;
}

void moveBytes(NestWriter& out, std::uint8_t reg, int bytes, const AffineAddress& from, const AffineAddress& to) {
    out.load(reg, bytes, from);
    out.store(reg, bytes, to);
}

}  // namespace

LoopNest copyNest(const pipeline::Machine& machine, std::uint64_t count, std::int64_t bytes, std::int64_t pitch,
                  CopyWay way) {
    NestWriter out;
    const auto all = static_cast<std::int64_t>(count);
    const auto tensor = out.array(static_cast<std::uint64_t>(all * std::max(pitch, bytes)));
    const auto tile = out.array(static_cast<std::uint64_t>(all * bytes));
    const int run = out.open(count);
    for (int i = 0; i < runOverhead; ++i) {
        const auto reg = static_cast<std::uint8_t>(16 + i);
        out.compute(OpKind::Integer, 8, reg, {reg});
    }
    const AffineAddress inTensor = tensor.by(run, pitch), inTile = tile.by(run, bytes);
    const AffineAddress& from = way == CopyWay::IntoTile ? inTensor : inTile;
    const AffineAddress& to = way == CopyWay::IntoTile ? inTile : inTensor;
    const int vector = machine.vectorBytes;
    const std::int64_t turn = std::int64_t{unrolled} * vector, turns = bytes / turn;
    if (turns > 0) {
        const int depth = out.open(static_cast<std::uint64_t>(turns));
        for (int i = 0; i < unrolled; ++i)
            moveBytes(out, static_cast<std::uint8_t>(V + i), vector, from.at(i * vector).by(depth, turn),
                      to.at(i * vector).by(depth, turn));
        out.close();
    }
    std::int64_t done = turns * turn;
    for (int piece = vector; piece > 0; piece /= 2) {
        for (; bytes - done >= piece; done += piece) moveBytes(out, V + 8, piece, from.at(done), to.at(done));
    }
    out.close();
    return out.finish();
}

LoopNest layoutNest(std::int64_t channels, std::int64_t pixels, int elementBytes) {
    NestWriter out;
    const auto bytes = static_cast<std::uint64_t>(channels * pixels * elementBytes);
    const auto from = out.array(bytes), to = out.array(bytes);
    const int pixel = out.open(static_cast<std::uint64_t>(pixels));
    const int channel = out.open(static_cast<std::uint64_t>(channels));
    moveBytes(out, 16, elementBytes, from.by(pixel, elementBytes).by(channel, pixels * elementBytes),
              to.by(pixel, channels * elementBytes).by(channel, elementBytes));
    out.close();
    out.close();
    return out.finish();
}

Expected<std::shared_ptr<const CopyTimes>> CopyTimes::make(const DeviceRef& processor, bool flows) {
    auto core = coreView(processor);
    if (!core) return Unexpected(std::move(core.error()));
    auto machine = pipeline::machineOf(*core);
    if (!machine) return Unexpected(std::move(machine.error()));
    std::shared_ptr<CopyTimes> times(new CopyTimes(std::move(*machine), flows));
    times->cores_ = core->alike;
    times->bandwidth_ = core->memoryBandwidth.value;
    times->known_ = knownOf(keyOf(*core) + (flows ? " flow" : ""));
    times->used_ = core->used;
    return std::shared_ptr<const CopyTimes>(std::move(times));
}

template <class Nest>
double CopyTimes::timed(const std::tuple<std::int64_t, std::int64_t, int>& key, double share, Nest&& nest) const {
    {
        const std::scoped_lock lock(known_->guard);
        if (const auto found = known_->seconds.find(key); found != known_->seconds.end()) return found->second;
    }
    pipeline::WindowOptions options = flows_ ? pipeline::flowWindows() : pipeline::WindowOptions{};
    options.bounds = false;
    const double seconds = share * estimateCore(nest(), machine_, {}, options).cycles / machine_.clock;
    const std::scoped_lock lock(known_->guard);
    return known_->seconds.emplace(key, seconds).first->second;
}

double CopyTimes::runSeconds(std::int64_t bytes, std::int64_t pitch, CopyWay way) const {
    if (bytes < 1) return 0;
    // What lies side by side is one stream, whatever its length; more of it takes as long.
    const std::int64_t piece = std::min(bytes, longRun);
    const std::int64_t runs = std::clamp(someBytes / piece, fewestRuns, mostRuns);
    const std::int64_t apart = pitch <= bytes ? piece : piece + (pitch - bytes);
    const double parts = double(bytes) / double(piece);
    return parts * timed({piece, apart, static_cast<int>(way)}, 1 / double(runs),
                         [&] { return copyNest(machine_, static_cast<std::uint64_t>(runs), piece, apart, way); });
}

double CopyTimes::seconds(const CopyRuns& runs, CopyWay way, std::int64_t threads) const {
    const auto bytes = static_cast<std::int64_t>(std::ceil(runs.bytes));
    const double alone = runs.count * runSeconds(bytes, static_cast<std::int64_t>(runs.pitch), way);
    const double moved = 2 * runs.count * runs.bytes;
    return std::max(alone / double(std::max<std::int64_t>(1, threads)), bandwidth_ > 0 ? moved / bandwidth_ : 0);
}

double CopyTimes::seconds(const std::vector<CopyRuns>& runs, CopyWay way, std::int64_t threads) const {
    double sum = 0;
    for (const CopyRuns& each : runs) sum += seconds(each, way, threads);
    return sum;
}

double CopyTimes::layoutSeconds(double channels, double pixels, double elementBytes, std::int64_t threads) const {
    if (channels < 1 || pixels < 1) return 0;
    const auto bytes = std::max(1, static_cast<int>(std::ceil(elementBytes)));
    const auto c = static_cast<std::int64_t>(channels), all = static_cast<std::int64_t>(pixels);
    const double each = timed({c * bytes, all, -bytes}, 1 / double(all), [&] { return layoutNest(c, all, bytes); });
    const double moved = 2 * channels * pixels * elementBytes;
    return std::max(each * pixels / double(std::max<std::int64_t>(1, threads)),
                    bandwidth_ > 0 ? moved / bandwidth_ : 0);
}

}  // namespace orrery
