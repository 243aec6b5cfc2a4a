#pragma once

// The best mapping of one matrix product onto a SearchMachine, found by search (LLMCompass, section IV): tiles that
// stand in the shared cache, tiles of the cores inside them, orders of the loops, double buffering, splits of the
// reduction. Time is counted step by step as there:
//
//   main memory to cache:  read(first) + Σ max(read next, compute this) + write
//   cache to cores:        the same over batches of as many tiles as there are cores; what several cores read counts
//                          once, and what is no longer read is not read again
//   core:                  systolicCycles() of its sub-cores, plus adding what they split
//
// Sums over steps are closed forms (tiles of one level are equal), so that one mapping costs some 10 ns; a mapping
// whose bound is above the best one found is not looked at.

#include "methods/search/mapping_search_machine.h"

namespace orrery {

struct SearchedProduct {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    DType type = DType::F16;                    ///< in which it multiplies
    double aBytes = 2, bBytes = 2, cBytes = 2;  ///< per element
};

enum class Raster : std::uint8_t { RowsFirst, ColumnsFirst, Square };
std::string_view toText(Raster raster);

struct ProductMapping {
    std::int64_t cacheM = 0, cacheN = 0, cacheK = 0, cacheBatch = 1;  ///< tile in the cache
    std::int64_t tileM = 0, tileN = 0, tileK = 0;                     ///< tile of a core
    std::int64_t coreSplitK = 1;                                      ///< cores that share one output tile
    std::int16_t splitM = 1, splitN = 1, splitK = 1;                  ///< of a core's tile over its sub-cores
    std::array<char, 4> order{"mnk"};                                 ///< of cache tiles, innermost last
    Raster raster = Raster::RowsFirst;
    bool doubleBuffered = true;
};

struct ProductCost {
    ProductMapping mapping;
    double cycles = 0;         ///< 0: nothing multiplies this type
    double dramCycles = 0;     ///< of reading and writing main memory
    double computeCycles = 0;  ///< of all cache tiles, waiting for the cache included
    double arrayCycles = 0;    ///< of them the cores' own
    double batches = 0;        ///< of cores, over the whole product
    double dramBytes = 0;
    std::int64_t evaluated = 0;  ///< mappings that were costed
};

/// Deterministic; allocates nothing. Some 0.1 to 1 ms.
ProductCost searchProduct(const SearchMachine& machine, const SearchedProduct& product);

}  // namespace orrery
