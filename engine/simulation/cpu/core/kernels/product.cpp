#include "simulation/cpu/core/kernels/parts.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline::parts {

namespace {

struct Blocks {
    std::int64_t mc, nc, kc;
};

// As BLIS chooses: a strip of B in half of the first cache, a block of A in half of the second, a panel of B in half of
// the third.
Blocks blocksOf(const Target& target, std::int64_t rows, std::int64_t columns) {
    const auto& caches = target.machine.caches;
    const double first = caches.empty() ? 32768 : caches[0].bytes;
    const double second = caches.size() > 1 ? caches[1].bytes : 8 * first;
    const double third = caches.size() > 2 ? caches[2].bytes : 4 * second;
    const auto down = [](double value, std::int64_t multiple) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(value) / multiple) * multiple;
    };
    Blocks blocks{};
    blocks.kc = std::clamp<std::int64_t>(down(first / 2 / target.element / static_cast<double>(columns), 32), 64, 512);
    blocks.mc = down(std::min(1024.0, second / 2 / target.element / static_cast<double>(blocks.kc)), rows);
    blocks.nc = down(std::min(4096.0, third / 2 / target.element / static_cast<double>(blocks.kc)), columns);
    return blocks;
}

// Copies a block of `strips` strips, `width` elements wide and `depth` deep, so that it lies in the order of use.
void pack(NestWriter& out, const Target& target, std::int64_t strips, std::int64_t width, std::int64_t depth,
          const AffineAddress& from, std::int64_t alongStrip, std::int64_t alongWidth, std::int64_t alongDepth,
          const AffineAddress& to) {
    const int d0 = out.open(static_cast<std::uint64_t>(strips));
    const int d1 = out.open(static_cast<std::uint64_t>(depth));
    const auto source = from.by(d0, alongStrip).by(d1, alongDepth);
    const std::int64_t e = target.element;
    const auto target0 = to.by(d0, width * depth * e).by(d1, width * e);
    const bool wide = alongWidth == e;
    const std::int64_t step = wide ? target.lanes : 1;
    for (std::int64_t i = 0; i < width; i += step) {
        const int bytes = static_cast<int>(std::min(step, width - i) * e);
        const auto reg = static_cast<std::uint8_t>(V + i / step % 16);
        out.load(reg, bytes, source.at(i * alongWidth));
        out.store(reg, bytes, target0.at(i * e));
    }
    out.close();
    out.close();
}

// A tile of `rows` × `vectors` registers over `depth` steps of the reduction, from packed strips.
void tile(NestWriter& out, const Target& target, std::int64_t rows, std::int64_t vectors, std::int64_t depth,
          const AffineAddress& a, std::int64_t aStep, const AffineAddress& b, std::int64_t bStep,
          const AffineAddress& c, std::int64_t cRow) {
    const auto acc = [&](std::int64_t i, std::int64_t j) { return static_cast<std::uint8_t>(V + i * vectors + j); };
    const auto weight = [&](std::int64_t j) { return static_cast<std::uint8_t>(V + 64 + j); };
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < vectors; ++j) out.load(acc(i, j), target.bytes, c.at(i * cRow + j * target.bytes));
    }
    for (const Piece& piece : piecesOf(depth, 4)) {
        const int d = out.open(static_cast<std::uint64_t>(piece.trips));
        for (std::int64_t p = 0; p < piece.size; ++p) {
            const auto at = [&](const AffineAddress& base, std::int64_t step) {
                return base.at((piece.begins + p) * step).by(d, piece.size * step);
            };
            for (std::int64_t j = 0; j < vectors; ++j)
                out.load(weight(j), target.bytes, at(b, bStep).at(j * target.bytes));
            for (std::int64_t i = 0; i < rows; ++i) {
                const auto one = static_cast<std::uint8_t>(V + 70 + (i & 1));
                out.load(one, target.element, at(a, aStep).at(i * target.element));
                for (std::int64_t j = 0; j < vectors; ++j)
                    out.compute(OpKind::FpFma, target.bytes, acc(i, j), {acc(i, j), one, weight(j)});
            }
        }
        out.close();
    }
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < vectors; ++j)
            out.store(acc(i, j), target.bytes, c.at(i * cRow + j * target.bytes));
    }
}

// Rows of A for tiles: where they lie and how they go on with the reduction.
struct TileRows {
    AffineAddress at;
    std::int64_t rows = 32;            ///< that there are
    std::int64_t row = 64, step = 64;  ///< bytes from row to row, and of one step
};

// The same of 32 × 32 results in four tile registers; a step takes 32 numbers of 16 bits.
void matrixTile(NestWriter& out, std::int64_t depth, const TileRows& a, const AffineAddress& b, const AffineAddress& c,
                std::int64_t cRow) {
    const auto tileRegister = [](int i) { return static_cast<std::uint8_t>(V + 100 + i); };
    const auto move = [&](bool stores, std::uint8_t reg, const AffineAddress& at, std::int64_t row,
                          std::int64_t rows = 16) {
        for (int r = 0; r < rows; ++r) {
            if (stores)
                out.store(reg, 64, at.at(r * row));
            else
                out.load(reg, 64, at.at(r * row), r > 0);
            if (r > 0) out.join();
        }
    };
    for (int i = 0; i < 4; ++i) move(false, tileRegister(i), c.at(i / 2 * 16 * cRow + i % 2 * 64), cRow);
    const int d = out.open(static_cast<std::uint64_t>((depth + 31) / 32));
    for (int i = 0; i < 2; ++i) {
        move(false, tileRegister(4 + i), a.at.at(i * 16 * a.row).by(d, a.step), a.row,
             std::clamp<std::int64_t>(a.rows - i * 16, 1, 16));
        move(false, tileRegister(6 + i), b.at(i * 1024).by(d, 2048), 64);
    }
    for (int i = 0; i < 4; ++i) {
        out.compute(OpKind::Matrix, 64, tileRegister(i),
                    {tileRegister(i), tileRegister(4 + i / 2), tileRegister(6 + i % 2)});
    }
    out.close();
    for (int i = 0; i < 4; ++i) move(true, tileRegister(i), c.at(i / 2 * 16 * cRow + i % 2 * 64), cRow);
}

}  // namespace

std::vector<Piece> piecesOf(std::int64_t total, std::int64_t block) {
    std::vector<Piece> pieces;
    const std::int64_t full = total / block, rest = total % block;
    if (full > 0) pieces.push_back({full, block, 0});
    if (rest > 0) pieces.push_back({1, rest, full * block});
    return pieces;
}

void product(NestWriter& out, const Target& target, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
             const Matrix& b, const Matrix& c) {
    const std::int64_t rows = target.matrix ? 32 : target.rows;
    const std::int64_t columns = target.matrix ? 32 : static_cast<std::int64_t>(target.vectors) * target.lanes;
    // Tiles are read row by row: of 16-bit numbers A needs no packing.
    const bool inPlace = target.matrix && target.element == 2;
    const Blocks blocks = blocksOf(target, rows, columns);
    const std::int64_t most = std::min(k, blocks.kc), e = target.element;
    const auto up = [](std::int64_t value, std::int64_t multiple) {
        return (value + multiple - 1) / multiple * multiple;
    };
    const auto packedA = out.array(static_cast<std::uint64_t>(up(std::min(m, blocks.mc), rows) * up(most, 32) * e));
    const auto packedB = out.array(static_cast<std::uint64_t>(up(std::min(n, blocks.nc), columns) * up(most, 32) * e));
    for (const Piece& jc : piecesOf(n, blocks.nc)) {
        const int dj = out.open(static_cast<std::uint64_t>(jc.trips));
        for (const Piece& pc : piecesOf(k, blocks.kc)) {
            const int dp = out.open(static_cast<std::uint64_t>(pc.trips));
            const auto sourceB =
                b.at.at(jc.begins * b.column + pc.begins * b.row).by(dj, jc.size * b.column).by(dp, pc.size * b.row);
            for (const Piece& jr : piecesOf(jc.size, columns)) {
                pack(out, target, jr.trips, jr.size, pc.size, sourceB.at(jr.begins * b.column), jr.size * b.column,
                     b.column, b.row, packedB.at(jr.begins * pc.size * e));
            }
            for (const Piece& ic : piecesOf(m, blocks.mc)) {
                const int di = out.open(static_cast<std::uint64_t>(ic.trips));
                const auto sourceA = a.at.at(ic.begins * a.row + pc.begins * a.column)
                                         .by(di, ic.size * a.row)
                                         .by(dp, pc.size * a.column);
                for (const Piece& ir : piecesOf(inPlace ? 0 : ic.size, rows)) {
                    pack(out, target, ir.trips, ir.size, pc.size, sourceA.at(ir.begins * a.row), ir.size * a.row, a.row,
                         a.column, packedA.at(ir.begins * pc.size * e));
                }
                for (const Piece& jr : piecesOf(jc.size, columns)) {
                    const int dr = out.open(static_cast<std::uint64_t>(jr.trips));
                    for (const Piece& ir : piecesOf(ic.size, rows)) {
                        const int dq = out.open(static_cast<std::uint64_t>(ir.trips));
                        const auto stripA = packedA.at(ir.begins * pc.size * e).by(dq, ir.size * pc.size * e);
                        const auto stripB = packedB.at(jr.begins * pc.size * e).by(dr, jr.size * pc.size * e);
                        const auto corner =
                            c.at.at((jc.begins + jr.begins) * c.column + (ic.begins + ir.begins) * c.row)
                                .by(dj, jc.size * c.column)
                                .by(dr, jr.size * c.column)
                                .by(di, ic.size * c.row)
                                .by(dq, ir.size * c.row);
                        if (target.matrix) {
                            const TileRows packed{stripA, 32, 64, 2048};
                            const TileRows lying{sourceA.at(ir.begins * a.row).by(dq, ir.size * a.row), ir.size, a.row};
                            matrixTile(out, pc.size, inPlace ? lying : packed, stripB, corner, c.row);
                        } else {
                            const std::int64_t vectors = (jr.size + target.lanes - 1) / target.lanes;
                            tile(out, target, ir.size, vectors, pc.size, stripA, ir.size * e, stripB, jr.size * e,
                                 corner, c.row);
                        }
                        out.close();
                    }
                    out.close();
                }
                out.close();
            }
            out.close();
        }
        out.close();
    }
}

// Channels last in blocks of one register; a tile is `rows` pixels of a row by `vectors` blocks of output channels.
void convolution(NestWriter& out, const Target& target, const KernelSpec& spec) {
    const std::int64_t c = spec.size("c"), k = spec.size("k"), h = spec.size("h"), w = spec.size("w"),
                       r = spec.size("r"), step = spec.size("stride");
    const std::int64_t oh = std::max<std::int64_t>(1, (h - r) / step + 1),
                       ow = std::max<std::int64_t>(1, (w - r) / step + 1);
    const std::int64_t lanes = target.lanes, columns = lanes * target.vectors, e = target.element;
    const auto input = out.array(static_cast<std::uint64_t>(c * h * w * e), ArrayUse::Input);
    const auto weights = out.array(static_cast<std::uint64_t>(k * c * r * r * e));
    const auto output = out.array(static_cast<std::uint64_t>((k + lanes) * oh * ow * e));
    for (const Piece& block : piecesOf(k, columns)) {
        const int db = out.open(static_cast<std::uint64_t>(block.trips));
        const std::int64_t vectors = (block.size + lanes - 1) / lanes;
        const int dy = out.open(static_cast<std::uint64_t>(oh));
        for (const Piece& x : piecesOf(ow, target.rows)) {
            const int dx = out.open(static_cast<std::uint64_t>(x.trips));
            const auto acc = [&](std::int64_t i, std::int64_t j) {
                return static_cast<std::uint8_t>(V + i * vectors + j);
            };
            for (std::int64_t i = 0; i < x.size; ++i) {
                for (std::int64_t j = 0; j < vectors; ++j)
                    out.compute(OpKind::VectorInteger, target.bytes, acc(i, j), {});
            }
            const int dr = out.open(static_cast<std::uint64_t>(r));
            const int dc = out.open(static_cast<std::uint64_t>(c));
            for (std::int64_t s = 0; s < r; ++s) {
                for (std::int64_t j = 0; j < vectors; ++j) {
                    out.load(static_cast<std::uint8_t>(V + 64 + j), target.bytes,
                             weights.at((block.begins * c * r * r + s * block.size) * e + j * target.bytes)
                                 .by(db, block.size * c * r * r * e)
                                 .by(dr, c * r * block.size * e)
                                 .by(dc, r * block.size * e));
                }
                for (std::int64_t i = 0; i < x.size; ++i) {
                    const auto one = static_cast<std::uint8_t>(V + 70 + (i & 1));
                    out.load(one, target.element,
                             input.at(((x.begins + i) * step + s) * c * e)
                                 .by(dy, step * w * c * e)
                                 .by(dx, x.size * step * c * e)
                                 .by(dr, w * c * e)
                                 .by(dc, e));
                    for (std::int64_t j = 0; j < vectors; ++j) {
                        out.compute(OpKind::FpFma, target.bytes, acc(i, j),
                                    {acc(i, j), one, static_cast<std::uint8_t>(V + 64 + j)});
                    }
                }
            }
            out.close();
            out.close();
            for (std::int64_t i = 0; i < x.size; ++i) {
                for (std::int64_t j = 0; j < vectors; ++j) {
                    out.store(acc(i, j), target.bytes,
                              output.at((x.begins + i) * k * e + block.begins * e + j * target.bytes)
                                  .by(db, block.size * e)
                                  .by(dy, ow * k * e)
                                  .by(dx, x.size * k * e));
                }
            }
            out.close();
        }
        out.close();
        out.close();
    }
}

}  // namespace orrery::pipeline::parts
