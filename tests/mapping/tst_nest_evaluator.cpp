#include "mapping/nest_evaluator.h"
#include "mapping/nest_text.h"
#include "support/nest_simulator.h"

#include <QtTest/QtTest>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

using namespace orrery;

static std::atomic<long> allocations{0};

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

NestProblem product(std::int64_t m, std::int64_t n, std::int64_t k) {
    const auto rank = [](const char* name, std::uint8_t d) { return TensorRank{name, {{d, 1}}}; };
    return {"product",
            {"M", "N", "K"},
            {m, n, k},
            {{"A", {rank("M", 0), rank("K", 2)}, false},
             {"B", {rank("N", 1), rank("K", 2)}, false},
             {"Z", {rank("M", 0), rank("N", 1)}, true}}};
}

NestProblem convolution(std::int64_t p, std::int64_t r, std::int64_t k, std::int64_t stride, std::int64_t dilation) {
    return {"convolution",
            {"P", "R", "K"},
            {p, r, k},
            {{"Weights", {{"K", {{2, 1}}}, {"R", {{1, 1}}}}, false},
             {"Inputs", {{"W", {{0, stride}, {1, dilation}}}}, false},
             {"Outputs", {{"K", {{2, 1}}}, {"P", {{0, 1}}}}, true}}};
}

NestHardware chain(std::size_t levels) {
    NestHardware hardware;
    hardware.name = "chain";
    for (std::size_t l = 0; l < levels; ++l) {
        NestLevel level;
        level.name = "L" + std::to_string(l);
        level.energy.vectorRead = 1e-12 * std::pow(5.0, static_cast<double>(l));
        level.energy.vectorWrite = level.energy.vectorUpdate = level.energy.vectorRead;
        hardware.levels.push_back(level);
    }
    hardware.arithmetic.energy = 1e-12;
    return hardware;
}

// As many instances as the mapping uses, in its own rows.
void meshFor(const NestMapping& mapping, NestHardware& hardware) {
    std::int64_t instances = 1, x = 1;
    for (std::size_t l = mapping.levels.size(); l-- > 0;) {
        hardware.levels[l].instances = instances;
        hardware.levels[l].meshX = x;
        for (const NestLoop& loop : mapping.levels[l].loops) {
            if (loop.kind == LoopKind::Temporal) continue;
            instances *= loop.bound;
            if (loop.kind == LoopKind::SpatialX) x *= loop.bound;
        }
    }
    hardware.arithmetic.instances = instances;
    hardware.arithmetic.meshX = x;
}

// Weight-stationary product of 256 × 256 and 256 × 128 on 16 × 16 units.
struct Ws16 {
    NestProblem problem = product(256, 128, 256);
    NestHardware hardware = chain(4);
    NestMapping mapping;
    Ws16() {
        hardware.levels[0].instances = hardware.arithmetic.instances = 256;
        hardware.levels[0].meshX = hardware.arithmetic.meshX = 16;
        hardware.levels[1].instances = hardware.levels[1].meshX = 16;
        hardware.levels[0].capacityWords = 1;
        hardware.levels[1].capacityWords = 256;
        hardware.levels[2].capacityWords = 1 << 19;
        const auto T = LoopKind::Temporal;
        mapping.levels = {{{{0, T, 256, 256}}, 0b010},
                          {{{2, LoopKind::SpatialY, 16, 16}}, 0b100},
                          {{{1, LoopKind::SpatialX, 16, 16}, {2, T, 16, 16}}, 0b101},
                          {{{1, T, 8, 8}}, 0b111}};
    }
};

NestCounts counted(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping) {
    NestEvaluator evaluator(problem, hardware);
    auto counts = evaluator.explain(mapping);
    if (!counts) qFatal("%s", toText(counts.error()).c_str());
    return *counts;
}

// Everything that the engine counts, held against the walked twin.
void compare(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping) {
    const NestCounts counts = counted(problem, hardware, mapping);
    const test::NestSimulator twin(problem, mapping);
    const std::string told = nestText(problem, hardware, mapping);
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        int child = -1, outermost = 0;
        for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
            if (mapping.levels[l].keeps >> t & 1u) outermost = static_cast<int>(l);
        }
        for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
            if ((mapping.levels[l].keeps >> t & 1u) == 0) continue;
            const auto is = counts.levels[l].tensors[t];
            const auto must = twin.counts(t, l, child);
            const auto where = told + hardware.levels[l].name + " " + problem.tensors[t].name;
            const bool top = static_cast<int>(l) == outermost;
            const double fills = top ? 0 : twin.received(t, static_cast<std::size_t>(l) + 1, static_cast<int>(l));
            QVERIFY2(is.tile == must.tile, where.c_str());
            if (problem.tensors[t].written) {
                QVERIFY2(is.updates == std::round(must.accesses), where.c_str());
                QVERIFY2(is.partition == must.partition, where.c_str());
                QVERIFY2(is.reads == std::round(must.accesses - must.partition), where.c_str());
                if (!top) QVERIFY2(is.fills == std::round(fills - must.partition), where.c_str());
            } else {
                QVERIFY2(is.reads == std::round(must.accesses), where.c_str());
                QVERIFY2(is.fills == std::floor(fills + 1e-9), where.c_str());
            }
            child = static_cast<int>(l);
        }
    }
}

}  // namespace

class TestNestEvaluator : public QObject {
    Q_OBJECT
private slots:
    void weightStationaryByHand() {
        const Ws16 c;
        const NestCounts counts = counted(c.problem, c.hardware, c.mapping);
        QCOMPARE(counts.cycles, 32768.0);
        QCOMPARE(counts.utilisation, 1.0);
        const auto& b = counts.levels[0].tensors[1];
        QCOMPARE(b.reads, 32768.0);
        QCOMPARE(b.fills, 128.0);
        QCOMPARE(b.instances, 256.0);
        const auto& z = counts.levels[1].tensors[2];
        QCOMPARE(z.updates, 32768.0);
        QCOMPARE(z.reads, 30720.0);  // the first of every sum is written, not read
        QCOMPARE(z.temporalReductions, 30720.0);
        QCOMPARE(counts.levels[2].tensors[0].reads, 524288.0);
        QCOMPARE(counts.levels[2].tensors[0].fills, 65536.0);
        QCOMPARE(counts.levels[3].tensors[2].updates, 32768.0);
        QCOMPARE(counts.levels[3].tensors[2].reads, 0.0);
    }

    void energyIsTheSumOfItsParts() {
        const Ws16 c;
        const NestCounts counts = counted(c.problem, c.hardware, c.mapping);
        double sum = counts.arithmeticEnergy;
        for (const LevelCounts& level : counts.levels) {
            for (const TensorCounts& tensor : level.tensors) sum += tensor.energy;
        }
        QVERIFY(std::abs(sum - counts.energy) < 1e-9 * sum);
        const auto& a = counts.levels[2].tensors[0];
        QVERIFY(std::abs(a.energy - (a.reads + a.fills) * 25e-12) < 1e-18);
    }

    void accessesAreWholeBlocks() {
        Ws16 c;
        c.hardware.levels[2].blockSize = 100;
        const NestCounts counts = counted(c.problem, c.hardware, c.mapping);
        const auto& a = counts.levels[2].tensors[0];
        QVERIFY(std::abs(a.energy - (5243 + 656) * 25e-12) < 1e-18);
    }

    void bandwidthSlowsDown() {
        Ws16 c;
        // 524288 reads of A and 28672 of Z in 32768 cycles: 16.875 words per cycle.
        c.hardware.levels[2].readBandwidth = 8;
        const NestCounts counts = counted(c.problem, c.hardware, c.mapping);
        const auto& glb = counts.levels[2];
        const double reads = glb.tensors[0].reads + glb.tensors[2].reads;
        QCOMPARE(glb.cycles, std::ceil(reads / 8));
        QCOMPARE(counts.cycles, glb.cycles);
        QCOMPARE(counts.computeCycles, 32768.0);
        c.hardware.levels[2].readBandwidth = 0;
        c.hardware.levels[2].sharedBandwidth = 8;
        const NestCounts shared = counted(c.problem, c.hardware, c.mapping);
        QVERIFY(shared.cycles > counts.cycles);
        c.hardware.levels[3].networkLatency = 10;
        QCOMPARE(counted(c.problem, c.hardware, c.mapping).cycles, shared.cycles + 10);
    }

    void aWordMoreThanFits() {
        Ws16 c;
        c.hardware.levels[1].capacityWords = 255;
        NestEvaluator evaluator(c.problem, c.hardware);
        NestCounts counts;
        QCOMPARE(evaluator.evaluate(c.mapping, counts), MappingFault::Capacity);
        const auto why = evaluator.explain(c.mapping);
        QVERIFY(!why);
        QCOMPARE(why.error().code, std::string("mapping.capacity"));
        QCOMPARE(why.error().place.path, std::string("L1"));
        QVERIFY(!why.error().hint.empty());
        c.hardware.levels[1].capacityWords = 511;
        c.hardware.levels[1].multipleBuffering = 2;
        QCOMPARE(NestEvaluator(c.problem, c.hardware).evaluate(c.mapping, counts), MappingFault::Capacity);
        c.hardware.levels[1].capacityWords = 512;
        QCOMPARE(NestEvaluator(c.problem, c.hardware).evaluate(c.mapping, counts), MappingFault::None);
        c.hardware.levels[1].minUtilisation = 1;
        QCOMPARE(NestEvaluator(c.problem, c.hardware).evaluate(c.mapping, counts), MappingFault::None);
        c.hardware.levels[1].capacityWords = 1024;
        QCOMPARE(NestEvaluator(c.problem, c.hardware).evaluate(c.mapping, counts), MappingFault::Utilisation);
    }

    void faults_data() {
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("code");
        QTest::newRow("too few levels") << 0 << "mapping.levels";
        QTest::newRow("product") << 1 << "mapping.factors";
        QTest::newRow("fan-out") << 2 << "mapping.fan-out";
        QTest::newRow("kept nowhere") << 3 << "mapping.keeps";
        QTest::newRow("no written tensor") << 4 << "mapping.problem";
        QTest::newRow("uneven instances") << 5 << "mapping.hardware";
        QTest::newRow("residual") << 6 << "mapping.factors";
        QTest::newRow("huge fan-out") << 7 << "mapping.fan-out";
    }
    void faults() {
        QFETCH(int, change);
        QFETCH(QString, code);
        Ws16 c;
        auto& loops = c.mapping.levels[2].loops;
        if (change == 0) c.mapping.levels.pop_back();
        if (change == 1) c.mapping.levels[3].loops[0] = {1, LoopKind::Temporal, 4, 4};
        if (change == 2) loops[1].kind = LoopKind::SpatialY;
        if (change == 3) c.mapping.levels[0].keeps = c.mapping.levels[3].keeps = 0b101;
        if (change == 4) c.problem.tensors[2].written = false;
        if (change == 5) c.hardware.levels[1].instances = 15;
        if (change == 6) loops[1].residual = 17;
        if (change == 7) {
            c.problem.extents[2] = 16ll << 26;
            loops[1] = {2, LoopKind::SpatialY, 1ll << 26, 1ll << 26};
        }
        NestEvaluator evaluator(c.problem, c.hardware);
        const auto counts = evaluator.explain(c.mapping);
        QVERIFY(!counts);
        QCOMPARE(QString::fromStdString(counts.error().code), code);
        QVERIFY(!counts.error().expected.empty() || !counts.error().hint.empty());
    }

    void nothingIsAllocatedAfterTheFirst() {
        const Ws16 c;
        NestEvaluator evaluator(c.problem, c.hardware);
        NestCounts counts;
        evaluator.evaluate(c.mapping, counts);
        const long before = allocations;
        for (int i = 0; i < 10; ++i) evaluator.evaluate(c.mapping, counts);
        QCOMPARE(allocations.load(), before);
    }

    // Random products on random chains, with tensors that pass levels by.
    void productsAsWalked_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 45; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void productsAsWalked() {
        QFETCH(int, seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto below = [&random](unsigned n) { return static_cast<std::int64_t>(random() % n); };
        const std::size_t levels = 2 + random() % 2;
        NestMapping mapping;
        std::array<std::int64_t, 3> extents{1, 1, 1};
        std::int64_t work = 1;
        for (std::size_t l = 0; l < levels; ++l) {
            LevelMapping level;
            // The arithmetic under level 0 stays alone: two units that share a word take it from each other.
            for (const LoopKind kind : {LoopKind::SpatialX, LoopKind::SpatialY, LoopKind::Temporal}) {
                if (kind != LoopKind::Temporal && (l == 0 || below(2) == 0)) continue;
                std::array<std::uint8_t, 3> order{0, 1, 2};
                std::shuffle(order.begin(), order.end(), random);
                for (const std::uint8_t d : order) {
                    const std::int64_t bound = 1 + below(kind == LoopKind::Temporal ? 4 : 2);
                    if (bound == 1 || work * bound > 250) continue;
                    work *= bound;
                    extents[d] *= bound;
                    level.loops.push_back({d, kind, bound, bound});
                }
            }
            level.keeps = l + 1 == levels ? 0b111u : static_cast<unsigned>(below(8));
            mapping.levels.push_back(level);
        }
        const NestProblem problem = product(extents[0], extents[1], extents[2]);
        NestHardware hardware = chain(levels);
        meshFor(mapping, hardware);
        compare(problem, hardware, mapping);
    }

    // Sliding windows: loops of two iterations, since of longer ones the model tells only the first two apart.
    void convolutionsAsWalked_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 45; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void convolutionsAsWalked() {
        QFETCH(int, seed);
        std::mt19937 random(static_cast<unsigned>(seed) + 1000);
        NestMapping mapping;
        std::array<std::int64_t, 3> extents{1, 1, 1};
        for (std::size_t l = 0; l < 3; ++l) {
            LevelMapping level;
            std::array<std::uint8_t, 3> order{0, 1, 2};
            std::shuffle(order.begin(), order.end(), random);
            for (const std::uint8_t d : order) {
                if (random() % 3 == 0) continue;
                extents[d] *= 2;
                level.loops.push_back({d, LoopKind::Temporal, 2, 2});
            }
            mapping.levels.push_back(level);
        }
        const NestProblem problem = convolution(extents[0], extents[1], extents[2], 1 + random() % 2, 1 + random() % 2);
        compare(problem, chain(3), mapping);
    }

    // Imperfect loops: extents that the bounds do not divide.
    void residualsAsWalked_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 40; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void residualsAsWalked() {
        QFETCH(int, seed);
        std::mt19937 random(static_cast<unsigned>(seed) + 2000);
        std::array<std::int64_t, 3> extents{};
        NestMapping mapping;
        mapping.levels.resize(2);
        for (std::uint8_t d = 0; d < 3; ++d) {
            const std::int64_t inner = 1 + random() % 4;
            extents[d] = 1 + random() % 12;
            const std::int64_t outer = (extents[d] + inner - 1) / inner;
            const std::int64_t rest = extents[d] - (outer - 1) * inner;
            mapping.levels[0].loops.push_back({d, LoopKind::Temporal, inner, rest});
            mapping.levels[1].loops.push_back({d, LoopKind::Temporal, outer, outer});
        }
        for (LevelMapping& level : mapping.levels) std::shuffle(level.loops.begin(), level.loops.end(), random);
        const NestProblem problem = product(extents[0], extents[1], extents[2]);
        const NestHardware hardware = chain(2);
        const NestCounts counts = counted(problem, hardware, mapping);
        QCOMPARE(counts.computeCycles, problem.operations());
        compare(problem, hardware, mapping);
    }

    // Rows of a filter down, rows of the image along: units on a diagonal share an input.
    void diagonalsAreMulticast() {
        const NestProblem problem = convolution(4, 3, 1, 1, 1);
        NestHardware hardware = chain(2);
        NestMapping mapping;
        mapping.levels.resize(2);
        mapping.levels[1].loops = {{0, LoopKind::SpatialX, 4, 4}, {1, LoopKind::SpatialY, 3, 3}};
        meshFor(mapping, hardware);
        const NestCounts counts = counted(problem, hardware, mapping);
        QCOMPARE(counts.levels[1].tensors[1].reads, 6.0);  // 4 + 3 - 1 different inputs for 12 units
        QCOMPARE(counts.levels[0].tensors[1].fills, 1.0);
        compare(problem, hardware, mapping);
    }

    // Outputs stay, filters move: each unit takes its next input from its neighbour.
    void neighboursHandOn() {
        const NestProblem problem = convolution(8, 4, 1, 1, 1);
        NestHardware hardware = chain(2);
        NestMapping mapping;
        mapping.levels.resize(2);
        mapping.levels[1].loops = {{0, LoopKind::SpatialX, 8, 8}, {1, LoopKind::Temporal, 4, 4}};
        meshFor(mapping, hardware);
        const NestCounts counts = counted(problem, hardware, mapping);
        const TensorCounts& memory = counts.levels[1].tensors[1];
        QCOMPARE(memory.reads, 8.0 + 3);  // every input once
        QCOMPARE(memory.linkTransfers, 3.0 * 7);
        const TensorCounts& unit = counts.levels[0].tensors[1];
        QCOMPARE(unit.fills, std::floor(11.0 / 8 + 2));  // on average, two of them from a neighbour
        // Where the units pass inputs by there is nobody to take them from.
        mapping.levels[0].keeps = 0b101;
        QCOMPARE(counted(problem, hardware, mapping).levels[1].tensors[1].reads, 8.0 * 4);
    }

    void moreBandwidthNeverCosts() {
        Ws16 c;
        double before = std::numeric_limits<double>::infinity();
        for (double bandwidth = 1; bandwidth < 64; bandwidth *= 2) {
            for (NestLevel& level : c.hardware.levels) level.readBandwidth = level.writeBandwidth = bandwidth;
            const double cycles = counted(c.problem, c.hardware, c.mapping).cycles;
            QVERIFY(cycles <= before);
            QVERIFY(cycles >= 32768);
            before = cycles;
        }
    }
};

QTEST_GUILESS_MAIN(TestNestEvaluator)
#include "tst_nest_evaluator.moc"
