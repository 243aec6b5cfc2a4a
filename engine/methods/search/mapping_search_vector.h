#pragma once

// Vector operators on a SearchMachine, after LLMCompass (section IV; softmax in its online form of Milakov and
// Gimelshein): main memory to cache, cache to cores and computing one after another, tiles of whole rows where they
// fit. Each core has its share of the cache's bandwidth (the authors' code gives every core all of it).

#include "methods/search/mapping_search_machine.h"

namespace orrery {

struct VectorCost {
    double cycles = 0;
    double dramCycles = 0, cacheCycles = 0, computeCycles = 0;
    double tileM = 0, tileN = 0, batches = 0;  ///< 0 where it has no tiles
};

/// `rows` softmaxes over `columns` elements.
VectorCost searchSoftmax(const SearchMachine& machine, std::int64_t rows, std::int64_t columns, DType type);
/// Layer or RMS normalization: mean, variance and output are seven operations per element; the row is read again for
/// each where it does not fit a core.
VectorCost searchNormalization(const SearchMachine& machine, std::int64_t rows, std::int64_t columns, DType type);
/// Element by element: bytes to and from main memory, then through the cache, beside `operations` per element, of them
/// `exponentials` exponentials.
VectorCost streamElements(const SearchMachine& machine, double elements, double bytes, double operations,
                          double exponentials, DType type);

}  // namespace orrery
