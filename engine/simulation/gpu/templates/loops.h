#pragma once

// Kernels as a compiler makes them of plain loops, an element or a row per thread: what GPU benchmarks are written as
// (AMD APP SDK, Polybench, Hetero-Mark; as MGPUSim's gpu_perf_scripts measure them). fp32 throughout.

#include "simulation/gpu/templates/kernel_template.h"

#include <optional>
#include <string_view>

namespace orrery::gpusim {

/// Which kernel, and its sizes; those that a kernel has no use for are not looked at.
struct LoopSpec {
    enum class Kind : std::uint8_t {
        VectorAdd,       ///< `n` sums of two vectors
        Relu,            ///< `n` elements
        Fir,             ///< `n` outputs of a filter of `taps`
        Transpose,       ///< an `n` × `n` matrix by tiles of 64 × 64 in shared memory
        RowProducts,     ///< a row of an `n` × `n` matrix per thread, times a vector; the sum is stored each time
        ColumnProducts,  ///< the same by columns
        Walsh,           ///< one pass of a fast Walsh transform of `n` elements, pairs `step` apart
        TiledProduct,    ///< `n` × `n` × `n`, 4 × 4 sums of a thread, a tile of A copied through memory
        Convolution,     ///< an `n` × `n` image by a mask of `taps` × `taps`
    };
    Kind kind = Kind::VectorAdd;
    std::int64_t n = 1;
    int taps = 1;
    std::int64_t step = 1;
    int binaryVersion = 942;
};

/// Fails with `gpu.template` where a size is out of range: a multiple of 64 for Transpose, of 32 for TiledProduct.
Expected<KernelTemplatePtr> loopTemplate(const LoopSpec& spec);

/// `vector-add`, `relu`, `fir`, `transpose`, `row-products`, `column-products`, `walsh`, `tiled-product`,
/// `convolution`; nothing for another word.
std::optional<LoopSpec::Kind> loopKindOf(std::string_view word);
std::string_view wordOf(LoopSpec::Kind kind);

}  // namespace orrery::gpusim
