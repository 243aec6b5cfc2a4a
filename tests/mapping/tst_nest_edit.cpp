// Edits of a mapping by hand: whatever is done, every dimension is still covered exactly once.

#include "base/random.h"
#include "mapping/nest_edit.h"

#include <QtTest/QtTest>

#include <array>

using namespace orrery;

namespace {

constexpr std::array<std::int64_t, 3> extents{24, 36, 7};

NestMapping sample() {
    NestMapping mapping;
    mapping.levels.resize(3);
    mapping.levels[0].loops = {{0, LoopKind::Temporal, 4, 4}};
    mapping.levels[1].loops = {
        {1, LoopKind::SpatialX, 6, 6}, {0, LoopKind::SpatialY, 2, 2}, {1, LoopKind::Temporal, 3, 3}};
    mapping.levels[2].loops = {
        {0, LoopKind::Temporal, 3, 3}, {1, LoopKind::Temporal, 2, 2}, {2, LoopKind::Temporal, 7, 7}};
    return mapping;
}

std::array<std::int64_t, 3> products(const NestMapping& mapping) {
    std::array<std::int64_t, 3> product{1, 1, 1};
    for (const LevelMapping& level : mapping.levels) {
        for (const NestLoop& loop : level.loops) product[loop.dimension] *= loop.bound;
    }
    return product;
}

bool spatialFirst(const NestMapping& mapping) {
    for (const LevelMapping& level : mapping.levels) {
        bool temporal = false;
        for (const NestLoop& loop : level.loops) {
            if (loop.kind == LoopKind::Temporal)
                temporal = true;
            else if (temporal)
                return false;
        }
    }
    return true;
}

}  // namespace

class TestNestEdit : public QObject {
    Q_OBJECT
private slots:
    void aFactorIsTakenFromTheOutermostLoop() {
        NestMapping mapping = sample();
        LoopPlace loop{0, 0};  // 4 of dimension 0, whose outermost loop has 3: 12 together
        QCOMPARE(nextBound(mapping, loop, true), 6);
        QCOMPARE(nextBound(mapping, loop, false), 3);
        QVERIFY(setBound(mapping, loop, 6));
        QCOMPARE(mapping.levels[0].loops[0].bound, 6);
        QCOMPARE(mapping.levels[2].loops[0].bound, 2);
        QVERIFY(!setBound(mapping, loop, 5));
        QCOMPARE(mapping.levels[0].loops[0].bound, 6);
    }
    void aLoopAloneMakesItsPartner() {
        NestMapping mapping = sample();
        LoopPlace loop{2, 2};
        QVERIFY(setBound(mapping, loop, 1));
        QCOMPARE(products(mapping), extents);
    }
    void spatialLoopsStayInsideTemporalOnes() {
        NestMapping mapping = sample();
        const LoopPlace now = moveLoop(mapping, {1, 0}, {2, 3});
        QCOMPARE(now, (LoopPlace{2, 0}));
        QVERIFY(spatialFirst(mapping));
        QCOMPARE(setKind(mapping, now, LoopKind::Temporal), (LoopPlace{2, 0}));
    }
    void theOutermostLevelKeepsAll() {
        NestMapping mapping = sample();
        QVERIFY(!toggleKeep(mapping, 2, 0));
        QVERIFY(toggleKeep(mapping, 0, 1));
        QCOMPARE(mapping.levels[0].keeps & 2u, 0u);
    }
    void anySequenceCoversEveryDimensionOnce_data() {
        QTest::addColumn<quint64>("seed");
        for (quint64 seed = 1; seed <= 20; ++seed) QTest::addRow("%llu", seed) << seed;
    }
    void anySequenceCoversEveryDimensionOnce() {
        QFETCH(quint64, seed);
        RandomStream random(seed);
        NestMapping mapping = sample();
        for (int step = 0; step < 500; ++step) {
            LoopPlace loop{random.below(3), 0};
            const std::size_t count = mapping.levels[loop.level].loops.size();
            if (count == 0) continue;
            loop.index = random.below(count);
            switch (random.below(4)) {
                case 0: {
                    const std::int64_t bound = nextBound(mapping, loop, random.below(2) == 0);
                    QVERIFY(setBound(mapping, loop, bound));
                    break;
                }
                case 1: {
                    const std::size_t level = random.below(3);
                    loop = moveLoop(mapping, loop, {level, random.below(mapping.levels[level].loops.size() + 1)});
                    break;
                }
                case 2:
                    loop = setKind(mapping, loop, static_cast<LoopKind>(random.below(3)));
                    break;
                default:
                    removeTrivial(mapping, loop);
            }
            QVERIFY(holds(mapping, loop));
            QCOMPARE(products(mapping), extents);
            QVERIFY(spatialFirst(mapping));
        }
    }
};

QTEST_GUILESS_MAIN(TestNestEdit)
#include "tst_nest_edit.moc"
