#include "base/maths.h"
#include "simulation/npu/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

constexpr std::int64_t mostTiles = 4'000'000;

class Lowering {
public:
    Lowering(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine, NpuProgram& program)
        : m_(mapping), layer_(layer), machine_(machine), program_(program) {}

    Expected<void> run(std::int64_t begin, std::int64_t end) {
        if (auto ok = fits(); !ok) return ok;
        std::int64_t number = 0;
        eachResult([&](const TileLoops& at) {
            if (number >= begin && number < end) result(number % machine_.cores, at);
            return ++number < end;
        });
        return {};
    }

    std::vector<double> work() const {
        std::vector<double> all;
        eachResult([&](const TileLoops& at) {
            all.push_back(workOf(at));
            return true;
        });
        return all;
    }

private:
    Expected<void> fits() const {
        const auto& o = m_.outer;
        const double tiles = static_cast<double>(o.n) * static_cast<double>(o.p) * static_cast<double>(o.q) *
                             static_cast<double>(o.m) * static_cast<double>(o.c) * static_cast<double>(o.r * o.s);
        if (tiles > mostTiles) {
            return fail("mapping.capacity", fmt::format("the mapping has {:.3g} tiles", tiles),
                        fmt::format("{} or fewer", mostTiles), "use larger tiles");
        }
        const std::int64_t room = operandRoom(m_.inner) + (machine_.accumulator > 0 ? 0 : resultRoom(m_.inner));
        if (room > machine_.scratchpad) {
            return fail("mapping.capacity",
                        fmt::format("a tile needs {} bytes of a scratchpad of {}", room, machine_.scratchpad),
                        "a tile that fits, better twice", "make the tile [I] smaller in C, M or its pixels");
        }
        if (machine_.accumulator > 0 && resultRoom(m_.inner) > machine_.accumulator) {
            return fail("mapping.capacity",
                        fmt::format("a tile's results need {} bytes of an accumulator of {}", resultRoom(m_.inner),
                                    machine_.accumulator),
                        "results that fit, better twice", "make the tile [I] smaller in M or its pixels");
        }
        return {};
    }

    // Until `take` says false.
    template <class Take>
    void eachResult(Take&& take) const {
        const auto& o = m_.outer;
        for (std::int64_t n = 0; n < o.n; ++n) {
            for (std::int64_t p = 0; p < o.p; ++p) {
                for (std::int64_t q = 0; q < o.q; ++q) {
                    for (std::int64_t m = 0; m < o.m; ++m)
                        if (!take(TileLoops{n, 0, m, p, q, 0, 0})) return;
                }
            }
        }
    }

    double workOf(TileLoops at) const {
        const TileLoops out = sizes(at);
        double arrays = 0;
        double bytes = static_cast<double>(out.n * out.p * out.q * words(out.m * layer_.element));
        for (at.s = 0; at.s < m_.outer.s; ++at.s) {
            for (at.r = 0; at.r < m_.outer.r; ++at.r) {
                // Pieces of the reduction are alike but for the last.
                for (const bool last : {false, true}) {
                    at.c = last ? m_.outer.c - 1 : 0;
                    const double times = last ? 1 : static_cast<double>(m_.outer.c - 1);
                    if (times == 0) continue;
                    const TileLoops t = sizes(at);
                    arrays += times * static_cast<double>(coreTiming(block(t), machine_).occupied());
                    bytes += times * static_cast<double>(inputBytes(at, t) + weightBytes(t));
                }
            }
        }
        return std::max(arrays / static_cast<double>(machine_.cores), bytes / machine_.memoryBytes);
    }

    // Sizes of the tile at a place: the last one of a loop may be partial.
    TileLoops sizes(const TileLoops& at) const {
        const auto part = [](std::int64_t total, std::int64_t inner, std::int64_t index) {
            return std::min(inner, total - index * inner);
        };
        return {part(m_.total.n, m_.inner.n, at.n), part(m_.total.c, m_.inner.c, at.c),
                part(m_.total.m, m_.inner.m, at.m), part(m_.total.p, m_.inner.p, at.p),
                part(m_.total.q, m_.inner.q, at.q), part(m_.total.s, m_.inner.s, at.s),
                part(m_.total.r, m_.inner.r, at.r)};
    }

    std::int64_t inputSide(std::int64_t out, std::int64_t filter) const { return (out - 1) * stride() + filter; }
    // A 1 × 1 filter with a stride fetches only the pixels that it meets.
    std::int64_t stride() const { return m_.total.r == 1 && m_.total.s == 1 ? 1 : layer_.stride; }
    std::int64_t inArray(std::int64_t elements, std::int64_t side) const { return ceilDiv(elements, side) * side; }
    std::int64_t words(std::int64_t bytes) const { return ceilDiv(bytes, machine_.word) * machine_.word; }

    std::int64_t operandRoom(const TileLoops& t) const {
        const std::int64_t pixels = t.n * inputSide(t.p, t.r) * inputSide(t.q, t.s);
        return layer_.element *
               (pixels * inArray(t.c, machine_.height) + t.c * t.r * t.s * inArray(t.m, machine_.width));
    }
    std::int64_t resultRoom(const TileLoops& t) const {
        const std::int64_t element = machine_.accumulator > 0 ? machine_.accumulatorElement : layer_.element;
        return t.n * t.p * t.q * inArray(t.m, machine_.width) * element;
    }

    void result(std::int64_t core, TileLoops at) {
        const TileLoops out = sizes(at);
        const bool own = machine_.accumulator > 0;
        const BufferId into = program_.buffer(core, resultRoom(out), own);
        for (at.s = 0; at.s < m_.outer.s; ++at.s) {
            for (at.r = 0; at.r < m_.outer.r; ++at.r) {
                for (at.c = 0; at.c < m_.outer.c; ++at.c) partial(core, at, into, own ? noBuffer : into);
            }
        }
        program_.store(core, into, out.n * out.p * out.q * words(out.m * layer_.element), storeAddress_);
        storeAddress_ += static_cast<std::uint64_t>(out.n * out.p * out.q * out.m * layer_.element);
    }

    // Pixels of the padded image that lie in the real one: padding is not fetched. Symmetric "same" padding.
    std::int64_t fetched(std::int64_t first, std::int64_t count, std::int64_t tap, std::int64_t taps,
                         std::int64_t totalOut, std::int64_t totalTaps) const {
        const std::int64_t pad = (totalTaps - 1) / 2;
        const std::int64_t image = std::max<std::int64_t>((totalOut - 1) * stride() + totalTaps - 2 * pad, 1);
        const std::int64_t begin = first * stride() + tap - pad;
        return std::max<std::int64_t>(
            std::min(begin + inputSide(count, taps), image) - std::max<std::int64_t>(begin, 0), 0);
    }

    std::int64_t inputBytes(const TileLoops& at, const TileLoops& t) const {
        const std::int64_t height = fetched(at.p * m_.inner.p, t.p, at.r * m_.inner.r, t.r, m_.total.p, m_.total.r);
        const std::int64_t width = fetched(at.q * m_.inner.q, t.q, at.s * m_.inner.s, t.s, m_.total.q, m_.total.s);
        return t.n * height * width * words(t.c * layer_.element);
    }
    std::int64_t weightBytes(const TileLoops& t) const { return t.c * t.r * t.s * words(t.m * layer_.element); }

    void partial(std::int64_t core, const TileLoops& at, BufferId into, BufferId reserves) {
        const TileLoops t = sizes(at);
        const std::int64_t inputs = inputBytes(at, t), weights = weightBytes(t);
        const std::int64_t weightRoom = layer_.element * t.c * t.r * t.s * inArray(t.m, machine_.width);
        const BufferId a = program_.buffer(core, operandRoom(t) - weightRoom);
        const BufferId w = program_.buffer(core, weightRoom);
        program_.load(core, a, inputs, static_cast<std::uint64_t>(at.n * m_.inner.n * m_.total.c), reserves);
        program_.load(core, w, weights, static_cast<std::uint64_t>(at.m * m_.inner.m * m_.total.c));
        program_.gemm(core, coreTiming(block(t), machine_), a, w, into);
    }

    GemmBlock block(const TileLoops& t) const {
        GemmBlock block;
        block.weightTiles = ceilDiv(t.m, machine_.width) * ceilDiv(t.c, machine_.height) * t.r * t.s;
        block.depth = t.c * t.r * t.s;
        if (layer_.convolution) {
            block.runs = t.n * std::min(t.p, t.q);
            block.runRows = std::max(t.p, t.q);
            // Which side runs through the array is decided by the full tile; its last ones follow.
            if ((m_.inner.q >= m_.inner.p) != (t.q >= t.p)) std::swap(block.runs, block.runRows);
        } else {
            block.runRows = t.n * t.p * t.q;
        }
        return block;
    }

    const TileMapping& m_;
    const MappedLayer& layer_;
    const NpuMachine& machine_;
    NpuProgram& program_;
    std::uint64_t storeAddress_ = 1u << 30;
};

}  // namespace

Expected<void> lowerMapped(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine,
                           NpuProgram& program, std::int64_t begin, std::int64_t end) {
    if (auto covered = check(mapping); !covered) return covered;
    return Lowering(mapping, layer, machine, program).run(begin, end);
}

Expected<void> lowerMapped(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine,
                           NpuProgram& program) {
    return lowerMapped(mapping, layer, machine, program, 0, std::numeric_limits<std::int64_t>::max());
}

std::vector<double> mappedWork(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine) {
    if (!check(mapping)) return {};
    NpuProgram none;
    return Lowering(mapping, layer, machine, none).work();
}

}  // namespace orrery
