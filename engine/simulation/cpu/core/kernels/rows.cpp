#include "simulation/cpu/core/kernels/parts.h"

#include <algorithm>

namespace orrery::pipeline::parts {

namespace {

constexpr std::int64_t unrolled = 4;

// One loop over a row, some registers a turn: `body(register number, its bytes, offset, depth)`.
template <class Body>
void along(NestWriter& out, const Target& target, std::int64_t columns, Body&& body) {
    const std::int64_t step = unrolled * target.lanes;
    for (const Piece& piece : piecesOf(columns, step)) {
        const int depth = out.open(static_cast<std::uint64_t>(piece.trips));
        for (std::int64_t i = 0; i < piece.size; i += target.lanes) {
            const int bytes = static_cast<int>(std::min<std::int64_t>(target.lanes, piece.size - i)) * target.element;
            body(static_cast<int>(i / target.lanes), bytes, (piece.begins + i) * target.element, depth,
                 piece.size * target.element);
        }
        out.close();
    }
}

// The sum or the largest of `unrolled` registers and of the lanes of one.
void reduce(NestWriter& out, const Target& target, std::uint8_t first) {
    for (int i = 1; i < unrolled; ++i) {
        out.compute(OpKind::FpAdd, target.bytes, first, {first, static_cast<std::uint8_t>(first + i)});
    }
    for (int lanes = target.lanes; lanes > 1; lanes /= 2) {
        out.compute(OpKind::Shuffle, target.bytes, V + 50, {first});
        out.compute(OpKind::FpAdd, target.bytes, first, {first, V + 50});
    }
}

// e^x: a power of two by its exponent, the rest by a polynomial of degree five (Cephes).
void exponential(NestWriter& out, int bytes, std::uint8_t x, std::uint8_t t) {
    const auto n = static_cast<std::uint8_t>(t + 1);
    out.compute(OpKind::FpMultiply, bytes, n, {x, V + 60});
    out.compute(OpKind::Convert, bytes, n, {n});
    out.compute(OpKind::FpFma, bytes, x, {x, n, V + 61});
    out.compute(OpKind::FpFma, bytes, x, {x, n, V + 62});
    out.compute(OpKind::FpFma, bytes, t, {x, V + 63, V + 63});
    for (int i = 0; i < 4; ++i) out.compute(OpKind::FpFma, bytes, t, {t, x, V + 63});
    out.compute(OpKind::Convert, bytes, n, {n});
    out.compute(OpKind::VectorInteger, bytes, n, {n});
    out.compute(OpKind::FpMultiply, bytes, x, {t, n});
}

}  // namespace

void softmax(NestWriter& out, const Target& target, std::int64_t rows, std::int64_t columns, const AffineAddress& from,
             const AffineAddress& to, std::int64_t pitch) {
    const int row = out.open(static_cast<std::uint64_t>(rows));
    const auto reg = [](int base, int i) { return static_cast<std::uint8_t>(V + base + i); };
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(4, i), bytes, from.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpAdd, bytes, reg(0, i), {reg(0, i), reg(4, i)});
        out.fuse();
    });
    reduce(out, target, V);
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(8, i), bytes, from.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpAdd, bytes, reg(8, i), {reg(8, i), V});
        exponential(out, bytes, reg(8, i), reg(20, 2 * i));
        out.compute(OpKind::FpAdd, bytes, reg(12, i), {reg(12, i), reg(8, i)});
        out.store(reg(8, i), bytes, to.at(offset).by(row, pitch).by(depth, turn));
    });
    reduce(out, target, V + 12);
    out.compute(OpKind::FpDivide, 4, V + 12, {V + 12});
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(8, i), bytes, to.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpMultiply, bytes, reg(8, i), {reg(8, i), V + 12});
        out.fuse();
        out.store(reg(8, i), bytes, to.at(offset).by(row, pitch).by(depth, turn));
    });
    out.close();
}

void normalisation(NestWriter& out, const Target& target, std::int64_t rows, std::int64_t columns) {
    const std::int64_t pitch = columns * 4;
    const auto bytesOf = static_cast<std::uint64_t>(rows * pitch);
    const auto from = out.array(bytesOf, ArrayUse::Input), to = out.array(bytesOf),
               scale = out.array(static_cast<std::uint64_t>(pitch)),
               shift = out.array(static_cast<std::uint64_t>(pitch));
    const auto reg = [](int base, int i) { return static_cast<std::uint8_t>(V + base + i); };
    const int row = out.open(static_cast<std::uint64_t>(rows));
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(4, i), bytes, from.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpAdd, bytes, reg(0, i), {reg(0, i), reg(4, i)});
        out.fuse();
    });
    reduce(out, target, V);
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(8, i), bytes, from.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpAdd, bytes, reg(8, i), {reg(8, i), V});
        out.compute(OpKind::FpFma, bytes, reg(12, i), {reg(8, i), reg(8, i), reg(12, i)});
    });
    reduce(out, target, V + 12);
    out.compute(OpKind::FpSqrt, 4, V + 12, {V + 12});
    out.compute(OpKind::FpDivide, 4, V + 12, {V + 12});
    along(out, target, columns, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(8, i), bytes, from.at(offset).by(row, pitch).by(depth, turn));
        out.compute(OpKind::FpAdd, bytes, reg(8, i), {reg(8, i), V});
        out.compute(OpKind::FpMultiply, bytes, reg(8, i), {reg(8, i), V + 12});
        out.load(reg(20, i), bytes, scale.at(offset).by(depth, turn));
        out.load(reg(24, i), bytes, shift.at(offset).by(depth, turn));
        out.compute(OpKind::FpFma, bytes, reg(8, i), {reg(8, i), reg(20, i), reg(24, i)});
        out.fuse();
        out.store(reg(8, i), bytes, to.at(offset).by(row, pitch).by(depth, turn));
    });
    out.close();
}

void elementwise(NestWriter& out, const Target& target, const std::string& what, std::int64_t count) {
    const auto bytesOf = static_cast<std::uint64_t>(count * target.element);
    const auto a = out.array(bytesOf, ArrayUse::Input), b = what == "add" ? out.array(bytesOf, ArrayUse::Input) : a,
               c = out.array(bytesOf);
    const auto reg = [](int base, int i) { return static_cast<std::uint8_t>(V + base + i); };
    along(out, target, count, [&](int i, int bytes, std::int64_t offset, int depth, std::int64_t turn) {
        out.load(reg(0, i), bytes, a.at(offset).by(depth, turn));
        if (what == "add") {
            out.load(reg(4, i), bytes, b.at(offset).by(depth, turn));
            out.compute(OpKind::FpAdd, bytes, reg(0, i), {reg(0, i), reg(4, i)});
            out.fuse();
        } else if (what == "relu") {
            out.compute(OpKind::FpAdd, bytes, reg(0, i), {reg(0, i)});
        } else {  // silu: x / (1 + e^−x)
            out.compute(OpKind::VectorInteger, bytes, reg(8, i), {reg(0, i)});
            exponential(out, bytes, reg(8, i), reg(20, 2 * i));
            out.compute(OpKind::FpAdd, bytes, reg(8, i), {reg(8, i)});
            out.compute(OpKind::FpDivide, bytes, reg(0, i), {reg(0, i), reg(8, i)});
        }
        out.store(reg(0, i), bytes, c.at(offset).by(depth, turn));
    });
}

void attention(NestWriter& out, const Target& target, const KernelSpec& spec) {
    const std::int64_t heads = spec.size("heads"), q = spec.size("q"), kv = spec.size("kv"), d = spec.size("d");
    const auto bytesOf = [&](std::int64_t rows, std::int64_t columns) {
        return static_cast<std::uint64_t>(heads * rows * columns * 4);
    };
    const auto query = out.array(bytesOf(q, d), ArrayUse::Input), key = out.array(bytesOf(kv, d), ArrayUse::Input),
               value = out.array(bytesOf(kv, d), ArrayUse::Input), result = out.array(bytesOf(q, d)),
               scores = out.array(static_cast<std::uint64_t>(q * kv * 4));
    const int head = out.open(static_cast<std::uint64_t>(heads));
    const Matrix queries{query.by(head, q * d * 4), d * 4, 4}, keys{key.by(head, kv * d * 4), 4, d * 4},
        weights{scores, kv * 4, 4}, values{value.by(head, kv * d * 4), d * 4, 4},
        results{result.by(head, q * d * 4), d * 4, 4};
    const bool few = q <= fewRows && !target.matrix;
    if (few)
        dotProducts(out, target, q, kv, d, queries, keys, weights);
    else
        product(out, target, q, kv, d, queries, keys, weights);
    softmax(out, target, q, kv, scores, scores, kv * 4);
    if (few)
        weightedSums(out, target, q, d, kv, weights, values, results);
    else
        product(out, target, q, d, kv, weights, values, results);
    out.close();
}

}  // namespace orrery::pipeline::parts
