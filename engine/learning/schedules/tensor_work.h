#pragma once

// What a tensor operator computes, read from the words of a tuning log.

#include "base/diagnostic.h"

#include <string_view>

namespace orrery {

/// A convolution, or a matrix product as one of 1 × 1: `batch` products of `rows` × `inputs` with `inputs` × `outputs`.
struct TensorWork {
    double batch = 1, rows = 1, columns = 1;  ///< of the output
    double inputRows = 1, inputColumns = 1;
    double inputs = 1, outputs = 1;  ///< channels
    double kernelRows = 1, kernelColumns = 1, stride = 1;
    double groups = 1;
    double elementBytes = 4;
    bool product = false, depthwise = false, winograd = false, transposed = false;

    double reduction() const { return inputs / groups * kernelRows * kernelColumns; }
    double flops() const;  ///< a multiply-add counts twice; of the direct algorithm
    double bytes() const;  ///< inputs, weights and outputs once
};

/// From TVM's template and its arguments: `conv2d_nchw.cuda` of `1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1
/// 1);(1 1);float32`: tensors with their type, then stride, padding, dilation. Blocked layouts (`NCHWc`) count as their
/// whole. Fails with `schedules.workload`.
Expected<TensorWork> readTensorWork(std::string_view task, std::string_view workload);

}  // namespace orrery
