// Are MAESTRO's files read for what they say, and wrong ones refused with a place and a hint?

#include "base/random.h"
#include "mapping/data_centric/maestro_reader.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <fstream>
#include <map>

using namespace orrery;

namespace {

struct Refusal {
    std::string code;
    int line;
};

// The bad files by name: what each must be refused with, and on which line.
const std::map<std::string, Refusal> refusals{{"binary", {"maestro.character", 1}},
                                              {"cluster-kind", {"maestro.cluster", 6}},
                                              {"deep-brackets", {"maestro.size", 6}},
                                              {"dimension-redefined", {"maestro.dimension-twice", 4}},
                                              {"dimension-twice", {"dataflow.dimension-twice", 6}},
                                              {"division-by-zero", {"dataflow.size", 6}},
                                              {"empty", {"maestro.empty", 1}},
                                              {"extent-zero", {"dataflow.size", 4}},
                                              {"filter-larger-than-input", {"data-centric.filter", 2}},
                                              {"layer-without-network", {"maestro.syntax", 1}},
                                              {"map-of-foreign-dimension", {"dataflow.dimension", 6}},
                                              {"missing-bracket", {"maestro.syntax", 6}},
                                              {"missing-dimension", {"maestro.dimension", 2}},
                                              {"misspelt-directive", {"maestro.directive", 6}},
                                              {"nine-levels", {"dataflow.levels", 6}},
                                              {"no-dataflow", {"maestro.no-dataflow", 2}},
                                              {"no-spatial-map", {"dataflow.no-spatial-map", 6}},
                                              {"no-type", {"maestro.type", 2}},
                                              {"number-too-large", {"maestro.number", 4}},
                                              {"offset-zero", {"dataflow.size", 6}},
                                              {"only-comment", {"maestro.empty", 2}},
                                              {"open-comment", {"maestro.comment", 1}},
                                              {"pooling", {"maestro.type", 3}},
                                              {"product-with-rows", {"maestro.dimension", 2}},
                                              {"size-of-missing-dimension", {"dataflow.dimension", 6}},
                                              {"size-zero", {"dataflow.size", 6}},
                                              {"three-spatial-maps", {"dataflow.spatial-maps", 6}},
                                              {"unclosed-network", {"maestro.syntax", 9}},
                                              {"unknown-constant", {"maestro.unknown-constant", 6}},
                                              {"unknown-dimension", {"maestro.dimension", 6}},
                                              {"work-too-large", {"data-centric.too-large", 2}}};
const std::map<std::string, Refusal> hardwareRefusals{{"huge", {"maestro.number", 1}},
                                                      {"misspelt", {"maestro.hardware-key", 1}},
                                                      {"negative", {"maestro.hardware-value", 1}},
                                                      {"no-pes", {"maestro.hardware-pes", 2}},
                                                      {"no-value", {"maestro.hardware-value", 2}},
                                                      {"text", {"maestro.hardware-value", 1}},
                                                      {"twice", {"maestro.hardware-twice", 2}},
                                                      {"zero", {"maestro.hardware-value", 1}}};

Diagnostic refusalOf(const std::string& file) {
    const auto network = readMaestroMapping(file);
    if (!network) return network.error();
    FlowHardware hardware;
    hardware.pes = 16;
    for (const auto& each : network->layers) {
        const auto counts = analyse(each.layer, each.dataflow, hardware);
        if (!counts) return counts.error();
    }
    return {};
}

void compare(const Diagnostic& found, const Refusal& wanted, const std::string& file) {
    const auto text = toText(found) + "\n" + file;
    QVERIFY2(found.code == wanted.code, text.c_str());
    QVERIFY2(found.place.line == wanted.line, text.c_str());
    QVERIFY2(found.place.file == file, text.c_str());
    QVERIFY2(!found.hint.empty() || !found.expected.empty(), text.c_str());
}

std::string data(const std::string& name) {
    return std::string(ORRERY_TEST_DATA) + "/" + name;
}

}  // namespace

class TestMaestroReader : public QObject {
    Q_OBJECT
private slots:
    void layersAreReadAsWritten() {
        const auto network = readMaestroMapping(data("maestro/network.m"));
        QVERIFY2(network, network ? "" : toText(network.error()).c_str());
        QCOMPARE(network->name, std::string("Sample"));
        QCOMPARE(network->layers.size(), std::size_t{9});
        const std::vector<double> expected{32.0 * 3 * 9 * 16 * 16,
                                           32.0 * 32 * 9 * 14 * 14,
                                           16.0 * 9 * 12 * 12,
                                           4.0 * 4 * 8 * 9 * 144,
                                           8.0 * 8 * 4 * 13 * 13,
                                           32.0 * 48 * 64,
                                           2.0 * 32 * 48 * 64,
                                           128.0 * 64,
                                           1280};
        for (std::size_t i = 0; i < expected.size(); ++i) QCOMPARE(macs(network->layers[i].layer), expected[i]);
        const auto& first = network->layers[0];
        QCOMPARE(first.layer.strideX, std::int64_t{2});
        QCOMPARE(first.dataflow.directives.size(), std::size_t{5});
        QCOMPARE(first.dataflow.directives[1].line, 12);
        QCOMPARE(network->layers[1].dataflow.directives, first.dataflow.directives);
        QCOMPARE(network->layers[1].layer.extent(FlowDim::Y), std::int64_t{16});
        QVERIFY(network->layers[2].dataflow.directives[1].output);
        const auto bound = bind(network->layers[2].dataflow, network->layers[2].layer);
        QVERIFY(bound);
        QCOMPARE((*bound)[2].size, std::int64_t{4});
        const auto product = bind(network->layers[5].dataflow, network->layers[5].layer);
        QVERIFY(product);
        QCOMPARE((*product)[2].size, std::int64_t{16});
        QCOMPARE((*product)[3].size, std::int64_t{16});
    }
    void hardwareIsReadAsWritten() {
        const auto hardware = readMaestroHardware(data("maestro/hardware.m"));
        QVERIFY(hardware);
        QCOMPARE(hardware->pes, std::int64_t{64});
        QCOMPARE(hardware->l1Words, 64.0);
        QCOMPARE(hardware->l2Words, 4096.0);
        QCOMPARE(hardware->nocBandwidth, 16.0);
        QCOMPARE(hardware->nocLatency, 2.0);
        QCOMPARE(hardware->offchipBandwidth, 8.0);
        const auto still = parseMaestroHardware("num_pes: 4\nNoC_NumHops: 0", "h.m");
        QVERIFY(still);
        QCOMPARE(still->nocLatency, 0.0);
    }
    void dataflowsAreWrittenAsTheyAreRead() {
        const std::string text =
            "SpatialMap(Sz(R)*2-1, (4+4)/2) Y';\nTemporalMap(1, Sz(K)/(2*3)) K;\nCluster(8, P);\nSpatialMap(1, 1) C;\n";
        const auto dataflow = parseDataflow(text);
        QVERIFY(dataflow);
        const auto again = parseDataflow(toText(*dataflow));
        QVERIFY2(again, toText(*dataflow).c_str());
        for (std::size_t i = 0; i < dataflow->directives.size(); ++i) {
            QCOMPARE(again->directives[i].size, dataflow->directives[i].size);
            QCOMPARE(again->directives[i].offset, dataflow->directives[i].offset);
        }
    }
    void theCorpusIsComplete() {
        for (const auto& [folder, known] :
             {std::pair{"bad/maestro", &refusals}, std::pair{"bad/maestro-hardware", &hardwareRefusals}}) {
            std::size_t files = 0;
            for (const auto& entry : std::filesystem::directory_iterator(data(folder))) {
                QVERIFY2(known->contains(entry.path().stem().string()), entry.path().c_str());
                ++files;
            }
            QCOMPARE(files, known->size());
        }
    }
    void badMappingsAreRefused() {
        for (const auto& [name, wanted] : refusals) {
            const auto file = data("bad/maestro/" + name + ".m");
            compare(refusalOf(file), wanted, file);
        }
    }
    void badHardwareIsRefused() {
        for (const auto& [name, wanted] : hardwareRefusals) {
            const auto file = data("bad/maestro-hardware/" + name + ".m");
            const auto hardware = readMaestroHardware(file);
            QVERIFY(!hardware);
            compare(hardware.error(), wanted, file);
        }
        QCOMPARE(readMaestroHardware(data("no-such-file.m")).error().code, std::string("file.missing"));
    }
    void damagedFilesNeverCrash() {
        std::ifstream stream(data("maestro/network.m"));
        const std::string text((std::istreambuf_iterator<char>(stream)), {});
        QVERIFY(text.size() > 500);
        RandomStream random(7);
        FlowHardware hardware;
        hardware.pes = 8;
        for (int round = 0; round < 1500; ++round) {
            std::string damaged = text;
            const auto hits = 1 + random.below(4);
            for (std::uint64_t i = 0; i < hits; ++i) {
                const auto at = random.below(damaged.size());
                const double what = random.uniform();
                if (what < 0.3) {
                    damaged.erase(at, 1 + random.below(12));
                } else if (what < 0.6) {
                    damaged.insert(at, 1, "{}(),;:'/*-+0987 KRX\n"[random.below(20)]);
                } else if (what < 0.9) {
                    damaged[at] = static_cast<char>(random.below(256));
                } else {
                    damaged.resize(at);
                }
                if (damaged.empty()) damaged = "x";
            }
            const auto network = parseMaestroMapping(damaged, "damaged.m");
            if (!network) {
                QVERIFY(network.error().place.file == "damaged.m" && !network.error().message.empty());
                continue;
            }
            for (const auto& each : network->layers) {
                const auto counts = analyse(each.layer, each.dataflow, hardware);
                if (!counts) QVERIFY(!counts.error().code.empty());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestMaestroReader)
#include "tst_maestro_reader.moc"
