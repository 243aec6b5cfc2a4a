// Do formats take what they take on paper? Small matrices written down by hand, and ranks given to loops from both
// ends.

#include "mapping/sparse/fiber_tree.h"
#include "mapping/sparse/formats.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>

using namespace orrery;

namespace {

enum Dimension : std::uint8_t { M, K, N };

TileShape box(std::initializer_list<std::int64_t> extents) {
    TileShape shape;
    for (const std::int64_t extent : extents) shape.extents[shape.ranks++] = extent;
    return shape;
}

NestTensor matrix() {
    return {"A", {{"M", {{M, 1}}}, {"K", {{K, 1}}}}, false};
}

FormatRank rank(RankFormat format, double metadata = 1, double payload = 1, std::vector<std::uint32_t> flattened = {}) {
    return {format, metadata, payload, std::move(flattened)};
}

NestLoop loop(std::uint8_t dimension, std::int64_t bound) {
    return {dimension, LoopKind::Temporal, bound, bound};
}

DensityModel actual(const std::vector<std::pair<int, int>>& nonzeros, std::int64_t rows, std::int64_t columns) {
    ActualData data;
    data.extents = {rows, columns};
    for (const auto& [r, c] : nonzeros) data.coordinates.insert(data.coordinates.end(), {r, c});
    DensityModel model;
    model.kind = DensityKind::Actual;
    model.data = std::make_shared<const ActualData>(std::move(data));
    return model.boundTo(box({rows, columns}));
}

/// Rows outside, columns inside.
FiberTree rowsOfColumns(std::int64_t rows, std::int64_t columns) {
    FiberTree tree;
    tree.ranks = {{static_cast<double>(columns), box({1, columns})}, {static_cast<double>(rows), box({rows, columns})}};
    return tree;
}

std::vector<RankOccupancy> occupancyOf(const FiberTree& tree, const std::vector<FormatRank>& formats,
                                       const DensityModel& model) {
    std::vector<RankOccupancy> out;
    treeOccupancy(tree, formats, model, {model.tensor, model.nonzeros}, out);
    return out;
}

}  // namespace

class TestSparseFormats : public QObject {
    Q_OBJECT
private slots:
    void namesAreKnown() {
        QCOMPARE(rankFormat("UOP"), RankFormat::OffsetPairs);
        QCOMPARE(rankFormat("cp"), RankFormat::CoordinatePayload);
        QCOMPARE(rankFormat("RLE"), RankFormat::RunLength);
        QCOMPARE(rankFormat("B"), RankFormat::Bitmask);
        QCOMPARE(rankFormat("ub"), RankFormat::UncompressedBitmask);
        QVERIFY(!rankFormat("CSR"));
        for (const auto format : {RankFormat::OffsetPairs, RankFormat::CoordinatePayload, RankFormat::RunLength,
                                  RankFormat::Bitmask, RankFormat::UncompressedBitmask})
            QCOMPARE(rankFormat(toText(format)), format);
    }

    /// 4 × 4 with rows of 2, 0, 1 and 3 nonzeros: the example of every text on CSR.
    void aSmallMatrixIsWrittenDown() {
        const DensityModel model = actual({{0, 0}, {0, 2}, {2, 3}, {3, 0}, {3, 1}, {3, 3}}, 4, 4);
        const FiberTree tree = rowsOfColumns(4, 4);
        using F = RankFormat;
        // CSR: five offsets, six column numbers. Coordinates per fiber are of the average word, ⌈4 · 6/16⌉ = 2, in the
        // three rows that are there; run lengths are not rounded.
        auto csr = occupancyOf(tree, {rank(F::CoordinatePayload), rank(F::OffsetPairs)}, model);
        QCOMPARE(csr[1].payload, 5.0);
        QCOMPARE(csr[1].metadata, 0.0);
        QCOMPARE(csr[0].metadata, 3.0 * 2);
        QCOMPARE(csr[0].payload, 0.0);
        const auto runs = occupancyOf(tree, {rank(F::RunLength), rank(F::OffsetPairs)}, model);
        QCOMPARE(runs[0].metadata, 3 * 4 * 6.0 / 16);
        // DCSR: three row numbers.
        const auto dcsr = occupancyOf(tree, {rank(F::CoordinatePayload), rank(F::CoordinatePayload)}, model);
        QCOMPARE(dcsr[1].metadata, 3.0);
        QCOMPARE(dcsr[1].payload, 3.0);
        // A mask of masks: four bits for rows, four bits in each of three rows.
        const auto masks = occupancyOf(tree, {rank(F::Bitmask), rank(F::Bitmask)}, model);
        QCOMPARE(masks[1].metadata, 4.0);
        QCOMPARE(masks[1].payload, 3.0);
        QCOMPARE(masks[0].metadata, 12.0);
        const auto plain = occupancyOf(tree, {rank(F::UncompressedBitmask), rank(F::UncompressedBitmask)}, model);
        QCOMPARE(plain[1].metadata, 4.0);
        QCOMPARE(plain[0].metadata, 16.0);
        // 5 offsets of 3 bits and 6 columns of 2 bits.
        const std::vector<FormatRank> bits{rank(F::CoordinatePayload, 2, 0), rank(F::OffsetPairs, 0, 3)};
        QCOMPARE(metadataBits(csr, bits), 5.0 * 3 + 6 * 2);
    }

    /// Uniform nonzeros: expected rows that are there and words in them, in closed form.
    void uniformMatricesTakeTheirExpectation() {
        DensityModel model;
        model.kind = DensityKind::Hypergeometric;
        model.density = 0.1;
        model = model.boundTo(box({16, 8}));
        const double marked = std::ceil(0.1 * 128);
        const double rowEmpty = hypergeometricEmpty(128, marked, 8);
        const auto runs =
            occupancyOf(rowsOfColumns(16, 8), {rank(RankFormat::RunLength), rank(RankFormat::OffsetPairs)}, model);
        QVERIFY(std::abs(runs[1].payload - 17) < 1e-9);
        QVERIFY(std::abs(runs[0].metadata - 16 * (1 - rowEmpty) * 8 * marked / 128) < 1e-9);
    }

    void aDenseTileTakesEverything() {
        DensityModel model;
        model = model.boundTo(box({4, 8}));
        using F = RankFormat;
        for (const F inner : {F::CoordinatePayload, F::RunLength, F::Bitmask, F::UncompressedBitmask}) {
            const auto full = occupancyOf(rowsOfColumns(4, 8), {rank(inner), rank(F::OffsetPairs)}, model);
            QCOMPARE(full[0].metadata, 32.0);
            QCOMPARE(full[1].payload, 5.0);
        }
    }

    void metadataGrowWithDensityAndNeverBeyondTheMask() {
        double before = -1;
        for (int percent = 0; percent <= 100; percent += 5) {
            DensityModel model;
            model.kind = DensityKind::Hypergeometric;
            model.density = percent / 100.0;
            model = model.boundTo(box({16, 16}));
            const auto runs =
                occupancyOf(rowsOfColumns(16, 16), {rank(RankFormat::RunLength), rank(RankFormat::OffsetPairs)}, model);
            QVERIFY(runs[0].metadata >= before && runs[0].metadata <= 256 + 1e-9);
            before = runs[0].metadata;
        }
    }

    void compressionIsSaidByRanks() {
        TensorFormat format;
        QVERIFY(!format.hasMetadata() && !format.compressed());
        format.ranks = {rank(RankFormat::OffsetPairs)};
        QVERIFY(!format.hasMetadata());
        format.ranks = {rank(RankFormat::UncompressedBitmask)};
        QVERIFY(format.hasMetadata() && !format.compressed());
        format.ranks = {rank(RankFormat::RunLength)};
        QVERIFY(format.hasMetadata() && format.compressed());
        format.ranks = {rank(RankFormat::OffsetPairs), rank(RankFormat::OffsetPairs)};
        QVERIFY(format.hasMetadata() && !format.compressed());
    }

    void loopsAreGivenToRanksFromEitherEnd() {
        // for m in 4: for k in 8: for m' in 2, all at one level.
        NestMapping mapping;
        mapping.levels = {{{loop(M, 2), loop(K, 8), loop(M, 4)}, ~0u}};
        NestMolds molds;
        molds.build(mapping);
        const NestTensor tensor = matrix();
        const auto tree = [&](const TensorFormat& format, FiberTree& out) {
            return buildFiberTree(molds, {.tensor = &tensor, .level = 0, .child = -1, .format = &format}, out);
        };
        FiberTree out;
        TensorFormat format;
        format.ranks = {rank(RankFormat::CoordinatePayload), rank(RankFormat::OffsetPairs),
                        rank(RankFormat::OffsetPairs)};
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[0].fiberShape, 2.0);
        QCOMPARE(out.ranks[1].fiberShape, 8.0);
        QCOMPARE(out.ranks[2].fiberShape, 4.0);
        QVERIFY(out.ranks[0].tile == box({2, 1}) && out.ranks[1].tile == box({2, 8}) &&
                out.ranks[2].tile == box({8, 8}));

        // One rank more than loops: it is left over at the end that comes last.
        format.ranks.push_back(rank(RankFormat::OffsetPairs));
        format.innerToOuter = true;
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[3].fiberShape, 1.0);
        QCOMPARE(out.ranks[2].fiberShape, 4.0);
        format.innerToOuter = false;
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[0].fiberShape, 1.0);
        QCOMPARE(out.ranks[3].fiberShape, 4.0);

        // One rank too few.
        format.ranks.resize(2);
        QCOMPARE(tree(format, out), FormatFault::TooFewRanks);
        // Unless the two outer loops are flattened.
        format.ranks[1].flattened = {1u << M | 1u << K};
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[1].fiberShape, 64.0);  // it takes all three, and leaves the inner rank none
        format.innerToOuter = true;
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[0].fiberShape, 2.0);
        QCOMPARE(out.ranks[1].fiberShape, 32.0);

        // A rule that the next loop is not in leaves its rank without one.
        format.ranks = {rank(RankFormat::CoordinatePayload, 1, 1, {1u << K}), rank(RankFormat::OffsetPairs),
                        rank(RankFormat::OffsetPairs), rank(RankFormat::OffsetPairs)};
        QCOMPARE(tree(format, out), FormatFault::None);
        QCOMPARE(out.ranks[0].fiberShape, 1.0);
        QCOMPARE(out.ranks[1].fiberShape, 2.0);
    }

    void ranksWithoutLoopsTakeNothing() {
        DensityModel model;
        model.density = 0.5;
        model = model.boundTo(box({1, 8}));
        FiberTree tree = rowsOfColumns(1, 8);
        tree.innerToOuter = true;
        const auto out = occupancyOf(tree, {rank(RankFormat::CoordinatePayload), rank(RankFormat::OffsetPairs)}, model);
        QCOMPARE(out[1].payload, 0.0);
        QCOMPARE(out[0].metadata, 4.0);
    }

    void anOuterLevelKeepsTilesCutAsTheInnerWantsThem() {
        NestMapping mapping;
        mapping.levels = {{{loop(K, 8)}, ~0u}, {{loop(K, 4), loop(M, 16)}, ~0u}};
        NestMolds molds;
        molds.build(mapping);
        const NestTensor tensor = matrix();
        TensorFormat inner, outer;
        inner.ranks = {rank(RankFormat::RunLength)};
        outer.ranks = {rank(RankFormat::RunLength), rank(RankFormat::OffsetPairs), rank(RankFormat::OffsetPairs)};
        FiberTree below, above;
        QCOMPARE(buildFiberTree(molds, {.tensor = &tensor, .level = 0, .child = -1, .format = &inner}, below),
                 FormatFault::None);
        const auto build = [&] {
            return buildFiberTree(molds,
                                  {.tensor = &tensor,
                                   .level = 1,
                                   .child = 0,
                                   .format = &outer,
                                   .childFormat = &inner,
                                   .childTree = &below,
                                   .childTile = 8},
                                  above);
        };
        QCOMPARE(build(), FormatFault::None);
        QCOMPARE(above.ranks[0].fiberShape, 8.0);
        QCOMPARE(above.ranks[1].fiberShape, 4.0);
        QCOMPARE(above.ranks[2].fiberShape, 16.0);
        outer.ranks[0] = rank(RankFormat::CoordinatePayload);
        QCOMPARE(build(), FormatFault::ChildFormat);
        inner.ranks.assign(4, rank(RankFormat::RunLength));
        QCOMPARE(buildFiberTree(molds, {.tensor = &tensor, .level = 0, .child = -1, .format = &inner}, below),
                 FormatFault::None);
        QCOMPARE(build(), FormatFault::ChildRanks);
    }

    void slidingWindowsAreProjected() {
        // W = P + R: three positions of a filter of three.
        const NestTensor inputs{"I", {{"W", {{M, 1}, {K, 1}}}}, false};
        NestMapping mapping;
        mapping.levels = {{{loop(K, 3), loop(M, 3)}, ~0u}};
        NestMolds molds;
        molds.build(mapping);
        QCOMPARE(tileShape(inputs, molds.tiles[0]).size(), 5.0);
        FiberTree out;
        TensorFormat format;  // uncompressed: one rank of everything
        QCOMPARE(buildFiberTree(molds, {.tensor = &inputs, .level = 0, .child = -1, .format = &format}, out),
                 FormatFault::None);
        QCOMPARE(out.ranks.size(), std::size_t{1});
        QCOMPARE(out.ranks[0].fiberShape, 5.0);
    }
};

QTEST_APPLESS_MAIN(TestSparseFormats)
#include "tst_sparse_formats.moc"
