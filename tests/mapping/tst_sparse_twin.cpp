// Does the model expect what happens? Small products of random matrices are walked word by word; and designs that leave
// nothing out count as dense ones.

#include "support/sparse_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr std::uint32_t bit(std::uint8_t tensor) {
    return 1u << tensor;
}

/// Matrices with exactly `nonzeros` of their words set, drawn anew for every run.
struct RandomMatrix {
    std::int64_t rows, columns;
    std::vector<char> word;
    RandomMatrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), word(static_cast<std::size_t>(r * c)) {}
    void draw(std::mt19937_64& random, double nonzeros) {
        for (std::size_t i = 0; i < word.size(); ++i) word[i] = static_cast<double>(i) < nonzeros;
        std::shuffle(word.begin(), word.end(), random);
    }
    bool at(std::int64_t r, std::int64_t c) const { return word[static_cast<std::size_t>(r * columns + c)]; }
    bool any(std::int64_t r, std::int64_t rows0, std::int64_t c, std::int64_t columns0) const {
        for (std::int64_t i = r; i < r + rows0; ++i)
            for (std::int64_t j = c; j < c + columns0; ++j)
                if (at(i, j)) return true;
        return false;
    }
};

bool near(double model, double mean, double relative, const char* what) {
    // One count more or less is rounding.
    const bool good = std::abs(model - mean) <= relative * std::abs(mean) + 1;
    if (!good) qWarning("%s: model %.3f, walked %.3f", what, model, mean);
    return good;
}

struct Evaluated {
    NestCounts counts;
    SparseWorkspace work;
    MappingFault fault = MappingFault::None;
};

Evaluated evaluate(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                   const SparseDesign& design) {
    Evaluated out;
    NestHardware roomy = hardware;
    NestEvaluator dense(problem, roomy);
    out.fault = dense.evaluate(mapping, out.counts);
    if (out.fault == MappingFault::None)
        out.fault = applySparse(problem, hardware, mapping, design, out.work, out.counts);
    return out;
}

}  // namespace

class TestSparseTwin : public QObject {
    Q_OBJECT
private slots:
    /// for m: for n: for k: z[m, n] += a[m, k] · b[n, k], words of A compressed, words of B read only where A has one.
    void leaderAndFollowerWordByWord() {
        const std::int64_t m = 8, n = 6, k = 16;
        const NestProblem problem = product(m, n, k);
        NestMapping mapping;
        mapping.levels = {{{loop(K, k), loop(N, n)}, ~0u}, {{loop(M, m)}, ~0u}};
        for (const double densityA : {0.1, 0.45, 0.9})
            for (const double densityB : {0.2, 0.7}) {
                SparseDesign design = denseDesign(problem, 2);
                setDensity(design, problem, A, uniform(densityA));
                setDensity(design, problem, B, uniform(densityB));
                design.levels[0].formats[A] = ranks({RankFormat::CoordinatePayload});
                design.levels[1].formats[A] = ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs});
                design.levels[0].actions = {leaveOut(Elimination::Skipping, B, bit(A)),
                                            leaveOut(Elimination::Skipping, Z, bit(A))};
                const Evaluated got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
                QCOMPARE(got.fault, MappingFault::None);

                std::mt19937_64 random(3);
                RandomMatrix a(m, k), b(n, k);
                double computes = 0, readsA = 0, readsB = 0, updates = 0, gone = 0, fills = 0;
                constexpr int runs = 400;
                for (int run = 0; run < runs; ++run) {
                    a.draw(random, std::ceil(densityA * static_cast<double>(m * k)));
                    b.draw(random, std::ceil(densityB * static_cast<double>(n * k)));
                    for (std::int64_t i = 0; i < m; ++i) {
                        for (std::int64_t x = 0; x < k; ++x) fills += a.at(i, x);
                        for (std::int64_t j = 0; j < n; ++j)
                            for (std::int64_t x = 0; x < k; ++x) {
                                const bool leads = a.at(i, x);
                                readsA += leads;
                                readsB += leads;
                                updates += leads;
                                computes += leads;
                                gone += !leads;
                            }
                    }
                }
                // An instance counts while it holds a row that is not empty.
                const SparseTensorCounts& inA = got.work.levels[0].tensors[A];
                const SparseTensorCounts& inB = got.work.levels[0].tensors[B];
                QVERIFY(near(inA.reads.actual * inA.instances, readsA / runs, 0.02, "reads of A"));
                QVERIFY(near(inA.fills.actual * inA.instances, fills / runs, 0.02, "fills of A"));
                QVERIFY(near(inB.reads.actual, readsB / runs, 0.02, "reads of B"));
                QVERIFY(near(inB.reads.skipped, gone / runs, 0.02, "skipped reads of B"));
                QVERIFY(near(got.work.levels[0].tensors[Z].updates.actual, updates / runs, 0.02, "updates of Z"));
                QVERIFY(near(got.counts.computed, computes / runs, 0.02, "operations"));
                QVERIFY(near(got.counts.cycles, computes / runs, 0.02, "cycles"));
            }
    }

    /// Both operands compressed and intersected: operations are made where both have a word.
    void intersectionFromBothSides() {
        const std::int64_t m = 6, n = 6, k = 24;
        const NestProblem problem = product(m, n, k);
        NestMapping mapping;
        mapping.levels = {{{loop(K, k)}, ~0u}, {{loop(N, n), loop(M, m)}, ~0u}};
        for (const double density : {0.15, 0.5}) {
            SparseDesign design = denseDesign(problem, 2);
            setDensity(design, problem, A, uniform(density));
            setDensity(design, problem, B, uniform(density));
            for (const std::uint8_t t : {A, B}) {
                design.levels[0].formats[t] = ranks({RankFormat::CoordinatePayload});
                design.levels[1].formats[t] = ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs});
            }
            design.levels[0].actions = {leaveOut(Elimination::Skipping, A, bit(B)),
                                        leaveOut(Elimination::Skipping, B, bit(A)),
                                        leaveOut(Elimination::Skipping, Z, bit(A) | bit(B))};
            const Evaluated got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
            QCOMPARE(got.fault, MappingFault::None);
            std::mt19937_64 random(5);
            RandomMatrix a(m, k), b(n, k);
            double both = 0;
            constexpr int runs = 600;
            for (int run = 0; run < runs; ++run) {
                a.draw(random, std::ceil(density * static_cast<double>(m * k)));
                b.draw(random, std::ceil(density * static_cast<double>(n * k)));
                for (std::int64_t i = 0; i < m; ++i)
                    for (std::int64_t j = 0; j < n; ++j)
                        for (std::int64_t x = 0; x < k; ++x) both += a.at(i, x) && b.at(j, x);
            }
            QVERIFY(near(got.counts.computed, both / runs, 0.03, "operations"));
            for (const std::uint8_t t : {A, B})
                QVERIFY(near(got.work.levels[0].tensors[t].reads.actual * got.work.levels[0].tensors[t].instances,
                             both / runs, 0.03, "reads"));
            QVERIFY(near(got.work.levels[0].tensors[Z].updates.actual, both / runs, 0.03, "updates"));
        }
    }

    /// Whole tiles: a block of B is fetched only where the block of A that it meets holds something, and what is not
    /// fetched is seen nowhere further in.
    void tilesOfAnOuterLevel() {
        const std::int64_t m = 8, n = 8, k = 16, block = 4;
        const NestProblem problem = product(m, n, k);
        // Buffer tiles: A is 2 × 4, B is 8 × 4. Loops over DRAM: k outside m.
        NestMapping mapping;
        mapping.levels = {{{loop(K, block), loop(N, n), loop(M, 2)}, ~0u}, {{loop(K, k / block), loop(M, m / 2)}, ~0u}};
        for (const double density : {0.05, 0.12, 0.4}) {
            SparseDesign design = denseDesign(problem, 2);
            setDensity(design, problem, A, uniform(density));
            design.levels[1].actions = {leaveOut(Elimination::Skipping, B, bit(A))};
            const Evaluated got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
            QCOMPARE(got.fault, MappingFault::None);
            std::mt19937_64 random(9);
            RandomMatrix a(m, k);
            double reads = 0, computes = 0;
            constexpr int runs = 3000;
            for (int run = 0; run < runs; ++run) {
                a.draw(random, std::ceil(density * static_cast<double>(m * k)));
                for (std::int64_t i = 0; i < m; i += 2)
                    for (std::int64_t x = 0; x < k; x += block)
                        if (a.any(i, 2, x, block)) {
                            reads += static_cast<double>(n * block);
                            computes += static_cast<double>(2 * n * block);
                        }
            }
            const auto& outer = got.work.levels[1].tensors[B];
            const auto& inner = got.work.levels[0].tensors[B];
            QCOMPARE(outer.denseReads, static_cast<double>(m / 2 * n * k));
            QVERIFY(near(outer.reads.actual, reads / runs, 0.02, "reads of B from DRAM"));
            QVERIFY(near(inner.fills.actual, reads / runs, 0.02, "fills of B"));
            QVERIFY(near(inner.reads.actual, computes / runs, 0.02, "reads of B"));
            QCOMPARE(inner.reads.skipped, 0.0);
            QVERIFY(near(got.counts.computed, computes / runs, 0.02, "operations"));
        }
    }

    /// 2:4 weights on four units: two of them suffice, and the work of each stays.
    void spatialSkippingFreesInstances() {
        const std::int64_t m = 4, n = 8, k = 16;
        const NestProblem problem = product(m, n, k);
        NestHardware hardware = chain({"Buffer", "DRAM"});
        hardware.arithmetic.instances = hardware.arithmetic.meshX = 2;
        NestMapping mapping;
        mapping.levels = {{{loop(K, 4, LoopKind::SpatialX), loop(N, n)}, ~0u}, {{loop(K, 4), loop(M, m)}, ~0u}};
        SparseDesign design = denseDesign(problem, 2);
        DensityModel structured;
        structured.density = 0.5;
        setDensity(design, problem, A, structured);
        design.levels[0].formats[A] = ranks({RankFormat::CoordinatePayload});
        design.levels[1].formats[A] =
            ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs, RankFormat::OffsetPairs});
        design.levels[0].actions = {leaveOut(Elimination::SpatialSkipping, B, bit(A)),
                                    leaveOut(Elimination::SpatialSkipping, Z, bit(A))};
        NestHardware roomy = hardware;
        roomy.arithmetic.instances = roomy.arithmetic.meshX = 4;
        Evaluated got;
        QCOMPARE(NestEvaluator(problem, roomy).evaluate(mapping, got.counts), MappingFault::None);
        QCOMPARE(applySparse(problem, hardware, mapping, design, got.work, got.counts), MappingFault::None);
        QCOMPARE(got.work.computeInstances, 2.0);
        QCOMPARE(got.counts.computed, static_cast<double>(m * n * k) / 2);
        QCOMPARE(got.counts.cycles, static_cast<double>(m * n * k) / 4);
        QCOMPARE(got.counts.utilisation, 1.0);
        // Three of four do not fit on two units.
        structured.density = 0.75;
        setDensity(design, problem, A, structured);
        QCOMPARE(NestEvaluator(problem, roomy).evaluate(mapping, got.counts), MappingFault::None);
        QCOMPARE(applySparse(problem, hardware, mapping, design, got.work, got.counts), MappingFault::FanOut);
        const Diagnostic fault = sparseFault(problem, hardware, got.work);
        QCOMPARE(fault.code, std::string("mapping.fan-out"));
        QVERIFY(!fault.hint.empty());
    }

    /// Outer products of packed vectors: every tile of A and of B takes as many passes as its words fill.
    void packedPositionsTakeFewerPasses() {
        const std::int64_t m = 32, n = 32, k = 12, wide = 8, passes = 4;
        const NestProblem problem = product(m, n, k);
        NestHardware hardware = chain({"Line", "DRAM"});
        hardware.arithmetic.instances = wide * wide;
        NestMapping mapping;
        mapping.levels = {
            {{loop(N, wide, LoopKind::SpatialX), loop(M, wide, LoopKind::SpatialY), loop(N, passes), loop(M, passes)},
             ~0u},
            {{loop(K, k)}, ~0u}};
        SparseDesign design = denseDesign(problem, 2);
        setDensity(design, problem, A, uniform(0.3));
        setDensity(design, problem, B, uniform(0.6));
        for (const std::uint8_t t : {A, B}) {
            design.levels[0].formats[t] = ranks({RankFormat::Bitmask, RankFormat::Bitmask});
            design.levels[1].formats[t] = ranks({RankFormat::Bitmask, RankFormat::Bitmask, RankFormat::OffsetPairs});
        }
        design.levels[0].actions = {leaveOut(Elimination::PositionSkipping, A, 0),
                                    leaveOut(Elimination::PositionSkipping, B, 0)};
        const Evaluated got = evaluate(problem, hardware, mapping, design);
        QCOMPARE(got.fault, MappingFault::None);
        std::mt19937_64 random(13);
        RandomMatrix a(k, m), b(k, n);
        double computes = 0, readsA = 0, readsB = 0, busy = 0;
        constexpr int runs = 2000;
        for (int run = 0; run < runs; ++run) {
            a.draw(random, std::ceil(0.3 * static_cast<double>(m * k)));
            b.draw(random, std::ceil(0.6 * static_cast<double>(n * k)));
            for (std::int64_t x = 0; x < k; ++x) {
                double inA = 0, inB = 0;
                for (std::int64_t i = 0; i < m; ++i) inA += a.at(x, i), inB += b.at(x, i);
                const double passA = std::ceil(inA / static_cast<double>(wide)),
                             passB = std::ceil(inB / static_cast<double>(wide));
                computes += inA * inB;
                readsA += inA * passB;
                readsB += inB * passA;
                if (passA > 0 && passB > 0) busy += inA * inB / (passA * passB);
            }
        }
        // Units that pass a word on to the next pass read it less often, packed or not: shares are compared.
        const auto dense = static_cast<double>(m * k * passes);
        const auto left = [&](std::size_t t) {
            const SparseTensorCounts& here = got.work.levels[0].tensors[t];
            return here.reads.actual / here.denseReads;
        };
        QVERIFY(near(got.counts.computed, computes / runs, 0.01, "operations"));
        QVERIFY(near(got.work.computeInstances, busy / runs / static_cast<double>(k), 0.01, "busy units"));
        QVERIFY(near(left(A) * 1000, readsA / runs / dense * 1000, 0.03, "share of the reads of A"));
        QVERIFY(near(left(B) * 1000, readsB / runs / dense * 1000, 0.03, "share of the reads of B"));
    }

    /// Random problems and mappings: without zeros, whatever hardware does about them, every count is the dense one.
    void densityOneCountsAsDense() {
        std::mt19937 random(42);
        int seen = 0;
        for (int trial = 0; trial < 200; ++trial) {
            const auto pick = [&](std::int64_t most) {
                return static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(most));
            };
            const std::int64_t f[3][3] = {
                {pick(3), pick(4), pick(2)}, {pick(3), pick(4), pick(2)}, {pick(3), pick(4), pick(2)}};
            const NestProblem problem =
                product(f[0][0] * f[0][1] * f[0][2], f[1][0] * f[1][1] * f[1][2], f[2][0] * f[2][1] * f[2][2]);
            NestHardware hardware = chain({"Register", "Buffer", "DRAM"});
            hardware.arithmetic.instances = 64;
            hardware.levels[0].instances = 16;
            for (NestLevel& level : hardware.levels) {
                level.blockSize = pick(4);
                level.readBandwidth = static_cast<double>(random() % 4);
                level.writeBandwidth = static_cast<double>(random() % 4);
                level.sharedBandwidth = static_cast<double>(random() % 6);
                level.networkLatency = static_cast<double>(random() % 3);
            }
            NestMapping mapping;
            mapping.levels.resize(3);
            for (std::size_t l = 0; l < 3; ++l) {
                std::array<std::uint8_t, 3> order{M, N, K};
                std::shuffle(order.begin(), order.end(), random);
                if (l == 1)
                    mapping.levels[l].loops.push_back(
                        loop(static_cast<std::uint8_t>(random() % 3), 2, LoopKind::SpatialX));
                for (const std::uint8_t d : order) mapping.levels[l].loops.push_back(loop(d, f[d][l]));
                mapping.levels[l].keeps = l == 2 ? 7u : random() % 8;
            }
            NestProblem whole = problem;
            for (const NestLoop& one : mapping.levels[1].loops)
                if (one.kind != LoopKind::Temporal) whole.extents[one.dimension] *= one.bound;

            NestCounts dense;
            QCOMPARE(NestEvaluator(whole, hardware).evaluate(mapping, dense), MappingFault::None);
            SparseDesign plain = denseDesign(whole, 3), busy = denseDesign(whole, 3);
            setDensity(busy, whole, A, uniform(1));
            for (std::size_t l = 0; l < 3; ++l)
                busy.levels[l].actions = {leaveOut(Elimination::Gating, A, bit(B)),
                                          leaveOut(Elimination::Skipping, B, bit(A)),
                                          leaveOut(Elimination::Skipping, Z, bit(A) | bit(B))};
            busy.gateCompute = true;
            for (const SparseDesign& design : {plain, busy}) {
                NestEvaluator evaluator(whole, hardware, std::make_shared<const SparseDesign>(design));
                NestCounts sparse;
                QCOMPARE(evaluator.evaluate(mapping, sparse), MappingFault::None);
                QCOMPARE(sparse.cycles, dense.cycles);
                QCOMPARE(sparse.computed, dense.computed);
                QCOMPARE(sparse.utilisation, dense.utilisation);
                QVERIFY(std::abs(sparse.energy - dense.energy) <= 1e-12 * dense.energy);
                for (std::size_t l = 0; l < 3; ++l) {
                    QCOMPARE(sparse.levels[l].cycles, dense.levels[l].cycles);
                    for (std::size_t t = 0; t < 3; ++t) {
                        const TensorCounts &s = sparse.levels[l].tensors[t], &d = dense.levels[l].tensors[t];
                        QCOMPARE(s.kept, d.kept);
                        if (!d.kept) continue;
                        QCOMPARE(s.tile, d.tile);
                        QCOMPARE(s.reads, d.reads);
                        QCOMPARE(s.fills, d.fills);
                        QCOMPARE(s.updates, d.updates);
                        QCOMPARE(s.instances, d.instances);
                        ++seen;
                    }
                }
            }
        }
        QVERIFY(seen > 1000);
    }

    /// Less is moved, done and spent where there is less.
    void countsGrowWithDensity() {
        const NestProblem problem = product(16, 16, 32);
        NestMapping mapping;
        mapping.levels = {{{loop(K, 32)}, ~0u}, {{loop(N, 16), loop(M, 16)}, ~0u}};
        double cycles = -1, energy = -1, reads = -1;
        for (int percent = 0; percent <= 100; percent += 10) {
            SparseDesign design = denseDesign(problem, 2);
            setDensity(design, problem, A, uniform(percent / 100.0));
            setDensity(design, problem, B, uniform(0.5));
            design.levels[0].formats[A] = ranks({RankFormat::RunLength});
            design.levels[1].formats[A] = ranks({RankFormat::RunLength, RankFormat::OffsetPairs});
            design.levels[0].actions = {leaveOut(Elimination::Skipping, B, bit(A))};
            const Evaluated got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
            QCOMPARE(got.fault, MappingFault::None);
            QVERIFY(got.counts.cycles >= cycles && got.counts.energy >= energy);
            QVERIFY(got.work.levels[1].tensors[A].reads.actual >= reads);
            cycles = got.counts.cycles;
            energy = got.counts.energy;
            reads = got.work.levels[1].tensors[A].reads.actual;
            for (const SparseLevelCounts& level : got.work.levels)
                for (std::size_t t = 0; t < 3; ++t) {
                    const SparseTensorCounts& one = level.tensors[t];
                    for (const auto& [split, dense] :
                         {std::pair{one.reads, one.denseReads}, std::pair{one.fills, one.denseFills},
                          std::pair{one.updates, one.denseUpdates}})
                        QVERIFY(split.actual >= 0 && split.gated >= 0 && split.skipped >= 0 &&
                                split.actual + split.gated + split.skipped <= dense + 1e-9);
                }
        }
    }

    void gatingTakesTimeAndSkippingDoesNot() {
        const NestProblem problem = product(8, 8, 16);
        NestMapping mapping;
        mapping.levels = {{{loop(K, 16)}, ~0u}, {{loop(N, 8), loop(M, 8)}, ~0u}};
        NestHardware hardware = chain({"Buffer", "DRAM"});
        hardware.levels[0].readBandwidth = 1;
        NestCounts results[2];
        for (const Elimination how : {Elimination::Gating, Elimination::Skipping}) {
            SparseDesign design = denseDesign(problem, 2);
            setDensity(design, problem, A, uniform(0.25));
            design.levels[0].actions = {leaveOut(how, B, bit(A))};
            const Evaluated got = evaluate(problem, hardware, mapping, design);
            results[how == Elimination::Skipping] = got.counts;
        }
        QVERIFY(results[0].cycles > results[1].cycles);
        QCOMPARE(results[0].computed, results[1].computed);
        QVERIFY(results[0].energy > results[1].energy);
    }

    void computeOptimisations() {
        const NestProblem problem = product(8, 8, 16);
        NestMapping mapping;
        mapping.levels = {{{loop(K, 16)}, ~0u}, {{loop(N, 8), loop(M, 8)}, ~0u}};
        const double all = 8 * 8 * 16;
        SparseDesign design = denseDesign(problem, 2);
        setDensity(design, problem, A, uniform(0.5));
        setDensity(design, problem, B, uniform(0.25));
        design.gateCompute = true;
        Evaluated got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
        QCOMPARE(got.work.computes.actual, all / 8);
        QCOMPARE(got.work.computes.gated, all * 7 / 8);
        QCOMPARE(got.counts.computeCycles, all);
        // Zeros that formats leave out are not even seen; where one operand is there alone, skipping passes over it.
        for (const std::uint8_t t : {A, B}) {
            design.levels[0].formats[t] = ranks({RankFormat::CoordinatePayload});
            design.levels[1].formats[t] = ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs});
        }
        design.gateCompute = false;
        design.skipCompute = true;
        got = evaluate(problem, chain({"Buffer", "DRAM"}), mapping, design);
        QCOMPARE(got.fault, MappingFault::None);
        QCOMPARE(got.work.computes.skipped, all * (0.5 * 0.75 + 0.5 * 0.25));
        QCOMPARE(got.counts.computeCycles, all / 8);
    }

    void capacityHoldsWordsAndMetadata() {
        const NestProblem problem = product(4, 4, 64);
        NestMapping mapping;
        mapping.levels = {{{loop(K, 64)}, ~0u}, {{loop(N, 4), loop(M, 4)}, ~0u}};
        NestHardware hardware = chain({"Buffer", "DRAM"});
        DensityModel structured;
        structured.density = 0.25;
        SparseDesign design = denseDesign(problem, 2);
        setDensity(design, problem, A, structured);
        design.levels[0].formats[A] = ranks({RankFormat::CoordinatePayload});
        design.levels[1].formats[A] = ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs});
        hardware.levels[0].capacityWords = 16 + 64 + 1;
        hardware.levels[0].metadataCapacityBits = 16 * 4;
        NestEvaluator fits(problem, hardware, std::make_shared<const SparseDesign>(design));
        NestCounts counts;
        QCOMPARE(fits.evaluate(mapping, counts), MappingFault::None);
        QCOMPARE(counts.levels[0].tensors[A].tile, 16.0);
        hardware.levels[0].metadataCapacityBits = 16 * 4 - 1;
        NestEvaluator metadata(problem, hardware, std::make_shared<const SparseDesign>(design));
        QCOMPARE(metadata.evaluate(mapping, counts), MappingFault::Capacity);
        QCOMPARE(metadata.explain(mapping).error().code, std::string("mapping.capacity"));
        hardware.levels[0].metadataCapacityBits = 1000;
        hardware.levels[0].capacityWords = 80;
        NestEvaluator words(problem, hardware, std::make_shared<const SparseDesign>(design));
        QCOMPARE(words.evaluate(mapping, counts), MappingFault::Capacity);
    }

    void formatsThatDoNotFitAreSaid() {
        const NestProblem problem = product(4, 4, 8);
        NestMapping mapping;
        mapping.levels = {{{loop(K, 8)}, ~0u}, {{loop(N, 4), loop(M, 4)}, ~0u}};
        NestHardware hardware = chain({"Buffer", "DRAM"});
        hardware.levels[0].decompressionSupported = false;
        SparseDesign design = denseDesign(problem, 2);
        design.levels[1].formats[A] = ranks({RankFormat::CoordinatePayload, RankFormat::OffsetPairs});
        const auto told = [&](const SparseDesign& with) {
            NestEvaluator evaluator(problem, hardware, std::make_shared<const SparseDesign>(with));
            const auto answer = evaluator.explain(mapping);
            return answer ? Diagnostic{} : answer.error();
        };
        QCOMPARE(told(design).code, std::string("mapping.format"));
        QVERIFY(told(design).hint.find("decompression_supported") != std::string::npos);
        QCOMPARE(told(design).place.path, std::string("Buffer/A"));
        design.levels[1].formats[A] = ranks({RankFormat::CoordinatePayload});
        design.levels[0].formats[A] = ranks({RankFormat::CoordinatePayload});
        QVERIFY(told(design).message.find("more loops than ranks") != std::string::npos);
        SparseDesign nowhere = denseDesign(problem, 2);
        nowhere.levels[1].actions = {leaveOut(Elimination::Skipping, A, bit(B))};
        mapping.levels[1].keeps = bit(B) | bit(Z);
        QCOMPARE(told(nowhere).code, std::string("mapping.elimination"));
    }
};

QTEST_APPLESS_MAIN(TestSparseTwin)
#include "tst_sparse_twin.moc"
