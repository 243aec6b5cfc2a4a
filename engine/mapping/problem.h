#pragma once

// What is computed, as an affine loop nest over named dimensions: C K P Q R S for a convolution, M N K for a product of
// matrices, and any other projection that is a sum of dimensions times constants.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// Upper bounds that let the evaluator keep its state in fixed arrays.
inline constexpr std::size_t maxNestDimensions = 16;
inline constexpr std::size_t maxNestTensors = 6;

/// One addend of a tensor's coordinate: dimension × coefficient (stride or dilation).
struct ProjectionTerm {
    std::uint8_t dimension = 0;
    std::int64_t coefficient = 1;
    bool operator==(const ProjectionTerm&) const = default;
};

/// One coordinate (rank) of a tensor: the sum of its terms. W = P·stride + R·dilation of an input, M of a result.
struct TensorRank {
    std::string name;
    std::vector<ProjectionTerm> terms;
    bool operator==(const TensorRank&) const = default;
};

/// A tensor of the nest (Timeloop: data space).
struct NestTensor {
    std::string name;
    std::vector<TensorRank> ranks;
    bool written = false;  ///< read-modify-write; at least one tensor is
    bool operator==(const NestTensor&) const = default;
};

struct NestProblem {
    std::string name;
    std::vector<std::string> dimensions;
    std::vector<std::int64_t> extents;  ///< parallel to dimensions
    std::vector<NestTensor> tensors;

    double operations() const;  ///< multiply-accumulates: the product of all extents
    /// Distinct coordinates of a tensor, its bounding box for sums of terms.
    double size(std::size_t tensor) const;
    bool operator==(const NestProblem&) const = default;
};

}  // namespace orrery
