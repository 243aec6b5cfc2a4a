#include "simulation/cpu/cores/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

namespace {

std::int64_t shares(std::int64_t whole, std::int64_t parts) {
    return (whole + parts - 1) / parts;
}

// Lanes by which columns of results are divided; AMX has tiles of 16 columns that are made in pairs.
std::int64_t lanesOf(const Machine& machine, const std::string& set) {
    return set == "amx" ? 32 : registerBytes(machine, set) / elementBytes(set);
}

class Splitter {
public:
    Splitter(const KernelSpec& spec, const Machine& machine, std::int64_t cores)
        : spec_(spec), machine_(machine), cores_(std::max<std::int64_t>(1, cores)) {}

    std::vector<KernelPart> make() {
        const std::string& kernel = spec_.kernel;
        const std::int64_t lanes = lanesOf(machine_, spec_.instructionSet);
        if (kernel == "gemm") {
            grid("m", "n", gridOf(size("m"), size("n"), lanes, cores_));
        } else if (kernel == "conv" || kernel == "depthwise") {
            const char* channels = kernel == "conv" ? "k" : "c";
            const std::int64_t rows = (size("h") - size("r")) / size("stride") + 1;
            grid("h", channels, gridOf(rows, size(channels), lanes, cores_), rows);
        } else if (kernel == "matvec") {
            along("n", shares(size("n"), std::min(size("n"), cores_)), false);
        } else if (kernel == "softmax" || kernel == "norm") {
            along("rows", shares(size("rows"), std::min(size("rows"), cores_)), true);
        } else if (kernel == "attention") {
            heads();
        } else {
            // By whole lines, so that no two cores write one.
            const std::int64_t line = 64 / elementBytes(spec_.instructionSet);
            along("n", shares(shares(size("n"), line), cores_) * line, true);
        }
        return std::move(parts_);
    }

private:
    std::int64_t size(const char* name) const { return spec_.size(name); }

    void along(const char* name, std::int64_t piece, bool down) {
        const std::int64_t whole = size(name);
        for (std::int64_t at = 0, i = 0; at < whole; at += piece, ++i) {
            KernelPart& part = parts_.emplace_back(KernelPart{spec_, down ? i : 0, down ? 0 : i});
            part.spec.sizes.find(name)->second = std::min(piece, whole - at);
        }
    }
    // Rows of a convolution are those of its result.
    void grid(const char* down, const char* across, const Grid& grid, std::int64_t rows = 0) {
        const bool slides = rows > 0;
        if (!slides) rows = size(down);
        const std::int64_t columns = size(across);
        for (std::int64_t r = 0, i = 0; r < rows; r += grid.rows, ++i) {
            const std::int64_t mine = std::min(grid.rows, rows - r);
            for (std::int64_t c = 0, j = 0; c < columns; c += grid.columns, ++j) {
                KernelPart& part = parts_.emplace_back(KernelPart{spec_, i, j});
                part.spec.sizes.find(down)->second = slides ? (mine - 1) * size("stride") + size("r") : mine;
                part.spec.sizes.find(across)->second = std::min(grid.columns, columns - c);
            }
        }
    }
    void heads() {
        const std::int64_t heads = size("heads"), queries = size("q");
        const std::int64_t together = std::min(heads, cores_), each = shares(heads, together);
        const std::int64_t across = std::clamp<std::int64_t>(cores_ / heads, 1, queries),
                           piece = shares(queries, across);
        for (std::int64_t h = 0, i = 0; h < heads; h += each, ++i) {
            for (std::int64_t q = 0, j = 0; q < queries; q += piece, ++j) {
                KernelPart& part = parts_.emplace_back(KernelPart{spec_, i, j});
                part.spec.sizes.find("heads")->second = std::min(each, heads - h);
                part.spec.sizes.find("q")->second = std::min(piece, queries - q);
            }
        }
    }

    const KernelSpec& spec_;
    const Machine& machine_;
    std::int64_t cores_;
    std::vector<KernelPart> parts_;
};

}  // namespace

Grid gridOf(std::int64_t rows, std::int64_t columns, std::int64_t lanes, std::int64_t cores) {
    const std::int64_t registers = shares(columns, lanes);
    Grid best{rows, columns, 1, 1};
    double least = double(rows) * double(registers);
    const auto square = [](std::int64_t x, std::int64_t y) { return std::abs(std::log(double(x) / double(y))); };
    for (std::int64_t across = 1; across <= std::min(cores, registers); ++across) {
        const std::int64_t down = std::min(cores / across, rows);
        const std::int64_t r = shares(rows, down), c = shares(registers, across);
        const double size = double(r) * double(c);
        if (size < least ||
            (size == least && square(r, c * lanes) < square(best.rows, std::max<std::int64_t>(1, best.columns)))) {
            least = size;
            best = {r, std::min(columns, c * lanes), down, across};
        }
    }
    return best;
}

std::vector<KernelPart> partsOf(const KernelSpec& spec, const Machine& machine, int cores) {
    return Splitter(spec, machine, cores).make();
}

std::string fewerCores(const KernelSpec& spec, int asked, int parts) {
    return fmt::format("{} of {} cores run: `{}` is divided into {} {}.", parts, asked, toText(spec), parts,
                       parts == 1 ? "part" : "parts of whole rows, heads, lines or registers");
}

std::vector<std::int64_t> copiesOf(const LoopNest& nest, const std::string& kernel, std::int64_t row,
                                   std::int64_t column, std::int64_t self) {
    std::vector<std::int64_t> copies(nest.arrays.size(), self);
    const auto set = [&](std::size_t array, std::int64_t copy) {
        if (array < copies.size()) copies[array] = copy;
    };
    if (kernel == "gemm") {
        set(0, row), set(1, column);
    } else if (kernel == "conv") {
        set(0, row), set(1, column);
    } else if (kernel == "depthwise") {
        set(1, column);
    } else if (kernel == "matvec") {
        set(0, 0);
    } else if (kernel == "norm") {
        set(2, 0), set(3, 0);  // scale and shift
    } else if (kernel == "attention") {
        set(1, row), set(2, row);  // keys and values
    }
    return copies;
}

std::uint64_t copyBytes(const std::vector<const LoopNest*>& nests) {
    constexpr std::uint64_t page = 4096;
    std::uint64_t longest = 0;
    for (const LoopNest* nest : nests) longest = std::max(longest, nest->footprint + 3 * page * nest->arrays.size());
    return ((longest / page + 1) | 1) * page;
}

std::vector<std::uint64_t> shiftsOf(const LoopNest& nest, const std::vector<std::int64_t>& copies,
                                    std::uint64_t copyBytes) {
    std::vector<std::uint64_t> shifts(nest.ops.size(), 0);
    for (std::size_t op = 0; op < nest.ops.size(); ++op) {
        const int where = nest.addressOf[op];
        if (where < 0) continue;
        const auto next = std::ranges::upper_bound(nest.arrays, nest.addresses[static_cast<std::size_t>(where)].base);
        if (next == nest.arrays.begin()) continue;
        const auto array = static_cast<std::size_t>(next - nest.arrays.begin() - 1);
        shifts[op] = static_cast<std::uint64_t>(copies[array]) * copyBytes;
    }
    return shifts;
}

LoopNest shifted(LoopNest nest, const std::vector<std::int64_t>& copies, std::uint64_t copyBytes) {
    const auto shifts = shiftsOf(nest, copies, copyBytes);
    for (std::size_t op = 0; op < nest.ops.size(); ++op) {
        if (nest.addressOf[op] >= 0) nest.addresses[static_cast<std::size_t>(nest.addressOf[op])].base += shifts[op];
    }
    for (std::size_t array = 0; array < nest.arrays.size(); ++array)
        nest.arrays[array] += static_cast<std::uint64_t>(copies[array]) * copyBytes;
    return nest;
}

}  // namespace orrery::pipeline
