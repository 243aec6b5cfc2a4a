#include "base/maths.h"
#include "simulation/npu/lower.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::int64_t tileBytes = 64 * 1024;  // long against a transfer's latency, short against a sweep
constexpr std::int64_t mostTiles = 4096;

std::int64_t vectorCycles(std::int64_t ops, const NpuMachine& machine) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(ops) / machine.vectorOps));
}

}  // namespace

void lowerVector(const VectorSpec& spec, const NpuMachine& machine, NpuProgram& program) {
    const std::int64_t bytes = spec.readBytes + spec.writeBytes;
    std::int64_t tiles = std::clamp(ceilDiv(std::max(spec.readBytes, spec.writeBytes), tileBytes), machine.cores,
                                    std::max(mostTiles, machine.cores));
    tiles = std::max(tiles, ceilDiv(2 * bytes, std::max<std::int64_t>(machine.scratchpad, 1)));
    const auto writeBase = static_cast<std::uint64_t>(spec.readBytes);
    for (std::int64_t t = 0; t < tiles; ++t) {
        const std::int64_t core = t % machine.cores;
        const std::int64_t in = share(spec.readBytes, t, tiles);
        const std::int64_t out = share(spec.writeBytes, t, tiles);
        const BufferId from = program.buffer(core, in);
        const BufferId into = out > 0 ? program.buffer(core, out) : noBuffer;
        program.load(core, from, in, static_cast<std::uint64_t>(shares(spec.readBytes, 0, t, tiles)), into);
        program.vector(core, vectorCycles(share(spec.ops, t, tiles), machine), from, into);
        if (out > 0) {
            program.store(core, into, out,
                          writeBase + static_cast<std::uint64_t>(shares(spec.writeBytes, 0, t, tiles)));
        }
    }
}

namespace {

constexpr std::int64_t scoreBytes = 4;

struct FlashPlan {
    std::int64_t rows = 1;  // of queries, all heads of a group together
    std::int64_t tileRows = 1;
    std::int64_t tiles = 1;
    std::int64_t chunks = 1;  // of keys and values; 1: they stay for all tiles
};

FlashPlan planOf(const FlashSpec& s, const NpuMachine& machine) {
    FlashPlan p;
    p.rows = s.group * s.queries;
    p.tileRows = std::min(p.rows, machine.arrays * machine.height);
    p.tiles = ceilDiv(p.rows, p.tileRows);
    const std::int64_t quarter = std::max<std::int64_t>(machine.scratchpad / 4, 1);
    p.chunks =
        std::max(ceilDiv(s.keyBytes + s.valueBytes, quarter), ceilDiv(2 * p.tileRows * s.keys * scoreBytes, quarter));
    p.chunks = std::clamp<std::int64_t>(p.chunks, 1, s.keys);
    return p;
}

class FlashLowering {
public:
    FlashLowering(const FlashSpec& s, const NpuMachine& machine, NpuProgram& program)
        : s_(s), machine_(machine), program_(program), p_(planOf(s, machine)) {
        keyBase_ = s.queryBytes * s.batch;
        valueBase_ = keyBase_ + s.keyBytes * s.batch;
        resultBase_ = valueBase_ + s.valueBytes * s.batch;
    }

    void run() {
        for (std::int64_t core = 0; core < machine_.cores; ++core) {
            const bool byBatch = s_.batch >= machine_.cores;
            const auto from = [&](std::int64_t n, bool split) { return split ? n * core / machine_.cores : 0; };
            const auto to = [&](std::int64_t n, bool split) { return split ? n * (core + 1) / machine_.cores : n; };
            for (std::int64_t b = from(s_.batch, byBatch); b < to(s_.batch, byBatch); ++b) {
                Operands resident;
                for (std::int64_t t = from(p_.tiles, !byBatch); t < to(p_.tiles, !byBatch); ++t) {
                    if (p_.chunks == 1 && resident.keys == noBuffer) resident = operands(core, b, 0);
                    tile(core, b, t, resident);
                }
            }
        }
    }

private:
    struct Operands {
        BufferId keys = noBuffer, values = noBuffer;
    };

    Operands operands(std::int64_t core, std::int64_t b, std::int64_t chunk) {
        const auto one = [&](std::int64_t bytes, std::int64_t base) {
            const std::int64_t part = share(bytes, chunk, p_.chunks);
            const BufferId id = program_.buffer(core, part);
            program_.load(core, id, part,
                          static_cast<std::uint64_t>(base + b * bytes + shares(bytes, 0, chunk, p_.chunks)));
            return id;
        };
        const BufferId keys = one(s_.keyBytes, keyBase_);
        return {keys, one(s_.valueBytes, valueBase_)};
    }

    void tile(std::int64_t core, std::int64_t b, std::int64_t t, const Operands& resident) {
        const std::int64_t first = t * p_.tileRows;
        const std::int64_t end = std::min(first + p_.tileRows, p_.rows);
        const std::int64_t rows = end - first;
        // Of a causal mask only the keys up to the tile's last query count.
        const std::int64_t seen =
            s_.causal ? std::clamp<std::int64_t>(s_.keys - s_.queries + ceilDiv(end, s_.group), 1, s_.keys) : s_.keys;
        const std::int64_t chunkKeys = ceilDiv(s_.keys, p_.chunks);
        const std::int64_t in = shares(s_.queryBytes, first, end, p_.rows);
        const std::int64_t out = shares(s_.resultBytes, first, end, p_.rows);
        const BufferId q = program_.buffer(core, in);
        const BufferId o = program_.buffer(core, out + (p_.chunks > 1 ? 2 : 1) * rows * chunkKeys * scoreBytes);
        program_.load(core, q, in,
                      static_cast<std::uint64_t>(b * s_.queryBytes + shares(s_.queryBytes, 0, first, p_.rows)), o);
        for (std::int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
            const std::int64_t keys = std::min(seen - chunk * chunkKeys, chunkKeys);
            if (keys <= 0) break;
            const Operands now = p_.chunks == 1 ? resident : operands(core, b, chunk);
            const BufferId scores = program_.buffer(core, 0);
            const BufferId weights = program_.buffer(core, 0);
            program_.gemm(core, product(rows, s_.headDim, keys), q, now.keys, scores);
            program_.vector(core, vectorCycles(rows * keys * s_.opsPerScore, machine_), scores, weights);
            program_.gemm(core, product(rows, keys, s_.valueDim), weights, now.values, o);
        }
        program_.store(core, o, out, static_cast<std::uint64_t>(resultBase_ + b * s_.resultBytes));
    }

    BlockTiming product(std::int64_t rows, std::int64_t depth, std::int64_t columns) const {
        GemmBlock block;
        block.weightTiles = ceilDiv(depth, machine_.height) * ceilDiv(columns, machine_.width);
        block.runRows = rows;
        block.depth = depth;
        block.background = true;
        return coreTiming(block, machine_);
    }

    const FlashSpec& s_;
    const NpuMachine& machine_;
    NpuProgram& program_;
    FlashPlan p_;
    std::int64_t keyBase_ = 0, valueBase_ = 0, resultBase_ = 0;
};

}  // namespace

void lowerFlash(const FlashSpec& spec, const NpuMachine& machine, NpuProgram& program) {
    FlashLowering(spec, machine, program).run();
}

}  // namespace orrery
