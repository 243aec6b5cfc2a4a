#include "simulation/cpu/core/kernels/parts.h"

#include <algorithm>

namespace orrery::pipeline::parts {

namespace {

constexpr std::int64_t streams = 4;  // rows of B that are read side by side: enough sums to hide a multiply-add

std::uint8_t reg(std::int64_t base, std::int64_t i) {
    return static_cast<std::uint8_t>(V + base + i);
}

// The sum of the lanes of a register.
void sumLanes(NestWriter& out, const Target& target, std::uint8_t sum) {
    for (int lanes = target.lanes; lanes > 1; lanes /= 2) {
        out.compute(OpKind::Shuffle, target.bytes, V + 100, {sum});
        out.compute(OpKind::FpAdd, target.bytes, sum, {sum, V + 100});
    }
}

// A register of B: narrow numbers are spread over its lanes and converted.
void loadNumbers(NestWriter& out, std::uint8_t to, int lanes, int bytes, const AffineAddress& from) {
    out.load(to, lanes * bytes, from);
    if (bytes == 4) return;
    out.compute(OpKind::Shuffle, lanes * 4, to, {to});
    out.fuse();
    out.compute(OpKind::Convert, lanes * 4, to, {to});
}

}  // namespace

void dotProducts(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                 const Matrix& b, const Matrix& c, int bytes) {
    const std::int64_t steps = m == 1 ? 2 : 1;
    const auto sum = [&](std::int64_t i, std::int64_t j, std::int64_t s) {
        return reg(0, (i * streams + j) * steps + s);
    };
    for (const Piece& rows : piecesOf(n, streams)) {
        const int dn = out.open(static_cast<std::uint64_t>(rows.trips));
        for (std::int64_t i = 0; i < m * streams * steps; ++i)
            out.compute(OpKind::VectorInteger, target.bytes, reg(0, i), {});
        for (const Piece& turn : piecesOf(k, steps * target.lanes)) {
            const int dk = out.open(static_cast<std::uint64_t>(turn.trips));
            for (std::int64_t s = 0; s * target.lanes < turn.size; ++s) {
                const std::int64_t at = turn.begins + s * target.lanes;
                const int lanes = static_cast<int>(std::min<std::int64_t>(target.lanes, turn.size - s * target.lanes));
                for (std::int64_t i = 0; i < m; ++i)
                    out.load(reg(64, i), lanes * 4, a.at.at(i * a.row + at * 4).by(dk, turn.size * 4));
                for (std::int64_t j = 0; j < rows.size; ++j) {
                    loadNumbers(out, reg(80, j), lanes, bytes,
                                b.at.at((rows.begins + j) * b.column + at * bytes)
                                    .by(dn, rows.size * b.column)
                                    .by(dk, turn.size * bytes));
                    for (std::int64_t i = 0; i < m; ++i) {
                        out.compute(OpKind::FpFma, lanes * 4, sum(i, j, s), {sum(i, j, s), reg(64, i), reg(80, j)});
                        if (m == 1 && bytes == 4) out.fuse();
                    }
                }
            }
            out.close();
        }
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < rows.size; ++j) {
                if (steps > 1) out.compute(OpKind::FpAdd, target.bytes, sum(i, j, 0), {sum(i, j, 0), sum(i, j, 1)});
                sumLanes(out, target, sum(i, j, 0));
                out.store(sum(i, j, 0), 4, c.at.at(i * c.row + (rows.begins + j) * 4).by(dn, rows.size * 4));
            }
        }
        out.close();
    }
}

void weightedSums(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                  const Matrix& a, const Matrix& b, const Matrix& c) {
    const std::int64_t most = 8 / m;
    for (const Piece& columns : piecesOf(n, most * target.lanes)) {
        const int dn = out.open(static_cast<std::uint64_t>(columns.trips));
        const std::int64_t vectors = (columns.size + target.lanes - 1) / target.lanes;
        const auto lanesOf = [&](std::int64_t j) {
            return static_cast<int>(std::min<std::int64_t>(target.lanes, columns.size - j * target.lanes));
        };
        for (std::int64_t i = 0; i < m * vectors; ++i) out.compute(OpKind::VectorInteger, target.bytes, reg(0, i), {});
        const int dk = out.open(static_cast<std::uint64_t>(k));
        for (std::int64_t i = 0; i < m; ++i) out.load(reg(64, i), 4, a.at.at(i * a.row).by(dk, a.column));
        for (std::int64_t j = 0; j < vectors; ++j) {
            out.load(reg(80, j), lanesOf(j) * 4,
                     b.at.at((columns.begins + j * target.lanes) * 4).by(dn, columns.size * 4).by(dk, b.row));
            for (std::int64_t i = 0; i < m; ++i) {
                const auto sum = reg(0, i * vectors + j);
                out.compute(OpKind::FpFma, lanesOf(j) * 4, sum, {sum, reg(64, i), reg(80, j)});
                if (m == 1) out.fuse();
            }
        }
        out.close();
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < vectors; ++j)
                out.store(reg(0, i * vectors + j), lanesOf(j) * 4,
                          c.at.at(i * c.row + (columns.begins + j * target.lanes) * 4).by(dn, columns.size * 4));
        }
        out.close();
    }
}

}  // namespace orrery::pipeline::parts
