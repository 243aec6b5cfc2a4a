#include "mapping/nest_evaluator.h"
#include "mapping/nest_statics.h"
#include "mapping/timeloop/timeloop.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <fstream>
#include <set>

using namespace orrery;
namespace fs = std::filesystem;

namespace {

const std::string data = ORRERY_TEST_DATA "/timeloop/";

TimeloopInput readText(const std::string& text, const std::string& name) {
    auto root = parseTimeloopText(text, name);
    if (!root) qFatal("%s", toText(root.error()).c_str());
    auto input = readTimeloop(std::move(*root));
    if (!input) qFatal("%s", toText(input.error()).c_str());
    return std::move(*input);
}

TimeloopInput readFile(const std::string& name) {
    auto input = readTimeloopFiles({data + name});
    if (!input) qFatal("%s", toText(input.error()).c_str());
    return std::move(*input);
}

bool sameCounts(const NestCounts& a, const NestCounts& b) {
    if (a.cycles != b.cycles || std::abs(a.energy - b.energy) > 1e-12 * a.energy) return false;
    for (std::size_t l = 0; l < a.levels.size(); ++l) {
        for (std::size_t t = 0; t < maxNestTensors; ++t) {
            const TensorCounts &x = a.levels[l].tensors[t], &y = b.levels[l].tensors[t];
            if (x.kept != y.kept || x.reads != y.reads || x.fills != y.fills || x.updates != y.updates) return false;
        }
    }
    return true;
}

// Writes, reads back, and compares everything.
void roundTrip(const TimeloopInput& input) {
    const std::string text = writeTimeloop(input.problem, input.hardware, *input.mapping);
    const TimeloopInput again = readText(text, "again.yaml");
    QVERIFY(again.problem.tensors == input.problem.tensors && again.problem.extents == input.problem.extents);
    QVERIFY(again.problem == input.problem);
    QVERIFY(again.mapping.has_value() && *again.mapping == *input.mapping);
    QCOMPARE(again.hardware.levels.size(), input.hardware.levels.size());
    for (std::size_t l = 0; l < input.hardware.levels.size(); ++l) {
        const NestLevel &a = input.hardware.levels[l], &b = again.hardware.levels[l];
        QVERIFY(a.name == b.name && a.instances == b.instances && a.meshX == b.meshX && a.wordBits == b.wordBits);
        QVERIFY(a.blockSize == b.blockSize && a.clusterSize == b.clusterSize && a.dram == b.dram);
        QVERIFY(a.capacityWords == b.capacityWords && a.readBandwidth == b.readBandwidth);
        QVERIFY(a.writeBandwidth == b.writeBandwidth && a.sharedBandwidth == b.sharedBandwidth);
        QVERIFY(a.multipleBuffering == b.multipleBuffering && a.minUtilisation == b.minUtilisation);
    }
    NestEvaluator first(input.problem, input.hardware), second(again.problem, again.hardware);
    const auto a = first.explain(*input.mapping), b = second.explain(*again.mapping);
    QVERIFY(a && b);
    QVERIFY(sameCounts(*a, *b));
    QCOMPARE(writeTimeloop(again.problem, again.hardware, *again.mapping), text);
}

}  // namespace

class TestTimeloopFiles : public QObject {
    Q_OBJECT
private slots:
    void layerInLibconfig() {
        const TimeloopInput input = readFile("layer.cfg");
        QCOMPARE(input.problem.dimensions.size(), std::size_t{7});  // the built-in layer
        QCOMPARE(input.problem.operations(), 16.0 * 4 * 8);
        QCOMPARE(input.hardware.levels.size(), std::size_t{2});
        QCOMPARE(input.hardware.levels[0].name, std::string("Buffer"));
        QVERIFY(input.hardware.levels[1].dram && !input.hardware.levels[0].dram);
        QVERIFY(std::isinf(input.hardware.levels[1].capacityWords));
        QVERIFY(input.mapping.has_value());
        roundTrip(input);
    }

    void productInYaml() {
        const TimeloopInput input = readFile("product.yaml");
        QCOMPARE(input.hardware.arithmetic.instances, std::int64_t{16});  // PE[0..15]
        QCOMPARE(input.hardware.levels[0].name, std::string("Buffer"));   // innermost first
        QVERIFY(input.problem.tensors[2].written && !input.problem.tensors[0].written);
        const auto& loops = input.mapping->levels[0].loops;
        QCOMPARE(loops.front().kind, LoopKind::SpatialX);
        QCOMPARE(loops[3].dimension, std::uint8_t{2});  // permutation KNM: K innermost
        roundTrip(input);
    }

    void partsInSeveralFiles() {
        const TimeloopInput whole = readFile("product.yaml");
        QTemporaryDir folder;
        std::vector<std::string> paths;
        for (const auto& [name, text] :
             {std::pair<std::string, std::string>{"m.yaml",
                                                  writeTimeloopMapping(whole.problem, whole.hardware, *whole.mapping)},
              {"p.yaml", writeTimeloopProblem(whole.problem)},
              {"a.yaml", writeTimeloopArchitecture(whole.hardware)}}) {
            paths.push_back(folder.filePath(QString::fromStdString(name)).toStdString());
            std::ofstream(paths.back()) << text;
        }
        const auto input = readTimeloopFiles(paths);
        QVERIFY2(input, input ? "" : toText(input.error()).c_str());
        QVERIFY(*input->mapping == *whole.mapping);
        paths.push_back(paths[1]);
        const auto twice = readTimeloopFiles(paths);
        QVERIFY(!twice);
        QCOMPARE(twice.error().code, std::string("timeloop.twice"));
    }

    void factorsAndPermutations() {
        const std::string head = writeTimeloopProblem(readFile("product.yaml").problem) +
                                 writeTimeloopArchitecture(readFile("product.yaml").hardware);
        // Remainders, no spaces, commas, a partial permutation, a level by number.
        const auto input =
            readText(head +
                         "mapping:\n"
                         "  - {target: 1, type: temporal, factors: \"M0,N1\", permutation: KN}\n"
                         "  - {target: Buffer, type: spatial, factors: M4 N=4, permutation: NM, split: 1}\n"
                         "  - {target: Buffer, type: temporal, factors: [N=0, K=8]}\n",
                     "x.yaml");
        const auto& buffer = input.mapping->levels[0].loops;
        QVERIFY(buffer[0].dimension == 1 && buffer[0].kind == LoopKind::SpatialX && buffer[0].bound == 4);
        QVERIFY(buffer[1].dimension == 0 && buffer[1].kind == LoopKind::SpatialY && buffer[1].bound == 4);
        QCOMPARE(buffer[4].bound, std::int64_t{4});  // N: 16 / 4
        const auto& dram = input.mapping->levels[1].loops;
        QCOMPARE(dram[0].dimension, std::uint8_t{2});  // K, N, then what was not named
        QCOMPARE(dram[2].bound, std::int64_t{8});
        const auto uneven = readText(head +
                                         "mapping:\n"
                                         "  - {target: DRAM, type: temporal, factors: \"M=3 K=8\"}\n"
                                         "  - {target: Buffer, type: spatial, factors: \"M=11,10\"}\n"
                                         "  - {target: Buffer, type: temporal, factors: N=16}\n",
                                     "x.yaml");
        QCOMPARE(uneven.mapping->levels[0].loops[0].residual, std::int64_t{10});
        roundTrip(uneven);
    }

    void energiesByActionAndDearestArgument() {
        const std::string base = writeTimeloopProblem(readFile("product.yaml").problem) +
                                 writeTimeloopArchitecture(readFile("product.yaml").hardware);
        const auto input = readText(base +
                                        "ERT:\n"
                                        "  version: 0.3\n"
                                        "  tables:\n"
                                        "    - name: chip.tile[0..3].Buffer\n"
                                        "      actions:\n"
                                        "        - {name: read, arguments: {data_delta: 0}, energy: 1}\n"
                                        "        - {name: read, arguments: {data_delta: 1}, energy: 3}\n"
                                        "        - {name: write, energy: 5}\n"
                                        "        - {name: leak, energy: 7}\n"
                                        "    - name: chip.PE[0..15]\n"
                                        "      actions: [{name: compute, energy: 0.5}]\n"
                                        "ART:\n"
                                        "  tables: [{name: chip.Buffer, area: 250}]\n",
                                    "x.yaml");
        const ActionEnergies& buffer = input.hardware.levels[0].energy;
        QCOMPARE(buffer.vectorRead, 3e-12);
        QCOMPARE(buffer.vectorWrite, 5e-12);
        QCOMPARE(buffer.vectorUpdate, 5e-12);  // a write where there is no update
        QCOMPARE(buffer.leakPerCycle, 7e-12);
        QVERIFY(QString::fromStdString(buffer.source).contains("ERT"));
        QCOMPARE(input.hardware.arithmetic.energy, 0.5e-12);
        QCOMPARE(input.hardware.levels[0].area, 250e-6);
        // Over all instances: four buffers of 250 µm² that leak 7 pJ a cycle each; the others state neither.
        NestHardware four = input.hardware;
        four.levels[0].instances = 4;
        QCOMPARE(statedArea(four), 1e-3);
        QCOMPARE(leakage(four, 1000), 28e-9);
        QCOMPARE(statedArea(readFile("product.yaml").hardware), 0.0);
        QVERIFY(input.hardware.levels[1].energy.vectorRead > 0);  // DRAM keeps the ratio model
    }

    void meshesAndTrees() {
        const auto input = readText(
            "problem: {R: 1, S: 1, P: 1, Q: 1, C: 1, K: 1, N: 1}\n"
            "architecture:\n"
            "  subtree:\n"
            "    - name: chip\n"
            "      local: [{name: glb, class: SRAM, attributes: {depth: 64, width: 64, datawidth: 16, block-size: "
            "2}}]\n"
            "      subtree:\n"
            "        - name: cluster[0..3]\n"
            "          local: [{name: spad, class: smartbuffer, attributes: {meshX: 4, memory_depth: 8}},\n"
            "                  {name: noc, class: XY_NoC}]\n"
            "          subtree:\n"
            "            - name: PE[1..6]\n"
            "              local: [{name: \"rf[0..1]\", class: regfile, attributes: {meshX: 12}}, {name: "
            "\"mac[0..1]\", class: "
            "intmac, attributes: {meshX: 12}}]\n",
            "x.yaml");
        QCOMPARE(input.hardware.arithmetic.instances, std::int64_t{48});
        QCOMPARE(input.hardware.levels[0].instances, std::int64_t{48});
        QCOMPARE(input.hardware.levels[1].instances, std::int64_t{4});
        QCOMPARE(input.hardware.levels[2].name, std::string("glb"));
        QCOMPARE(input.hardware.levels[2].clusterSize, std::int64_t{2});
        QCOMPARE(input.hardware.levels[2].capacityWords, 128.0);
        QCOMPARE(input.warnings.size(), std::size_t{1});  // the network is left out, and said to be
    }

    void referencesRoundTrip() {
        const fs::path folder = fs::path(ORRERY_REFERENCE) / "accelerators" / "timeloop";
        if (!fs::exists(folder)) QSKIP("the reference data is not here");
        int files = 0;
        for (const auto& entry : fs::directory_iterator(folder)) {
            for (const char* name : {"model.cfg", "input.cfg", "input_v303.yaml"}) {
                if (!fs::exists(entry.path() / name)) continue;
                const auto input = readTimeloopFiles({(entry.path() / name).string()});
                QVERIFY2(input, input ? "" : toText(input.error()).c_str());
                if (!input->mapping) continue;
                roundTrip(*input);
                ++files;
            }
        }
        QVERIFY(files >= 15);
    }

    void bad_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const auto row = [](const char* file, const char* code, int line) {
            QTest::newRow(file) << file << code << line;
        };
        row("attribute-slip.yaml", "timeloop.key", 11);
        row("bracket.cfg", "timeloop.syntax", 6);
        row("branches.yaml", "timeloop.tree", 4);
        row("cyclic-coefficient.yaml", "timeloop.projection", 24);
        row("does-not-fit.yaml", "mapping.capacity", 27);
        row("energy.yaml", "timeloop.value", 20);
        row("expression.yaml", "timeloop.projection", 21);
        row("factor-product.yaml", "timeloop.factors", 27);
        row("kept-nowhere.yaml", "mapping.keeps", 25);
        row("mesh.cfg", "timeloop.mesh", 2);
        row("missing-size.yaml", "timeloop.missing", 23);
        row("no-architecture.yaml", "timeloop.missing", 1);
        row("no-arithmetic.yaml", "timeloop.missing", 2);
        row("no-mapping.yaml", "none", 0);
        row("no-problem.yaml", "timeloop.missing", 1);
        row("not-affine.yaml", "timeloop.projection", 21);
        row("nothing-written.yaml", "mapping.problem", 25);
        row("range.yaml", "timeloop.name", 12);
        row("remainder-does-not-divide.yaml", "timeloop.factors", 25);
        row("size-zero.yaml", "timeloop.value", 23);
        row("stray-dimension.yaml", "timeloop.dimension", 23);
        row("syntax.yaml", "yaml.syntax", 6);
        row("target-number.cfg", "timeloop.value", 11);
        row("too-many-instances.yaml", "mapping.fan-out", 26);
        row("twice.cfg", "timeloop.syntax", 4);
        row("twice-in-permutation.yaml", "timeloop.permutation", 27);
        row("two-remainders.yaml", "timeloop.factors", 25);
        row("unknown-attribute.cfg", "timeloop.key", 4);
        row("unknown-dimension.yaml", "timeloop.dimension", 25);
        row("unknown-directive.yaml", "timeloop.directive", 26);
        row("unknown-key.yaml", "timeloop.key", 25);
        row("unknown-level.yaml", "timeloop.level", 25);
        row("unknown-section.yaml", "timeloop.key", 16);
        row("unknown-tensor.yaml", "timeloop.tensor", 25);
        row("wrong-type.cfg", "timeloop.value", 4);
    }
    void bad() {
        QFETCH(QString, file);
        QFETCH(QString, code);
        QFETCH(int, line);
        const std::string path = std::string(ORRERY_TEST_DATA "/bad/timeloop/") + file.toStdString();
        Diagnostic told;
        const auto input = readTimeloopFiles({path});
        if (!input) {
            told = input.error();
        } else if (input->mapping) {
            NestEvaluator evaluator(input->problem, input->hardware);
            const auto counts = evaluator.explain(*input->mapping);
            QVERIFY(!counts);
            told = input->placed(counts.error());
        } else {
            QCOMPARE(code, QString("none"));  // a file without a mapping may be meant for a search
            return;
        }
        QCOMPARE(QString::fromStdString(told.code), code);
        QCOMPARE(told.place.line, line);
        QCOMPARE(told.place.file, path);
        QVERIFY(!told.hint.empty() || !told.expected.empty());
    }

    // Cut at every place, no file crashes the readers.
    void cutShort() {
        for (const char* name : {"product.yaml", "layer.cfg"}) {
            std::ifstream file(data + name);
            const std::string text((std::istreambuf_iterator<char>(file)), {});
            for (std::size_t length = 0; length < text.size(); length += 7) {
                auto root = parseTimeloopText(text.substr(0, length), name);
                if (!root) continue;
                const auto input = readTimeloop(std::move(*root));
                if (!input || !input->mapping) continue;
                NestCounts counts;
                NestEvaluator(input->problem, input->hardware).evaluate(*input->mapping, counts);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestTimeloopFiles)
#include "tst_timeloop_files.moc"
