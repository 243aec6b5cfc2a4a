#pragma once

// `mapping-search`: every kernel by the best mapping that a search finds (Zhang et al., "LLMCompass", ISCA 2024). No
// number is fitted but a constant per launch, which the authors measure for each operator and device, and which
// calibrations bring here.
//
// price() of a matrix product searches the first time that it is asked (0.1 to 1 ms) and remembers in a table of fixed
// size; later calls take well below a microsecond. It allocates nothing either way and may be called from many threads.

#include "methods/search/mapping_search_gemm.h"
#include "methods/search/mapping_search_vector.h"
#include "methods/kernel_method.h"

namespace orrery {

/// One kernel on the machine, without its constant.
struct SearchedKernel {
    double seconds = 0;   ///< 0: not covered
    ProductCost product;  ///< of products, convolutions and of Q·Kᵀ
    ProductCost second;   ///< of probabilities · V
    VectorCost vector;    ///< of vector operators and of attention's softmax
    Bound bound;
};

/// Kernel as the product that it amounts to; attention: `second` false for Q·Kᵀ, true for probabilities · V.
SearchedProduct productOf(const Kernel& kernel, bool second = false);

/// Memory levels of the bounds: main memory is 0, `cacheLevel` the shared cache.
SearchedKernel searchKernel(const SearchMachine& machine, const Kernel& kernel, std::int16_t cacheLevel = -1);

KernelMethod mappingSearchMethod();

}  // namespace orrery
