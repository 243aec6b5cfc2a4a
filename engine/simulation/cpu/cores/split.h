#pragma once

// A kernel divided over cores, each with a piece of the result, as libraries divide it: a product into a grid of rows
// and columns (OpenBLAS, oneDNN, BLIS), a convolution into rows of the image and channels, rows of softmax and
// normalisation, heads of attention before their queries.

#include "simulation/cpu/core/kernels/kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::pipeline {

/// Pieces of `rows` × `columns`, the last ones less; `down` and `across` are how many cores the grid was made for.
struct Grid {
    std::int64_t rows = 1, columns = 1, down = 1, across = 1;
};
/// The grid whose largest piece is least, of equal ones the most square. Columns are divided by whole registers of so
/// many lanes.
Grid gridOf(std::int64_t rows, std::int64_t columns, std::int64_t lanes, std::int64_t cores);

/// One core's part: where it stands in the grid of all parts says with whom it shares operands.
struct KernelPart {
    KernelSpec spec;
    std::int64_t row = 0, column = 0;
};
/// At most one part for each core, and fewer where there is less to divide. Together they are the whole kernel, but
/// that inputs of convolutions overlap at their edges.
std::vector<KernelPart> partsOf(const KernelSpec& spec, const Machine& machine, int cores);

/// That fewer cores run than were asked for, and why, in one sentence.
std::string fewerCores(const KernelSpec& spec, int asked, int parts);

/// A part's arrays, by their order in its nest, as numbers of copies: cores that read the same have the same number.
/// `self`: of this core among all. What a core writes or packs is its own.
std::vector<std::int64_t> copiesOf(const LoopNest& nest, const std::string& kernel, std::int64_t row,
                                   std::int64_t column, std::int64_t self);
/// Bytes from one copy of the arrays of nests to the next: an odd number of pages, so that copies do not meet in the
/// same sets, and room for the longest.
std::uint64_t copyBytes(const std::vector<const LoopNest*>& nests);
/// What is added to the addresses of each operation for these copies.
std::vector<std::uint64_t> shiftsOf(const LoopNest& nest, const std::vector<std::int64_t>& copies,
                                    std::uint64_t copyBytes);
/// The nest with its arrays at the places of these copies.
LoopNest shifted(LoopNest nest, const std::vector<std::int64_t>& copies, std::uint64_t copyBytes);

}  // namespace orrery::pipeline
