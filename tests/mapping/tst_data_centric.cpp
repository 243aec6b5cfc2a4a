// Is the data-centric model right where it can be worked out otherwise: by hand, by a slow walk over every tile, by
// what must be conserved, and by what must not fall?

#include "base/random.h"
#include "mapping/data_centric/data_centric.h"
#include "mapping/data_centric/maestro_reader.h"
#include "mapping/data_centric/stock_dataflows.h"
#include "support/data_centric_twin.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <set>

using namespace orrery;
using namespace orrery::test;

namespace {

FlowLayer convolution(std::int64_t k, std::int64_t c, std::int64_t filter, std::int64_t side, std::int64_t stride = 1) {
    FlowLayer layer;
    layer.name = fmt::format("{}x{}x{}x{} s{}", k, c, filter, side, stride);
    layer.extent(FlowDim::K) = k;
    layer.extent(FlowDim::C) = c;
    layer.extent(FlowDim::R) = layer.extent(FlowDim::S) = filter;
    layer.extent(FlowDim::Y) = layer.extent(FlowDim::X) = side;
    layer.strideY = layer.strideX = stride;
    return layer;
}

FlowLayer randomLayer(RandomStream& random, std::int64_t channels, std::int64_t side) {
    const auto upTo = [&](std::int64_t most) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
    };
    FlowLayer layer = convolution(upTo(channels), upTo(channels), 1, 1);
    layer.extent(FlowDim::R) = upTo(4);
    layer.extent(FlowDim::S) = upTo(4);
    layer.strideY = upTo(3);
    layer.strideX = upTo(3);
    layer.extent(FlowDim::Y) =
        layer.extent(FlowDim::R) + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(side)));
    layer.extent(FlowDim::X) =
        layer.extent(FlowDim::S) + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(side)));
    if (random.uniform() < 0.2) layer.extent(FlowDim::N) = upTo(3);
    if (random.uniform() < 0.2) layer.extent(FlowDim::G) = upTo(3);
    if (random.uniform() < 0.2) {
        layer.kind = FlowLayerKind::Depthwise;
        layer.extent(FlowDim::K) = 1;
    }
    return layer;
}

std::string shown(const FlowLayer& layer) {
    std::string text;
    for (std::size_t d = 0; d < flowDims; ++d) {
        if (layer.extents[d] > 0) text += fmt::format("{}{} ", toText(static_cast<FlowDim>(d)), layer.extents[d]);
    }
    return text + fmt::format("strides {} {}", layer.strideY, layer.strideX);
}

DirectiveDataflow flow(std::string_view text) {
    auto parsed = parseDataflow(text);
    if (!parsed) qFatal("%s", toText(parsed.error()).c_str());
    return *parsed;
}

FlowCounts priced(const FlowLayer& layer, const DirectiveDataflow& dataflow, const FlowHardware& hardware) {
    const auto counts = analyse(layer, dataflow, hardware);
    if (!counts) qFatal("%s", toText(counts.error()).c_str());
    return *counts;
}

constexpr std::size_t input = 0, weight = 1, output = 2;

}  // namespace

class TestDataCentric : public QObject {
    Q_OBJECT
private slots:
    void macsFollowFromTheLayerAlone() {
        QCOMPARE(macs(convolution(64, 3, 7, 224, 2)), 64.0 * 3 * 49 * 109 * 109);
        auto depthwise = convolution(1, 32, 3, 14);
        depthwise.kind = FlowLayerKind::Depthwise;
        QCOMPARE(macs(depthwise), 32.0 * 9 * 12 * 12);
        QCOMPARE(elements(depthwise, FlowTensor::Output), 32.0 * 144);
        QCOMPARE(elements(convolution(8, 4, 3, 10, 2), FlowTensor::Input), 4.0 * 100);
        QCOMPARE(elements(convolution(8, 4, 3, 10, 2), FlowTensor::Output), 8.0 * 16);
    }

    // K over two units, X in time; the network takes one word a cycle and one cycle to start. First step: 1 input and 2
    // weights in 3 cycles, then 1 of work. Five more columns: 2 outputs leave in 2 cycles. Second pair of K: 1 input,
    // for the columns begin anew, and 2 weights: 3. Five more columns: 2 each. 4 + 10 + 3 + 10.
    void aCaseWorkedByHand() {
        FlowLayer layer = convolution(4, 1, 1, 1);
        layer.extent(FlowDim::X) = 6;
        FlowHardware hardware;
        hardware.pes = 2;
        hardware.nocBandwidth = 1;
        const auto counts = priced(layer, flow("SpatialMap(1,1) K; TemporalMap(1,1) X;"), hardware);
        QCOMPARE(counts.cycles, 27.0);
        QCOMPARE(counts.macs, 24.0);
        QCOMPARE(counts.mappedMacs, 24.0);
        QCOMPARE(counts.l2[input].reads, 12.0);
        QCOMPARE(counts.l2[weight].reads, 4.0);
        QCOMPARE(counts.l2[output].writes, 24.0);
        QCOMPARE(counts.l1[weight].reads, 24.0);
        QCOMPARE(counts.l1Words, 2.0 * 3);
        QCOMPARE(counts.l2Words, 2.0 * (3 + 2));
        QCOMPARE(counts.activePes, 2.0);
        QCOMPARE(counts.peakBandwidth, 3.0);
        QCOMPARE(counts.utilisation, 24.0 / 54);
        QCOMPARE(counts.energy, 24 + 1.68 * (3 * 24 + 24 + 16) + 18.61 * (16 + 24 + 6 + 4 + 24));
    }

    void memoryLimitsEveryStep() {
        FlowHardware hardware;
        hardware.pes = 4;
        hardware.offchipBandwidth = 2;
        auto layer = convolution(4, 8, 1, 1);
        // 8 + 32 words come in for each of the double buffers: 40 / 2 = 20 cycles in the only step.
        QCOMPARE(priced(layer, flow("SpatialMap(1,1) K;"), hardware).cycles, 20.0);
        hardware.doubleBuffered = false;
        QCOMPARE(priced(layer, flow("SpatialMap(1,1) K;"), hardware).cycles, 1.0 + 8 + 1 + 20 + 2);
    }

    void everyOperationIsDoneOnceUnderStockDataflows() {
        RandomStream random(41);
        for (int round = 0; round < 120; ++round) {
            const auto layer = randomLayer(random, 5, 5);
            for (const auto& stock : stockDataflows()) {
                const auto bound = bind(directivesOf(stock, layer.kind), layer);
                QVERIFY(bound);
                const auto pes = 1 + static_cast<std::int64_t>(random.below(20));
                std::set<std::array<std::int64_t, flowDims>> seen;
                double visits = 0;
                DataCentricTwin(layer, *bound, pes).run([&](const auto& point) { seen.insert(point), ++visits; });
                const auto where = fmt::format("{} on {} units, {}", stock.id, pes, shown(layer));
                QVERIFY2(visits == macs(layer), qPrintable(QString::fromStdString(where)));
                QVERIFY2(static_cast<double>(seen.size()) == macs(layer), qPrintable(QString::fromStdString(where)));
            }
        }
    }

    void cyclesAndWorkAgreeWithTheSlowTwin() {
        RandomStream random(42);
        FlowAnalysis analysis;
        for (int round = 0; round < 250; ++round) {
            const auto layer = randomLayer(random, 6, 6);
            for (const auto& stock : stockDataflows()) {
                const auto bound = bind(directivesOf(stock, layer.kind), layer);
                FlowHardware hardware;
                hardware.pes = 1 + static_cast<std::int64_t>(random.below(24));
                hardware.nocLatency = 0;
                const auto counts = analysis(layer, *bound, hardware);
                QVERIFY(counts);
                const double cycles = DataCentricTwin(layer, *bound, hardware.pes).run([](const auto&) {});
                const auto where =
                    fmt::format("{} on {} units, {}: {} cycles, twin {}; {} of {} operations", stock.id, hardware.pes,
                                shown(layer), counts->cycles, cycles, counts->mappedMacs, counts->macs);
                QVERIFY2(counts->mappedMacs == counts->macs, where.c_str());
                QVERIFY2(
                    counts->cycles == cycles + 0 || std::abs(counts->cycles - cycles) <= counts->steps * 1e-9 + 1e-9,
                    where.c_str());
            }
        }
    }

    void nothingIsReadLessThanOnce() {
        RandomStream random(43);
        for (int round = 0; round < 300; ++round) {
            const auto layer = randomLayer(random, 80, 30);
            FlowHardware hardware;
            hardware.pes = 1 + static_cast<std::int64_t>(random.below(300));
            hardware.nocBandwidth = 1 + static_cast<double>(random.below(64));
            for (const auto& stock : stockDataflows()) {
                Diagnostics warnings;
                const auto counts = analyse(layer, directivesOf(stock, layer.kind), hardware, &warnings);
                QVERIFY(counts);
                const auto where = fmt::format("{} {}", stock.id, shown(layer));
                QVERIFY2(counts->macs == macs(layer), where.c_str());
                QVERIFY2(std::abs(counts->mappedMacs - counts->macs) < 1e-6 * counts->macs, where.c_str());
                // Rows that no window reads need not be read.
                const double used =
                    elements(layer, FlowTensor::Input) / layer.extent(FlowDim::Y) / layer.extent(FlowDim::X) *
                    static_cast<double>(outputExtent(layer, FlowDim::Y) * outputExtent(layer, FlowDim::X));
                QVERIFY2(counts->l2[input].reads >= used * (1 - 1e-12), where.c_str());
                QVERIFY2(counts->l2[weight].reads >= elements(layer, FlowTensor::Weight), where.c_str());
                QVERIFY2(counts->l2[output].writes >= elements(layer, FlowTensor::Output), where.c_str());
                QVERIFY2(counts->l2[weight].writes == elements(layer, FlowTensor::Weight), where.c_str());
                for (std::size_t t = 0; t < flowTensors; ++t) QCOMPARE(counts->l1[t].reads, counts->macs);
                const double possible = static_cast<double>(hardware.pes * hardware.simdLanes);
                QVERIFY2(counts->cycles >= counts->macs / possible * (1 - 1e-12), where.c_str());
                QVERIFY2(counts->utilisation > 0 && counts->utilisation <= 1 + 1e-12, where.c_str());
                QVERIFY2(counts->activePes <= static_cast<double>(hardware.pes), where.c_str());
                QVERIFY(counts->energy > counts->macs);
            }
        }
    }

    void moreBandwidthNeverCostsTime() {
        RandomStream random(44);
        for (int round = 0; round < 60; ++round) {
            const auto layer = randomLayer(random, 64, 30);
            for (const auto& stock : stockDataflows()) {
                const auto& dataflow = directivesOf(stock, layer.kind);
                FlowHardware hardware;
                hardware.pes = 64;
                double before = -1;
                for (const double bandwidth : {1.0, 2.0, 4.0, 16.0, 256.0, 1e9}) {
                    hardware.nocBandwidth = bandwidth;
                    const double cycles = priced(layer, dataflow, hardware).cycles;
                    QVERIFY(before < 0 || cycles <= before);
                    before = cycles;
                }
                for (const double latency : {1.0, 2.0, 8.0}) {
                    hardware.nocLatency = latency;
                    const double cycles = priced(layer, dataflow, hardware).cycles;
                    QVERIFY(latency == 1.0 || cycles >= before);
                    before = cycles;
                }
                hardware.nocLatency = 1;
                before = -1;
                for (const double bandwidth : {1.0, 3.0, 9.0, 81.0}) {
                    hardware.offchipBandwidth = bandwidth;
                    const double cycles = priced(layer, dataflow, hardware).cycles;
                    QVERIFY(before < 0 || cycles <= before);
                    before = cycles;
                }
            }
        }
    }

    void rowStationaryWorksWithAnyNumberOfElements() {
        const auto* stock = stockDataflow("yrp-rs");
        QVERIFY(stock);
        const auto original = flow(
            "TemporalMap(2,2) K; TemporalMap(3,3) C; SpatialMap(Sz(R),1) Y; TemporalMap(Sz(S),1) X; "
            "TemporalMap(Sz(R),Sz(R)) R;"
            "TemporalMap(Sz(S),Sz(S)) S; Cluster(Sz(R),P); SpatialMap(1,1) Y; SpatialMap(1,1) R; "
            "TemporalMap(Sz(S),Sz(S)) S;");
        for (const auto& layer :
             {convolution(64, 3, 7, 224, 2), convolution(64, 64, 1, 56), convolution(256, 256, 1, 56, 2),
              convolution(64, 64, 3, 56), convolution(1000, 2048, 7, 7)}) {
            for (std::int64_t pes = 1; pes <= 1024; pes = pes < 20 ? pes + 1 : pes * 5 / 4) {
                for (const auto* dataflow : {&directivesOf(*stock, layer.kind), &original}) {
                    FlowHardware hardware;
                    hardware.pes = pes;
                    const auto counts = priced(layer, *dataflow, hardware);
                    const auto where = fmt::format("{} units, {}", pes, shown(layer));
                    QVERIFY2(
                        counts.macs == macs(layer) && std::abs(counts.mappedMacs - counts.macs) < 1e-9 * counts.macs,
                        where.c_str());
                    QVERIFY2(counts.cycles >= counts.macs / static_cast<double>(pes), where.c_str());
                }
            }
        }
    }

    void clustersThatDoNotFitAreMadeSmaller() {
        FlowHardware hardware;
        hardware.pes = 10;
        Diagnostics warnings;
        const auto layer = convolution(16, 64, 3, 8);
        QVERIFY(analyse(layer, directivesOf(*stockDataflow("kcp-ws"), layer.kind), hardware, &warnings));
        QCOMPARE(warnings.size(), std::size_t{1});
        QCOMPARE(warnings[0].code, std::string("dataflow.folded"));
    }

    void missedAndRepeatedWorkIsSaid() {
        FlowHardware hardware;
        hardware.pes = 4;
        for (const auto* text : {"SpatialMap(1,2) K;", "SpatialMap(1,1) K; TemporalMap(2,1) C;",
                                 "SpatialMap(1,1) K; SpatialMap(1,1) C;"}) {
            Diagnostics warnings;
            const auto counts = analyse(convolution(8, 8, 1, 4), flow(text), hardware, &warnings);
            QVERIFY(counts);
            QCOMPARE(counts->macs, 8.0 * 8 * 16);
            QVERIFY2(!warnings.empty() && warnings[0].code == "dataflow.coverage", text);
        }
    }

    void productsMapAsConvolutions() {
        FlowLayer product;
        product.kind = FlowLayerKind::Product;
        product.extent(FlowDim::B) = 3;
        product.extent(FlowDim::M) = 40;
        product.extent(FlowDim::N) = 50;
        product.extent(FlowDim::K) = 60;
        const auto layer = asConvolution(product);
        QCOMPARE(macs(layer), macs(product));
        for (const auto tensor : {FlowTensor::Input, FlowTensor::Weight, FlowTensor::Output}) {
            QCOMPARE(elements(layer, tensor), elements(product, tensor));
        }
    }

    void randomDirectivesNeverCrash() {
        RandomStream random(45);
        FlowAnalysis analysis;
        int answered = 0;
        for (int round = 0; round < 4000; ++round) {
            auto layer = randomLayer(random, 20, 40);
            if (random.uniform() < 0.1) {
                layer.kind = FlowLayerKind::Product;
                layer.extents = {};
                for (const auto dim : {FlowDim::M, FlowDim::N, FlowDim::K})
                    layer.extent(dim) = 1 + static_cast<std::int64_t>(random.below(64));
            }
            std::vector<BoundDirective> directives;
            const auto count = random.below(16);
            for (std::uint64_t i = 0; i < count; ++i) {
                BoundDirective each;
                const double what = random.uniform();
                each.kind = what < 0.15   ? Directive::Kind::Cluster
                            : what < 0.45 ? Directive::Kind::Spatial
                                          : Directive::Kind::Temporal;
                each.dim = static_cast<FlowDim>(random.below(flowDims));
                each.output = random.uniform() < 0.2 && (each.dim == FlowDim::Y || each.dim == FlowDim::X);
                const auto size = [&] {
                    return random.uniform() < 0.02 ? 2147483647 : 1 + static_cast<std::int64_t>(random.below(12));
                };
                each.size = size();
                each.offset = size();
                directives.push_back(each);
            }
            FlowHardware hardware;
            hardware.pes = random.uniform() < 0.05 ? 2147483647 : 1 + static_cast<std::int64_t>(random.below(100));
            const auto counts = analysis(layer, directives, hardware);
            if (!counts) {
                QVERIFY(!counts.error().code.empty() && !counts.error().message.empty());
                continue;
            }
            ++answered;
            QVERIFY(std::isfinite(counts->cycles) && counts->cycles >= 0);
            QVERIFY(std::isfinite(counts->energy) && counts->utilisation <= 1 + 1e-9);
            QCOMPARE(counts->macs, macs(layer));
        }
        QVERIFY2(answered > 100, qPrintable(QString::number(answered)));
    }
};

QTEST_GUILESS_MAIN(TestDataCentric)
#include "tst_data_centric.moc"
