#include "base/maths.h"
#include "simulation/npu/lower.h"

#include <algorithm>

namespace orrery {

namespace {

constexpr std::int64_t mostTiles = 200'000;  // of one kernel; larger tiles beyond
constexpr std::int64_t page = 4096;          // tensors begin at whole ones

std::int64_t aligned(std::int64_t bytes) {
    return ceilDiv(bytes, page) * page;
}

struct Plan {
    std::int64_t columnTiles = 1;   // of the array's width
    std::int64_t depthTiles = 1;    // of the array's height, over all taps
    std::int64_t columnBlocks = 1;  // kept one after another
    std::int64_t depthBlocks = 1;
    std::int64_t tileLines = 1;

    std::int64_t tiles(const ProductSpec& s) const { return ceilDiv(s.lines, tileLines); }
};

std::int64_t keptBlock(const ProductSpec& s, const Plan& p) {
    return ceilDiv(ceilDiv(s.keptBytes * ceilDiv(p.columnTiles, p.columnBlocks), p.columnTiles), p.depthBlocks);
}

std::int64_t tileBytes(const ProductSpec& s, const Plan& p) {
    const std::int64_t lines = std::min(p.tileLines + s.haloLines, s.lines);
    return ceilDiv(share(s.movingBytes, lines - 1, s.lines) * lines, p.depthBlocks) +
           ceilDiv(ceilDiv((s.resultBytes + s.extraBytes) * p.tileLines, s.lines), p.columnBlocks);
}

// Cycles that a plan takes if transfers and products overlap but for the first operands and the last results.
double cyclesOf(const ProductSpec& s, const Plan& p, const NpuMachine& machine) {
    const std::int64_t tiles = p.tiles(s);
    GemmBlock block;
    block.weightTiles = ceilDiv(p.columnTiles, p.columnBlocks) * ceilDiv(p.depthTiles, p.depthBlocks);
    block.runRows = std::min(p.tileLines, s.lines) * s.lineRows;
    block.depth = s.taps * s.channels;
    block.background = true;
    const double blocks = static_cast<double>(tiles * p.columnBlocks * p.depthBlocks);
    const double arrays = blocks * static_cast<double>(coreTiming(block, machine).occupied());
    const double kept = static_cast<double>(s.keptBytes) * static_cast<double>(p.depthBlocks > 1 ? tiles : 1);
    const double moving = static_cast<double>(s.movingBytes) * static_cast<double>(p.columnBlocks);
    const double bytes = kept + moving + static_cast<double>(s.resultBytes + s.extraBytes);
    const double first = static_cast<double>(keptBlock(s, p) + tileBytes(s, p));
    return std::max(arrays, bytes / machine.memoryBytes) + first / machine.memoryBytes;
}

bool fits(const ProductSpec& s, const Plan& p, const NpuMachine& machine) {
    const std::int64_t kept = keptBlock(s, p);
    return (p.depthBlocks > 1 ? 2 * kept : kept) + 2 * tileBytes(s, p) <= machine.scratchpad;
}

// Reductions too long to have whole rows on the chip: results stay there and both operands pass in pieces. The cheapest
// of all plans by powers of two.
Plan searched(const ProductSpec& s, Plan p, std::int64_t leastLines, const NpuMachine& machine) {
    Plan best = p;
    double least = -1;
    for (p.columnBlocks = 1;; p.columnBlocks = std::min(2 * p.columnBlocks, p.columnTiles)) {
        for (p.depthBlocks = 1;; p.depthBlocks = std::min(2 * p.depthBlocks, p.depthTiles)) {
            for (p.tileLines = leastLines;; p.tileLines = std::min(2 * p.tileLines, s.lines)) {
                const bool few = p.tiles(s) * s.batch * p.columnBlocks * p.depthBlocks <= mostTiles;
                const double cycles = few && fits(s, p, machine) ? cyclesOf(s, p, machine) : -1;
                if (cycles >= 0 && (least < 0 || cycles < least)) least = cycles, best = p;
                if (p.tileLines >= s.lines) break;
            }
            if (p.depthBlocks >= p.depthTiles) break;
        }
        if (p.columnBlocks >= p.columnTiles) break;
    }
    return best;
}

Plan planOf(const ProductSpec& s, const NpuMachine& machine) {
    Plan p;
    p.columnTiles = ceilDiv(s.columns, machine.width);
    p.depthTiles = s.taps * ceilDiv(s.channels, machine.height);
    const std::int64_t half = std::max<std::int64_t>(machine.scratchpad / 2, 1);
    const std::int64_t perTile = std::max<std::int64_t>(ceilDiv(s.keptBytes, p.columnTiles), 1);
    p.columnBlocks = ceilDiv(p.columnTiles, std::max<std::int64_t>(half / perTile, 1));
    const std::int64_t hiding =
        std::clamp<std::int64_t>(ceilDiv(machine.arrays * machine.height, s.lineRows), 1, s.lines);
    p.tileLines = hiding;
    while (s.batch * p.columnBlocks * p.tiles(s) > mostTiles && p.tileLines < s.lines) p.tileLines *= 2;
    p.tileLines = std::min(p.tileLines, s.lines);
    if (perTile > half || !fits(s, p, machine)) {
        // What nothing fits is left as small as it gets; its program then says so.
        p.depthBlocks = p.depthTiles;
        p.columnBlocks = p.columnTiles;
        p.tileLines = 1;
        p = searched(s, p, hiding, machine);
        if (!fits(s, p, machine)) p = searched(s, p, 1, machine);
    }
    if (s.batch < machine.cores && p.tiles(s) < machine.cores) {
        p.columnBlocks = std::max(p.columnBlocks, std::min(p.columnTiles, machine.cores));
    }
    return p;
}

// What one core does of the whole.
struct Part {
    std::int64_t core = 0;
    std::int64_t batchBegin = 0, batchEnd = 1;
    std::int64_t blockBegin = 0, blockEnd = 1;
    std::int64_t tileBegin = 0, tileEnd = 1;
};

Part partOf(std::int64_t core, const ProductSpec& s, const Plan& p, std::int64_t cores) {
    Part part{core, 0, s.batch, 0, p.columnBlocks, 0, p.tiles(s)};
    const auto split = [core, cores](std::int64_t& begin, std::int64_t& end) {
        const std::int64_t n = end;
        begin = n * core / cores;
        end = n * (core + 1) / cores;
    };
    if (s.batch >= cores) {
        split(part.batchBegin, part.batchEnd);
    } else if (p.tiles(s) >= cores) {
        split(part.tileBegin, part.tileEnd);
    } else {
        split(part.blockBegin, part.blockEnd);
    }
    return part;
}

class Lowering {
public:
    Lowering(const ProductSpec& spec, const NpuMachine& machine, NpuProgram& program)
        : s_(spec), machine_(machine), program_(program), p_(planOf(spec, machine)) {
        keptBase_ = static_cast<std::uint64_t>(aligned(s_.movingBytes * s_.batch));
        resultBase_ = keptBase_ + static_cast<std::uint64_t>(aligned(s_.keptBytes * s_.batch));
        extraBase_ = resultBase_ + static_cast<std::uint64_t>(aligned(s_.resultBytes * s_.batch));
    }

    void run() {
        for (std::int64_t core = 0; core < machine_.cores; ++core) {
            const Part part = partOf(core, s_, p_, machine_.cores);
            for (std::int64_t b = part.batchBegin; b < part.batchEnd; ++b) {
                for (std::int64_t n = part.blockBegin; n < part.blockEnd; ++n) block(part, b, n);
            }
        }
    }

private:
    void block(const Part& part, std::int64_t b, std::int64_t n) {
        columns_ = (n + 1) * p_.columnTiles / p_.columnBlocks - n * p_.columnTiles / p_.columnBlocks;
        if (columns_ == 0 || part.tileBegin == part.tileEnd) return;
        BufferId kept = p_.depthBlocks == 1 ? loadKept(part.core, b, n, 0) : noBuffer;
        for (std::int64_t t = part.tileBegin; t < part.tileEnd; ++t) tile(part.core, b, n, t, kept);
    }

    BufferId loadKept(std::int64_t core, std::int64_t b, std::int64_t n, std::int64_t k) {
        const std::int64_t at = n * p_.depthBlocks + k;
        const std::int64_t parts = p_.columnBlocks * p_.depthBlocks;
        const std::int64_t bytes = share(s_.keptBytes, at, parts);
        const BufferId id = program_.buffer(core, bytes);
        const auto address =
            keptBase_ + static_cast<std::uint64_t>(b * s_.keptBytes + shares(s_.keptBytes, 0, at, parts));
        program_.load(core, id, bytes, address);
        return id;
    }

    void tile(std::int64_t core, std::int64_t b, std::int64_t n, std::int64_t t, BufferId kept) {
        const std::int64_t first = t * p_.tileLines;
        const std::int64_t end = std::min(first + p_.tileLines, s_.lines);
        const std::int64_t lines = end - first;
        const auto part = [&](std::int64_t whole) { return shares(whole, first, end, s_.lines); };
        const std::int64_t result = share(part(s_.resultBytes), n, p_.columnBlocks);
        const BufferId c = program_.buffer(core, result);
        GemmBlock block;
        block.runRows = lines * s_.lineRows;
        block.depth = s_.taps * s_.channels;
        block.background = true;
        for (std::int64_t k = 0; k < p_.depthBlocks; ++k) {
            if (p_.depthBlocks > 1) kept = loadKept(core, b, n, k);
            const BufferId a = loadMoving(core, b, first, end, k, c);
            const std::int64_t depthTiles =
                (k + 1) * p_.depthTiles / p_.depthBlocks - k * p_.depthTiles / p_.depthBlocks;
            block.weightTiles = columns_ * depthTiles;
            const auto timing = coreTiming(block, machine_);
            if (s_.prologueOps > 0) {
                const BufferId ready = program_.buffer(core, 0);
                program_.vector(core, vectorCycles(share(part(s_.prologueOps), k, p_.depthBlocks)), a, ready);
                program_.gemm(core, timing, ready, kept, c, a);
            } else {
                program_.gemm(core, timing, a, kept, c);
            }
        }
        finish(core, b, first, lines, n, c, result);
    }

    BufferId loadMoving(std::int64_t core, std::int64_t b, std::int64_t first, std::int64_t end, std::int64_t k,
                        BufferId result) {
        const std::int64_t bytes = share(shares(s_.movingBytes, first, end, s_.lines), k, p_.depthBlocks);
        // Lines shared with the neighbour are kept, not fetched again; they take room.
        const std::int64_t halo = share(s_.movingBytes, 0, s_.lines) * std::min(s_.haloLines, s_.lines - (end - first));
        const BufferId a = program_.buffer(core, bytes + halo / p_.depthBlocks);
        const auto address =
            static_cast<std::uint64_t>(b * s_.movingBytes + shares(s_.movingBytes, 0, first, s_.lines));
        program_.load(core, a, bytes, address, result);
        return a;
    }

    void finish(std::int64_t core, std::int64_t b, std::int64_t first, std::int64_t lines, std::int64_t n, BufferId c,
                std::int64_t result) {
        const auto part = [&](std::int64_t whole) {
            return share(shares(whole, first, first + lines, s_.lines), n, p_.columnBlocks);
        };
        const auto offset = shares(s_.resultBytes, 0, first, s_.lines);
        const auto address = resultBase_ + static_cast<std::uint64_t>(b * s_.resultBytes + offset);
        BufferId extra = noBuffer;
        if (s_.extraBytes > 0) {
            const std::int64_t bytes = part(s_.extraBytes);
            extra = program_.buffer(core, bytes);
            program_.load(core, extra, bytes, extraBase_ + static_cast<std::uint64_t>(offset));
        }
        if (s_.epilogueOps > 0 || extra != noBuffer) {
            const BufferId ready = program_.buffer(core, 0);
            program_.vector(core, vectorCycles(part(s_.epilogueOps)), c, ready, extra);
            program_.store(core, ready, result, address, c);
        } else {
            program_.store(core, c, result, address);
        }
    }

    std::int64_t vectorCycles(std::int64_t ops) const {
        return static_cast<std::int64_t>(static_cast<double>(ops) / machine_.vectorOps) + 1;
    }

    const ProductSpec& s_;
    const NpuMachine& machine_;
    NpuProgram& program_;
    Plan p_;
    std::int64_t columns_ = 0;
    std::uint64_t keptBase_ = 0, resultBase_ = 0, extraBase_ = 0;
};

}  // namespace

void lowerProduct(const ProductSpec& spec, const NpuMachine& machine, NpuProgram& program) {
    Lowering(spec, machine, program).run();
}

}  // namespace orrery
