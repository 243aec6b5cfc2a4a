// How near is the data-centric model to MAESTRO itself? Reference data: accelerators/maestro (snapshot of 2022-08-27,
// 256 elements): inputs of five networks and what MAESTRO printed for their 159 layers.

#include "mapping/data_centric/maestro_reader.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace orrery;

namespace {

struct Row {
    std::string layer;
    double macs = 0, cycles = 0, activePes = 0, l2 = 0, energy = 0;
};

std::string folder() {
    return std::string(ORRERY_REFERENCE) + "/accelerators/maestro";
}

std::map<std::string, std::vector<Row>> rows() {
    std::map<std::string, std::vector<Row>> sets;
    std::ifstream file(folder() + "/layers.csv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::istringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
        if (cells.size() < 11) continue;
        sets[cells[0]].push_back({cells[1], std::stod(cells[2]), std::stod(cells[3]), std::stod(cells[5]),
                                  std::stod(cells[6]), std::stod(cells[10])});
    }
    return sets;
}

// The definition, written out once more.
double definition(const FlowLayer& layer) {
    const auto of = [&](FlowDim dim) { return static_cast<double>(std::max<std::int64_t>(layer.extent(dim), 1)); };
    if (layer.kind == FlowLayerKind::Product) return of(FlowDim::B) * of(FlowDim::M) * of(FlowDim::N) * of(FlowDim::K);
    const double rows = std::floor((of(FlowDim::Y) - of(FlowDim::R)) / static_cast<double>(layer.strideY)) + 1;
    const double columns = std::floor((of(FlowDim::X) - of(FlowDim::S)) / static_cast<double>(layer.strideX)) + 1;
    return of(FlowDim::N) * of(FlowDim::G) * of(FlowDim::K) * of(FlowDim::C) * of(FlowDim::R) * of(FlowDim::S) * rows *
           columns;
}

}  // namespace

class TestMaestroReference : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(folder())) QSKIP("needs the reference data (ORRERY_REFERENCE)");
    }
    void layersAgree() {
        int all = 0, within = 0, exact = 0, energyWithin = 0;
        for (const auto& [set, expected] : rows()) {
            const auto hardware = readMaestroHardware(folder() + "/" + set + "/hw.m");
            const auto network = readMaestroMapping(folder() + "/" + set + "/input_mapping.m");
            QVERIFY2(hardware && network, set.c_str());
            QCOMPARE(network->layers.size(), expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i) {
                const auto& [layer, type, dataflow, line] = network->layers[i];
                QCOMPARE(layer.name, expected[i].layer);
                const auto counts = analyse(layer, dataflow, *hardware);
                QVERIFY2(counts, layer.name.c_str());
                QCOMPARE(counts->macs, definition(layer));
                QCOMPARE(counts->mappedMacs, counts->macs);
                const double error = counts->cycles / expected[i].cycles - 1;
                ++all;
                within += std::abs(error) <= 0.1 ? 1 : 0;
                exact += counts->cycles == expected[i].cycles ? 1 : 0;
                // Its energy follows its count of operations; where that is right the energies can be compared.
                if (expected[i].macs != counts->macs) {
                    qInfo("%s %s: MAESTRO counts %.0f operations, the layer has %.0f; cycles %+.1f %%", set.c_str(),
                          layer.name.c_str(), expected[i].macs, counts->macs, 100 * error);
                    continue;
                }
                energyWithin += std::abs(counts->energy / expected[i].energy - 1) <= 0.15 ? 1 : 0;
                QVERIFY2(
                    counts->activePes <= expected[i].activePes * 1.001,
                    fmt::format("{} {}: {} of {}", set, layer.name, counts->activePes, expected[i].activePes).c_str());
            }
        }
        qInfo("%d of %d layers within 10 %%, %d exact; energy within 15 %% on %d", within, all, exact, energyWithin);
        QCOMPARE(all, 159);
        QVERIFY2(within >= 0.9 * all, "the target");
        QVERIFY2(within >= 158 && exact >= 158, "what has been measured");
        QVERIFY2(energyWithin >= 150, "what has been measured");
    }

    // The validation of Kwon et al. against the Eyeriss chip (168 elements, 14 words a cycle, AlexNet with a batch of
    // 4): what MAESTRO prints for two of its layers, the second with three levels of clusters.
    void eyerissValidationAgrees() {
        const auto network = parseMaestroMapping(R"(Network alexnet {
Layer CONV2 { Type: CONV Dimensions { N 4, K 256, C 48, R 5, S 5, Y 31, X 31 }
  Dataflow {
    SpatialMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(1,1) N; TemporalMap(2,2) C; TemporalMap(16,16) K;
    TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;
    Cluster(Sz(R),P); TemporalMap(1,1) C; SpatialMap(1,1) Y; SpatialMap(1,1) R; TemporalMap(Sz(S),Sz(S)) S; } }
Layer CONV3 { Type: CONV Dimensions { N 4, K 384, C 256, R 3, S 3, Y 15, X 15 }
  Dataflow {
    TemporalMap(4,4) N; SpatialMap(16,16) K; TemporalMap(4,4) C; TemporalMap(13,13) Y'; TemporalMap(15,13) X;
    TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;
    Cluster(13, P);
    TemporalMap(4,4) N; TemporalMap(16,16) K; TemporalMap(4,4) C; SpatialMap(1,1) Y'; TemporalMap(15,13) X;
    TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;
    Cluster(Sz(R),P);
    TemporalMap(4,4) N; TemporalMap(4,4) C; TemporalMap(16,16) K; TemporalMap(13,13) X'; SpatialMap(1,1) Y;
    SpatialMap(1,1) R; TemporalMap(Sz(S),Sz(S)) S; } }
})",
                                                 "alexnet.m");
        QVERIFY(network);
        FlowHardware hardware;
        hardware.pes = 168;
        hardware.nocBandwidth = 14;
        const double expected[] = {7921306, 4142630};
        for (std::size_t i = 0; i < 2; ++i) {
            const auto counts = analyse(network->layers[i].layer, network->layers[i].dataflow, hardware);
            QVERIFY(counts);
            QCOMPARE(counts->cycles, expected[i]);
            QCOMPARE(counts->macs, i == 0 ? 895795200.0 : 598081536.0);
        }
    }
};

QTEST_GUILESS_MAIN(TestMaestroReference)
#include "tst_maestro_reference.moc"
