#include "base/random.h"
#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/functional.h"
#include "simulation/systolic/simulate.h"
#include "simulation/systolic/snapshot.h"
#include "simulation/systolic/trace.h"
#include "support/systolic_twin.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

using namespace orrery;
using namespace orrery::systolic;

namespace {

std::int64_t from(RandomStream& random, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

Array randomArray(RandomStream& random) {
    Array array;
    array.rows = from(random, 1, 9);
    array.cols = from(random, 1, 9);
    array.dataflow = static_cast<Dataflow>(from(random, 0, 2));
    array.ifmapWords = from(random, 128, 1500);
    array.filterWords = from(random, 128, 1500);
    array.ofmapWords = from(random, 128, 1500);
    array.ifmapBandwidth = from(random, 1, 20);
    array.filterBandwidth = from(random, 1, 20);
    array.ofmapBandwidth = from(random, 1, 20);
    return array;
}

Layer randomGemm(RandomStream& random, std::int64_t most) {
    return gemmLayer("gemm", from(random, 1, most), from(random, 1, most), from(random, 1, most));
}

Layer randomConv(RandomStream& random) {
    Layer layer;
    layer.name = "conv";
    layer.filterHeight = from(random, 1, 4);
    layer.filterWidth = from(random, 1, 4);
    layer.ifmapHeight = layer.filterHeight + from(random, 0, 8);
    layer.ifmapWidth = layer.filterWidth + from(random, 0, 8);
    layer.channels = from(random, 1, 5);
    layer.filters = from(random, 1, 12);
    layer.strideHeight = from(random, 1, 3);
    layer.strideWidth = from(random, 1, 3);
    layer.sparseOf = from(random, 1, 4);
    layer.sparseKept = from(random, 1, layer.sparseOf);
    return layer;
}

/// Factors within a line of at most `width` words, axes in any order.
Layout randomLayout(RandomStream& random, std::size_t dimensions, std::int64_t width) {
    Layout layout;
    for (std::size_t d = 0; d < dimensions; ++d) {
        layout.factors.push_back(from(random, 1, std::min<std::int64_t>(width, 4)));
        width /= layout.factors.back();
    }
    for (int axis = 0; axis < static_cast<int>(2 * dimensions); ++axis) {
        const auto at = from(random, 0, static_cast<std::int64_t>(layout.order.size()));
        layout.order.insert(layout.order.begin() + at, axis);
    }
    return layout;
}

Banks randomBanks(RandomStream& random, std::int64_t& bandwidth) {
    const Banks banks{from(random, 1, 5), from(random, 1, 3)};
    bandwidth = banks.count * from(random, 1, 5);
    return banks;
}

std::string describe(const Array& a, const Layer& l) {
    const Product p = productOf(l, a);
    return fmt::format("{} {}x{} m {} n {} k {} sram {} {} {} bandwidth {} {} {} {}", abbreviation(a.dataflow), a.rows,
                       a.cols, p.m, p.n, p.k, a.ifmapWords, a.filterWords, a.ofmapWords, a.ifmapBandwidth,
                       a.filterBandwidth, a.ofmapBandwidth, a.waitsCountTwice);
}

bool same(const Access& access, const fixture::TwinTransfer& transfer) {
    return access.start == static_cast<double>(transfer.start) && access.stop == static_cast<double>(transfer.stop) &&
           access.words == static_cast<double>(transfer.words);
}

void verifyTwin(const Array& array, const Layer& layer) {
    const auto answer = simulate(array, layer);
    QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
    const auto slow = fixture::twin(array, layer);
    const std::string what = describe(array, layer);
    QVERIFY2(answer->totalCycles == slow.total, what.c_str());
    QVERIFY2(answer->stallCycles == slow.stalls, what.c_str());
    QVERIFY2(same(answer->dramIfmap, slow.ifmap), what.c_str());
    QVERIFY2(same(answer->dramFilter, slow.filter), what.c_str());
    QVERIFY2(same(answer->dramOfmap, slow.ofmap), what.c_str());
}

struct Rows : CycleSink {
    std::vector<CycleRow> rows;
    bool cycle(const CycleRow& row) override {
        rows.push_back(row);
        return true;
    }
};

struct Full : CycleSink {
    bool cycle(const CycleRow&) override { return false; }
};

std::vector<std::int64_t> plain(const Product& p, const std::vector<std::int64_t>& a,
                                const std::vector<std::int64_t>& b) {
    std::vector<std::int64_t> z(static_cast<std::size_t>(p.m * p.n), 0);
    for (std::int64_t m = 0; m < p.m; ++m) {
        for (std::int64_t n = 0; n < p.n; ++n) {
            for (std::int64_t k = 0; k < p.k; ++k)
                z[static_cast<std::size_t>(m * p.n + n)] +=
                    a[static_cast<std::size_t>(m * p.k + k)] * b[static_cast<std::size_t>(k * p.n + n)];
        }
    }
    return z;
}

}  // namespace

class TestSystolicCycle : public QObject {
    Q_OBJECT
private slots:
    // 2 × 2 array, 2 × 2 × 2 product, by hand: the last of A's four reads comes with lane 1 and step 1 in cycle 2.
    void oneFoldByHand() {
        Array array;
        array.rows = array.cols = 2;
        Rows rows;
        SimulateOptions options;
        options.sink = &rows;
        const auto answer = simulate(array, gemmLayer("hand", 2, 2, 2), options);
        QVERIFY(answer);
        QCOMPARE(answer->totalCycles, std::int64_t{3});
        QCOMPARE(rows.rows.size(), std::size_t{4});
        const std::int64_t reads[] = {1, 2, 1, 0};
        const std::int64_t writes[] = {0, 1, 2, 1};
        const std::int64_t active[] = {1, 3, 3, 1};
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(rows.rows[i].ifmapReads, reads[i]);
            QCOMPARE(rows.rows[i].filterReads, reads[i]);
            QCOMPARE(rows.rows[i].ofmapWrites, writes[i]);
            QCOMPARE(rows.rows[i].activePes, active[i]);
        }
        QCOMPARE(answer->dramIfmap.words, 4.0);
    }

    // Four words of a line over two banks, one line per cycle: lanes that want one column of two lines wait.
    void aBankConflictByHand() {
        Array array;
        array.rows = array.cols = 2;
        array.idealBandwidth = false;
        array.ifmapBandwidth = 4;
        array.filterBandwidth = 2;
        array.ifmapBanks = Banks{2, 1};
        Layer layer = gemmLayer("hand", 2, 2, 4);
        layer.ifmapLayout = {{1, 4, 1}, {0, 1, 2, 3, 4, 5}};  // a line per row of the input
        const auto apart = simulate(array, layer);
        QVERIFY(apart);
        // Lane 0 reads row 0 one step ahead of lane 1 in row 1. In one of the three cycles with both, k = 1 and k = 2,
        // they want different banks; in the two others one bank of two lines.
        QCOMPARE(apart->ifmapConflictCycles, std::int64_t{2});
        QCOMPARE(apart->stallCycles, std::int64_t{2});
        array.ifmapBanks = Banks{2, 2};
        QCOMPARE(simulate(array, layer)->stallCycles, std::int64_t{0});
        array.ifmapBanks = Banks{2, 1};
        layer.ifmapLayout = {{2, 2, 1}, {0, 1, 2, 4, 3, 5}};  // a line holds two columns of both rows
        // Only the step in which lane 0 is in the second line and lane 1 still in the first has two lines, in two
        // banks.
        QCOMPARE(simulate(array, layer)->stallCycles, std::int64_t{0});
    }
    void banksAreThoseOfTheTwin() {
        RandomStream random(20264);
        int conflicts = 0;
        for (int i = 0; i < 120; ++i) {
            Array array = randomArray(random);
            array.idealBandwidth = false;
            array.waitsCountTwice = i % 2 == 0;
            Layer layer = i % 3 == 0 ? randomGemm(random, 20) : randomConv(random);
            if (i % 4 != 1) {
                array.ifmapBanks = randomBanks(random, array.ifmapBandwidth);
                layer.ifmapLayout = randomLayout(random, 3, array.ifmapBandwidth);
            }
            if (i % 4 != 2) {
                array.filterBanks = randomBanks(random, array.filterBandwidth);
                layer.filterLayout = randomLayout(random, 4, array.filterBandwidth);
            }
            verifyTwin(array, layer);
            if (QTest::currentTestFailed()) return;
            const auto answer = simulate(array, layer);
            conflicts += answer->ifmapConflictCycles + answer->filterConflictCycles > 0 ? 1 : 0;
        }
        QVERIFY(conflicts > 20);
    }
    void layoutsThatAreNoneAreRefused() {
        Array array;
        array.idealBandwidth = false;
        array.ifmapBandwidth = 8;
        array.ifmapBanks = Banks{4, 1};
        Layer layer = gemmLayer("g", 4, 4, 4);
        const auto code = [&] {
            const auto answer = simulate(array, layer);
            return answer ? std::string("answered") : answer.error().code;
        };
        QCOMPARE(code(), std::string("systolic.layout"));
        layer.ifmapLayout = {{2, 4, 1}, {0, 1, 2, 3, 4, 5}};
        QCOMPARE(code(), std::string("answered"));
        layer.ifmapLayout.order.back() = 0;
        QCOMPARE(code(), std::string("systolic.layout"));
        layer.ifmapLayout = {{4, 4, 1}, {0, 1, 2, 3, 4, 5}};
        QCOMPARE(code(), std::string("systolic.layout"));
        layer.ifmapLayout = {{2, 0, 1}, {0, 1, 2, 3, 4, 5}};
        QCOMPARE(code(), std::string("systolic.layout"));
        layer.ifmapLayout = {{2, 4, 1}, {0, 1, 2, 3, 4, 5}};
        array.ifmapBanks = Banks{3, 1};
        QCOMPARE(code(), std::string("systolic.layout"));
        array.ifmapBanks = Banks{4, 1};
        array.sparse = true;
        QCOMPARE(code(), std::string("systolic.layout"));
    }
    // More halves than a stamp of 16 bits counts.
    void manyExchangesAreCounted() {
        Array array;
        array.rows = array.cols = 4;
        array.ifmapWords = 128;
        Layer layer;
        layer.name = "long";
        layer.ifmapHeight = layer.ifmapWidth = 44;
        layer.filterHeight = layer.filterWidth = 3;
        layer.channels = 20;
        layer.filters = 64;
        const auto answer = simulate(array, layer);
        QVERIFY(answer && answer->dramIfmap.words > 50.0 * 65536);
        Array larger = array;
        larger.ifmapWords = 1 << 20;
        QVERIFY(simulate(larger, layer)->dramIfmap.words < answer->dramIfmap.words);
        QVERIFY(answer->dramIfmap.words <= answer->sramIfmap.words);
    }
    void numbersMoveAsDemanded() {
        RandomStream random(20261);
        for (int i = 0; i < 60; ++i) {
            Array array = randomArray(random);
            const Layer layer = randomGemm(random, 20);
            const auto plan = planFolds(array, layer);
            QVERIFY(plan);
            const Product& p = plan->product;
            std::vector<std::int64_t> a(static_cast<std::size_t>(p.m * p.k));
            std::vector<std::int64_t> b(static_cast<std::size_t>(p.k * p.n));
            for (auto& value : a) value = from(random, -50, 50);
            for (auto& value : b) value = from(random, -50, 50);
            const auto run = multiply(*plan, a, b);
            QVERIFY(run);
            const std::string what = describe(array, layer);
            QVERIFY2(run->z == plain(p, a, b), what.c_str());
            QVERIFY2(run->inStep, what.c_str());
            QCOMPARE(run->macs, p.m * p.n * p.k);
            QCOMPARE(std::accumulate(run->macsOfPe.begin(), run->macsOfPe.end(), std::int64_t{0}), run->macs);
            QCOMPARE(run->cycles, plan->cycles());
        }
    }
    void operandsOfOtherSizesAreRefused() {
        const auto plan = planFolds(Array{}, gemmLayer("g", 4, 4, 4));
        QVERIFY(plan);
        const std::vector<std::int64_t> a(15), b(16);
        QCOMPARE(multiply(*plan, a, b).error().code, std::string("systolic.operand"));
        QCOMPARE(multiply(*plan, b, b, 10).error().code, std::string("systolic.too-long"));
    }

    void productsEqualTheSlowTwin() {
        RandomStream random(7);
        for (int i = 0; i < 130; ++i) {
            Array array = randomArray(random);
            array.idealBandwidth = i % 2 == 0;
            array.waitsCountTwice = i % 4 == 1;
            verifyTwin(array, randomGemm(random, 26));
            if (QTest::currentTestFailed()) return;
        }
    }
    void convolutionsEqualTheSlowTwin() {
        RandomStream random(8);
        for (int i = 0; i < 130; ++i) {
            Array array = randomArray(random);
            array.idealBandwidth = i % 2 == 0;
            array.waitsCountTwice = i % 4 == 1;
            array.sparse = i % 3 == 0;
            array.ifmapWords = from(random, 128, 400);
            verifyTwin(array, randomConv(random));
            if (QTest::currentTestFailed()) return;
        }
    }

    void closedFormEqualsTheSimulation() {
        RandomStream random(9);
        for (int i = 0; i < 2400; ++i) {
            const Array array = randomArray(random);
            const Layer layer = i % 4 == 3 ? randomConv(random) : randomGemm(random, 20);
            const auto slow = simulate(array, layer);
            const auto fast = closedForm(array, layer);
            QVERIFY(slow && fast);
            const std::string what = describe(array, layer);
            QVERIFY2(fast->totalCycles == slow->totalCycles, what.c_str());
            QCOMPARE(slow->stallCycles, std::int64_t{0});
            QVERIFY2(fast->overallUtilization == slow->overallUtilization, what.c_str());
            for (const auto access : {&LayerReport::sramIfmap, &LayerReport::sramFilter, &LayerReport::sramOfmap,
                                      &LayerReport::dramIfmap, &LayerReport::dramFilter, &LayerReport::dramOfmap}) {
                if (!fast->dramKnown && access != &LayerReport::sramFilter && access != &LayerReport::sramOfmap)
                    continue;
                const Access& a = (*slow).*access;
                const Access& b = (*fast).*access;
                QVERIFY2(a.start == b.start && a.stop == b.stop && a.words == b.words, what.c_str());
            }
            if (fast->dramKnown) QVERIFY2(fast->overallCycles == slow->overallCycles, what.c_str());
        }
    }

    // No PE multiplies more than once a cycle, reads are bound by the sides, and every operand is fetched at least
    // once.
    void boundsHold() {
        RandomStream random(10);
        for (int i = 0; i < 100; ++i) {
            Array array = randomArray(random);
            array.idealBandwidth = i % 2 == 0;
            const Layer layer = randomGemm(random, 30);
            Rows rows;
            SimulateOptions options;
            options.sink = &rows;
            const auto answer = simulate(array, layer, options);
            QVERIFY(answer);
            std::int64_t work = 0, ifmap = 0, filter = 0, ofmap = 0, stalls = 0;
            for (const CycleRow& row : rows.rows) {
                QVERIFY(row.activePes <= array.rows * array.cols);
                QVERIFY(row.ifmapReads <= std::max(array.rows, array.cols));
                work += row.activePes, ifmap += row.ifmapReads, filter += row.filterReads, ofmap += row.ofmapWrites;
                stalls += row.stall;
            }
            const Product p = answer->product;
            QCOMPARE(work, p.m * p.n * p.k);
            QCOMPARE(static_cast<double>(ifmap), answer->sramIfmap.words);
            QCOMPARE(static_cast<double>(filter), answer->sramFilter.words);
            QCOMPARE(stalls, answer->stallCycles);
            QVERIFY(answer->dramIfmap.words >= static_cast<double>(p.m * p.k) || !array.idealBandwidth);
            QVERIFY(answer->dramFilter.words >= static_cast<double>(p.n * p.k) || !array.idealBandwidth);
            QVERIFY(answer->overallUtilization <=
                    100.0 * static_cast<double>(answer->totalCycles + 1) /
                        static_cast<double>(std::max<std::int64_t>(1, answer->totalCycles)));
        }
    }
    void moreBandwidthNeverStallsMore() {
        RandomStream random(11);
        for (int i = 0; i < 60; ++i) {
            Array array = randomArray(random);
            array.idealBandwidth = false;
            array.ifmapBandwidth = array.filterBandwidth = array.ofmapBandwidth = 1;
            const Layer layer = randomGemm(random, 30);
            std::int64_t before = -1;
            for (const std::int64_t bandwidth : {1, 2, 4, 8, 64}) {
                array.ifmapBandwidth = array.filterBandwidth = bandwidth;
                const auto answer = simulate(array, layer);
                QVERIFY(answer);
                QVERIFY2(before < 0 || answer->stallCycles <= before, describe(array, layer).c_str());
                before = answer->stallCycles;
            }
        }
    }

    void snapshotsAgreeWithTheDemand() {
        RandomStream random(12);
        for (int i = 0; i < 40; ++i) {
            const Array array = randomArray(random);
            const Layer layer = randomGemm(random, 14);
            const auto plan = planFolds(array, layer);
            QVERIFY(plan);
            const Product p = plan->product;
            std::vector<std::int64_t> times(static_cast<std::size_t>(p.m * p.n), 0);
            double busy = 0;
            for (std::int64_t cycle = 0; cycle < plan->cycles(); ++cycle) {
                const auto shot = snapshot(*plan, cycle);
                std::int64_t active = 0;
                for (const PeSnapshot& pe : shot.pes) {
                    if (pe.activity != PeActivity::Active) continue;
                    ++active;
                    // The three indices belong together: Z[m][n] += A[m][k]·B[k][n].
                    QVERIFY(pe.a.row == pe.z.row && pe.b.col == pe.z.col && pe.a.col == pe.b.row);
                    QVERIFY(pe.a.row < p.m && pe.b.col < p.n && pe.a.col < p.k);
                    ++times[static_cast<std::size_t>(pe.z.row * p.n + pe.z.col)];
                }
                QCOMPARE(active, shot.activePes);
                busy += shot.utilization();
            }
            QVERIFY(std::all_of(times.begin(), times.end(), [&](std::int64_t n) { return n == p.k; }));
            const auto strip = utilizationOverTime(*plan, 7);
            // Stretches differ by a cycle where 7 does not divide: compare with one stretch.
            const auto whole = utilizationOverTime(*plan, 1);
            QVERIFY(std::abs(whole[0] * static_cast<double>(plan->cycles()) - busy) < 1e-6 * busy + 1e-9);
            QVERIFY(std::all_of(strip.begin(), strip.end(), [](double u) { return u >= -1e-12 && u <= 1 + 1e-12; }));
        }
    }

    void runsEndWhenAskedTo() {
        std::stop_source stop;
        stop.request_stop();
        SimulateOptions options;
        options.stop = stop.get_token();
        QCOMPARE(simulate(Array{}, gemmLayer("g", 64, 64, 64), options).error().code, std::string("study.cancelled"));
        options = {};
        options.mostCycles = 100;
        QCOMPARE(simulate(Array{}, gemmLayer("g", 64, 64, 64), options).error().code, std::string("systolic.too-long"));
        options = {};
        Full full;
        options.sink = &full;
        QCOMPARE(simulate(Array{}, gemmLayer("g", 64, 64, 64), options).error().code, std::string("systolic.trace"));
        Layer wide;
        wide.filterHeight = wide.filterWidth = 3;
        wide.ifmapHeight = wide.ifmapWidth = 40'000;
        options = {};
        QCOMPARE(simulate(Array{}, wide, options).error().code, std::string("systolic.too-large"));
        Array none;
        none.rows = 0;
        QCOMPARE(simulate(none, gemmLayer("g", 4, 4, 4)).error().code, std::string("systolic.array"));
        QCOMPARE(simulate(Array{}, gemmLayer("g", 4, 0, 4)).error().code, std::string("systolic.layer"));
    }
    void traceHasARowPerCycle() {
        QTemporaryDir folder;
        const std::string file = folder.filePath("trace.csv").toStdString();
        {
            auto trace = CsvTrace::open(file);
            QVERIFY(trace);
            (*trace)->layer("a \"layer\"");
            SimulateOptions options;
            options.sink = trace->get();
            QVERIFY(simulate(Array{}, gemmLayer("g", 64, 64, 64), options));
            QVERIFY((*trace)->close());
        }
        QFile read(QString::fromStdString(file));
        QVERIFY(read.open(QIODevice::ReadOnly));
        const auto lines = read.readAll().split('\n');
        QCOMPARE(lines.size(), 1 + 504 + 1);
        QVERIFY(lines[0].startsWith("layer,cycle,fold,"));
        QCOMPARE(lines[1], QByteArray("\"a \"\"layer\"\"\",0,0,1,1,0,1,1,1,0"));
        QCOMPARE(CsvTrace::open((folder.path() + "/none/x.csv").toStdString()).error().code,
                 std::string("systolic.trace"));
    }
};

QTEST_GUILESS_MAIN(TestSystolicCycle)
#include "tst_systolic_cycle.moc"
