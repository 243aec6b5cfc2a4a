#include "simulation/cpu/core/kernels/parts.h"

#include <algorithm>

namespace orrery::pipeline::parts {

// Channels in blocks of registers, as oneDNN's direct kernels have them (jit_uni_dw_conv): each lane is a channel, a
// tile is `rows` pixels of a row by `vectors` registers of channels, and nothing is broadcast or summed across lanes.
void depthwise(NestWriter& out, const Target& target, const KernelSpec& spec) {
    const std::int64_t c = spec.size("c"), h = spec.size("h"), w = spec.size("w"), r = spec.size("r"),
                       step = spec.size("stride");
    const std::int64_t oh = std::max<std::int64_t>(1, (h - r) / step + 1),
                       ow = std::max<std::int64_t>(1, (w - r) / step + 1);
    const std::int64_t lanes = target.lanes, e = target.element;
    const std::int64_t padded = (c + lanes - 1) / lanes * lanes;
    const auto input = out.array(static_cast<std::uint64_t>(padded * h * w * e), ArrayUse::Input);
    const auto weights = out.array(static_cast<std::uint64_t>(padded * r * r * e));
    const auto output = out.array(static_cast<std::uint64_t>(padded * oh * ow * e));
    for (const Piece& block : piecesOf(padded, lanes * target.vectors)) {
        const int db = out.open(static_cast<std::uint64_t>(block.trips));
        const std::int64_t vectors = block.size / lanes, pixel = block.size * e;
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
            for (std::int64_t s = 0; s < r; ++s) {
                for (std::int64_t j = 0; j < vectors; ++j) {
                    const auto weight = static_cast<std::uint8_t>(V + 64 + j);
                    out.load(weight, target.bytes,
                             weights.at(block.begins * r * r * e + s * pixel + j * target.bytes)
                                 .by(db, pixel * r * r)
                                 .by(dr, r * pixel));
                    for (std::int64_t i = 0; i < x.size; ++i) {
                        const auto one = static_cast<std::uint8_t>(V + 70 + (i & 1));
                        out.load(
                            one, target.bytes,
                            input.at(block.begins * h * w * e + ((x.begins + i) * step + s) * pixel + j * target.bytes)
                                .by(db, pixel * h * w)
                                .by(dy, step * w * pixel)
                                .by(dx, x.size * step * pixel)
                                .by(dr, w * pixel));
                        out.compute(OpKind::FpFma, target.bytes, acc(i, j), {acc(i, j), one, weight});
                        out.fuse();
                    }
                }
            }
            out.close();
            for (std::int64_t i = 0; i < x.size; ++i) {
                for (std::int64_t j = 0; j < vectors; ++j) {
                    out.store(acc(i, j), target.bytes,
                              output.at(block.begins * oh * ow * e + (x.begins + i) * pixel + j * target.bytes)
                                  .by(db, pixel * oh * ow)
                                  .by(dy, ow * pixel)
                                  .by(dx, x.size * pixel));
                }
            }
            out.close();
        }
        out.close();
        out.close();
    }
}

}  // namespace orrery::pipeline::parts
