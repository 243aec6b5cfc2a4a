#include "methods/search/mapping_search_gemm.h"

#include "base/maths.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double sumBytes = 4;  // partial sums are kept in fp32
constexpr std::array<std::int64_t, 5> coreSplits{1, 2, 4, 8, 16};
constexpr std::array<std::array<char, 4>, 6> orders{{{"mnk"}, {"nmk"}, {"mkn"}, {"nkm"}, {"kmn"}, {"knm"}}};

double real(std::int64_t value) {
    return static_cast<double>(value);
}

/// Tiles of the cache level: how many, and how large one is.
struct CacheTiles {
    std::int64_t countM = 1, countN = 1, countK = 1, countBatch = 1;
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    bool doubleBuffered = true;
    double steps() const { return real(countM * countN * countK * countBatch); }
};

struct CoreCost {
    double cycles = std::numeric_limits<double>::infinity();  ///< of one cache tile
    double arrayCycles = 0, batches = 0;
    ProductMapping mapping;
};

/// How the traffic of main memory falls onto the steps, for one order of loops.
struct Steps {
    double inner = 0, innerRead = 0;  ///< steps of the innermost loop, and bytes that each reads
    double outerRead = 0;             ///< bytes of every other step
    double writes = 0, partialReads = 0, partialWrites = 0;
};

Steps stepsOf(const CacheTiles& tiles, const SearchedProduct& product, const std::array<char, 4>& order) {
    const auto count = [&tiles](char loop) {
        return loop == 'm' ? tiles.countM : loop == 'n' ? tiles.countN : tiles.countK;
    };
    char innermost = 0;
    for (int i = 2; i >= 0 && !innermost; --i) {
        if (count(order[static_cast<std::size_t>(i)]) > 1) innermost = order[static_cast<std::size_t>(i)];
    }
    const double all = tiles.steps();
    // Tiles are equal but for the last ones: what is really read is divided over the steps.
    const double batch = real(product.batch) / real(tiles.countBatch);
    const double m = real(product.m) / real(tiles.countM), n = real(product.n) / real(tiles.countN);
    const double k = real(product.k) / real(tiles.countK);
    const double a = batch * m * k * product.aBytes, b = batch * n * k * product.bBytes;
    const double outputs = all / real(tiles.countK);
    Steps steps;
    steps.outerRead = a + b;
    if (innermost) {
        steps.inner = all - all / real(count(innermost));
        steps.innerRead = (innermost != 'n' ? a : 0) + (innermost != 'm' ? b : 0);
    }
    steps.writes = outputs * batch * m * n * product.cBytes;
    if (tiles.countK > 1 && innermost != 'k') {
        steps.partialWrites = (all - outputs) * batch * m * n * sumBytes;
        steps.partialReads = steps.partialWrites;
    }
    return steps;
}

double total(const Steps& steps, const CacheTiles& tiles, const SearchMachine& machine, double compute) {
    const double all = tiles.steps();
    const double inner = steps.innerRead / machine.dram, outer = steps.outerRead / machine.dram;
    const double written = (steps.writes + steps.partialWrites + steps.partialReads) / machine.dram;
    if (!tiles.doubleBuffered) return steps.inner * inner + (all - steps.inner) * outer + all * compute + written;
    return outer + steps.inner * std::max(inner, compute) + (all - steps.inner - 1) * std::max(outer, compute) +
           compute + written;
}

/// Different rows and columns of tiles that `at once` neighbouring tiles touch.
void touched(Raster raster, std::int64_t tilesM, std::int64_t tilesN, std::int64_t atOnce, double& rows,
             double& columns) {
    const std::int64_t plane = std::min(atOnce, tilesM * tilesN);
    const double planes = std::max(1.0, real(atOnce) / real(tilesM * tilesN));
    double m = 1, n = 1;
    if (raster == Raster::RowsFirst) {
        m = real(std::min(plane, tilesM));
        n = real(ceilDiv(plane, tilesM));
    } else if (raster == Raster::ColumnsFirst) {
        n = real(std::min(plane, tilesN));
        m = real(ceilDiv(plane, tilesN));
    } else {
        m = std::min(std::ceil(std::sqrt(real(plane))), real(tilesM));
        n = std::min(std::ceil(real(plane) / m), real(tilesN));
        m = std::min(std::ceil(real(plane) / n), real(tilesM));
    }
    rows = m * planes;
    columns = n * planes;
}

class Search {
public:
    Search(const SearchMachine& machine, const SearchedProduct& product)
        : machine_(machine), product_(product), array_(machine.arrays[static_cast<std::size_t>(product.type)]) {}

    ProductCost run() {
        if (array_.rows == 0 || product_.batch <= 0 || product_.m <= 0 || product_.n <= 0 || product_.k <= 0) return {};
        // Few and large tiles first: they are the likely best ones, and prune the others.
        for (std::int64_t m = 1; m <= tilesAtMost(product_.m, 64); m *= 2) {
            for (std::int64_t n = 1; n <= tilesAtMost(product_.n, 64); n *= 2) {
                for (std::int64_t k = 1; k <= tilesAtMost(product_.k, 256); k *= 2) tryCacheTiles(m, n, k);
            }
        }
        return best_;
    }

private:
    static std::int64_t tilesAtMost(std::int64_t extent, std::int64_t smallest) {
        return std::max<std::int64_t>(1, ceilDiv(extent, smallest));
    }

    void tryCacheTiles(std::int64_t countM, std::int64_t countN, std::int64_t countK) {
        CacheTiles tiles;
        tiles.countM = countM;
        tiles.countN = countN;
        tiles.countK = countK;
        tiles.m = ceilDiv(product_.m, countM);
        tiles.n = ceilDiv(product_.n, countN);
        tiles.k = ceilDiv(product_.k, countK);
        const double one = real(tiles.m * tiles.k) * product_.aBytes + real(tiles.n * tiles.k) * product_.bBytes +
                           real(tiles.m * tiles.n) * (countK > 1 ? sumBytes : product_.cBytes);
        const double room = machine_.l2Bytes > 0 ? machine_.l2Bytes : std::numeric_limits<double>::infinity();
        if (one > room) return;
        tiles.doubleBuffered = 2 * one <= room;
        // As many products of a batch as fit stand in the cache together.
        const double fit = std::floor(room / (one * (tiles.doubleBuffered ? 2 : 1)));
        tiles.batch =
            std::clamp<std::int64_t>(fit < 1e15 ? static_cast<std::int64_t>(fit) : product_.batch, 1, product_.batch);
        tiles.countBatch = ceilDiv(product_.batch, tiles.batch);
        tiles.batch = ceilDiv(product_.batch, tiles.countBatch);
        Steps best;
        std::size_t bestOrder = 0;
        const double ideal = real(tiles.batch) * real(tiles.m) * real(tiles.n) * real(tiles.k) /
                             (machine_.cores * machine_.subCores * real(array_.rows * array_.cols));
        double bound = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < orders.size(); ++i) {
            const Steps steps = stepsOf(tiles, product_, orders[i]);
            const double cycles = total(steps, tiles, machine_, ideal);
            if (cycles >= bound) continue;
            bound = cycles;
            best = steps;
            bestOrder = i;
        }
        if (found() && bound >= best_.cycles) return;
        const CoreCost core = coreMapping(tiles);
        if (!std::isfinite(core.cycles)) return;
        // The order was chosen for ideal cores; with real ones another may be better by a little.
        for (std::size_t i = 0; i < orders.size(); ++i) {
            const Steps steps = stepsOf(tiles, product_, orders[i]);
            if (total(steps, tiles, machine_, core.cycles) < total(best, tiles, machine_, core.cycles)) {
                best = steps;
                bestOrder = i;
            }
        }
        const double cycles = total(best, tiles, machine_, core.cycles);
        if (found() && cycles >= best_.cycles) return;
        keep(tiles, core, best, bestOrder, cycles);
    }

    bool found() const { return best_.cycles > 0; }

    void keep(const CacheTiles& tiles, const CoreCost& core, const Steps& steps, std::size_t order, double cycles) {
        best_.mapping = core.mapping;
        best_.mapping.cacheM = tiles.m;
        best_.mapping.cacheN = tiles.n;
        best_.mapping.cacheK = tiles.k;
        best_.mapping.cacheBatch = tiles.batch;
        best_.mapping.order = orders[order];
        best_.mapping.doubleBuffered = tiles.doubleBuffered;
        best_.cycles = cycles;
        best_.computeCycles = core.cycles * tiles.steps();
        best_.arrayCycles = core.arrayCycles * tiles.steps();
        best_.batches = core.batches * tiles.steps();
        best_.dramBytes = steps.inner * steps.innerRead + (tiles.steps() - steps.inner) * steps.outerRead +
                          steps.writes + steps.partialReads + steps.partialWrites;
        best_.dramCycles = best_.dramBytes / machine_.dram;
    }

    CoreCost coreMapping(const CacheTiles& tiles) {
        CoreCost best;
        for (std::size_t i = mappingTileSides.size(); i-- > 0;) {
            if (i > 0 && mappingTileSides[i - 1] >= tiles.m) continue;
            for (std::size_t j = mappingTileSides.size(); j-- > 0;) {
                if (j > 0 && mappingTileSides[j - 1] >= tiles.n) continue;
                for (std::size_t l = 0; l < mappingTileDepths.size(); ++l) {
                    const CoreStep& step = array_.steps[i][j][l];
                    if (step.cycles <= 0 || (l > 0 && mappingTileDepths[l - 1] >= tiles.k)) continue;
                    tryTile(tiles, i, j, l, step, best);
                }
            }
        }
        return best;
    }

    void tryTile(const CacheTiles& tiles, std::size_t i, std::size_t j, std::size_t l, const CoreStep& step,
                 CoreCost& best) {
        const std::int64_t m = mappingTileSides[i], n = mappingTileSides[j], k = mappingTileDepths[l];
        const std::int64_t tilesM = ceilDiv(tiles.m, m), tilesN = ceilDiv(tiles.n, n);
        const std::int64_t stepsK = ceilDiv(tiles.k, k);
        const std::int64_t outputs = tilesM * tilesN * tiles.batch;
        for (const std::int64_t split : coreSplits) {
            // Splitting the reduction helps only where cores would stand idle.
            if (split > 1 && (split > stepsK || outputs * split > 4 * static_cast<std::int64_t>(machine_.cores))) break;
            const double units = real(outputs * split);
            const double planes = real(tiles.countM * tiles.countN * tiles.countBatch);
            const double batches = std::ceil(units * planes / machine_.cores) / planes;
            const double depth = real(ceilDiv(stepsK, split));
            const double arrays = batches * depth * step.cycles;
            // What the split leaves is added in the cache: written and read once as fp32, and one addition each.
            const double area = real(m * n);
            const double adding = split > 1 ? 2 * units * area * sumBytes / machine_.l2 : 0;
            const auto atOnce = static_cast<std::int64_t>(std::min(units, machine_.cores));
            const double write = real(outputs) * area * product_.cBytes / machine_.l2;
            if (arrays + adding + write >= best.cycles) continue;
            for (const Raster raster : {Raster::Square, Raster::RowsFirst, Raster::ColumnsFirst}) {
                double rows = 0, columns = 0;
                touched(raster, tilesM, tilesN, std::max<std::int64_t>(1, atOnce / split), rows, columns);
                const double bytes =
                    real(split * k) * (rows * real(m) * product_.aBytes + columns * real(n) * product_.bBytes);
                const double read = bytes / machine_.l2;
                const double cycles = read + batches * depth * std::max(read, step.cycles) + write + adding;
                ++best_.evaluated;
                if (cycles >= best.cycles) continue;
                best.cycles = cycles;
                best.arrayCycles = arrays;
                best.batches = batches;
                best.mapping.tileM = m;
                best.mapping.tileN = n;
                best.mapping.tileK = k;
                best.mapping.coreSplitK = split;
                best.mapping.splitM = step.splitM;
                best.mapping.splitN = step.splitN;
                best.mapping.splitK = step.splitK;
                best.mapping.raster = raster;
            }
        }
    }

    const SearchMachine& machine_;
    const SearchedProduct& product_;
    const ArrayOfType& array_;
    ProductCost best_;
};

}  // namespace

std::string_view toText(Raster raster) {
    switch (raster) {
        case Raster::RowsFirst:
            return "rows first";
        case Raster::ColumnsFirst:
            return "columns first";
        case Raster::Square:
            return "square patches";
    }
    return {};
}

ProductCost searchProduct(const SearchMachine& machine, const SearchedProduct& product) {
    return Search(machine, product).run();
}

}  // namespace orrery
