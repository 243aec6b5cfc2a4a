#pragma once

// Kernels without products: element by element, rows (softmax, normalisation), reductions. Each thread moves 16 bytes
// at a time, as vectorised kernels of libraries do.

#include "simulation/gpu/templates/kernel_template.h"

namespace orrery::gpusim {

struct ElementsSpec {
    std::int64_t elements = 1;
    double readBytes = 2, writeBytes = 2;  ///< of one element, over all operands
    double operations = 1, specials = 0;   ///< of one element: on vector units, and on special units (exp, 1/x)
    int unroll = 2;                        ///< pieces of 16 bytes per thread and operand that are read at once
    int binaryVersion = 80;
};
KernelTemplatePtr elementsTemplate(const ElementsSpec& spec);

/// A row per block, or per warp where it is short; it is read once where it fits registers.
struct RowsSpec {
    std::int64_t rows = 1, columns = 1;
    double readBytes = 2, writeBytes = 2;  ///< of one element
    double operations = 4, specials = 1;   ///< of one element
    int reductions = 2;                    ///< over the row: maximum and sum, mean and variance
    int binaryVersion = 80;
};
KernelTemplatePtr rowsTemplate(const RowsSpec& spec);

/// The sum of all elements: per block by a tree, blocks by an atomic addition.
struct ReduceSpec {
    std::int64_t elements = 1;
    double bytes = 4;   ///< of one element
    int perThread = 4;  ///< pieces of 16 bytes
    int binaryVersion = 80;
};
KernelTemplatePtr reduceTemplate(const ReduceSpec& spec);

}  // namespace orrery::gpusim
