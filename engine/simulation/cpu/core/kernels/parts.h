#pragma once

// What kernels are put together from.

#include "simulation/cpu/core/kernels/kernel.h"

namespace orrery::pipeline::parts {

/// Registers and lanes that an instruction set has.
struct Target {
    const Machine& machine;
    std::string set;
    int bytes = 4;        ///< of a register
    int element = 4;      ///< bytes of a number: 2 where products are computed in fp16
    int lanes = 1;        ///< numbers of a register
    int rows = 4;         ///< of a tile of a product in registers
    int vectors = 2;      ///< its columns, in registers
    bool matrix = false;  ///< AMX
};
Target targetOf(const Machine& machine, const std::string& set);

/// A matrix of the target's numbers (16-bit ones where tiles are multiplied): bytes from row to row and from column to
/// column.
struct Matrix {
    AffineAddress at;
    std::int64_t row = 0, column = 4;
};

/// c += a · b with packing, blocked for the caches.
void product(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
             const Matrix& b, const Matrix& c);
/// The same of at most `fewRows` rows without packing, where the numbers of b's columns lie side by side, `bytes` each.
/// Each result is the dot product of a row with a column of b, which are read once.
void dotProducts(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                 const Matrix& b, const Matrix& c, int bytes = 4);
/// The same where the numbers of b's rows lie side by side: rows of b are weighted and summed.
void weightedSums(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                  const Matrix& a, const Matrix& b, const Matrix& c);
void convolution(NestWriter& out, const Target& target, const KernelSpec& spec);
void depthwise(NestWriter& out, const Target& target, const KernelSpec& spec);
/// `rows` rows of `columns`, `pitch` bytes from row to row.
void softmax(NestWriter& out, const Target& target, std::int64_t rows, std::int64_t columns, const AffineAddress& from,
             const AffineAddress& to, std::int64_t pitch);
void normalisation(NestWriter& out, const Target& target, std::int64_t rows, std::int64_t columns);
void elementwise(NestWriter& out, const Target& target, const std::string& what, std::int64_t count);
void attention(NestWriter& out, const Target& target, const KernelSpec& spec);

/// total = full · block + rest, each piece with where it begins.
struct Piece {
    std::int64_t trips, size, begins;
};
std::vector<Piece> piecesOf(std::int64_t total, std::int64_t block);

inline constexpr std::uint8_t V = FirstVectorRegister;

}  // namespace orrery::pipeline::parts
