#pragma once

// `orrery-cli gpu --kernel`: words to a kernel, and it to instructions on a drawn GPU.

#include "methods/gpu/gpu_kernels.h"

#include <string>

namespace orrery::cli {

struct DrawnKernel {
    gpusim::KernelTemplatePtr kernel;
    KernelProgram loop;       ///< the same at any length of its main loop
    gpusim::Machine machine;  ///< with the launch overhead of the drawing
    std::string program;      ///< in words
};

/// `gemm m=1024 n=1024 k=1024 fp16`: a kind, fields as in tables of references, and a type; `reduce elements=…` and
/// loops
/// (`vector-add n=…`, templates/loops.h) too.
/// Fails with `gpu.kernel` naming the word.
Expected<DrawnKernel> drawnKernel(const std::string& text, const std::string& hardware);

}  // namespace orrery::cli
