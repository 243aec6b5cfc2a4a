// Cases that Sparseloop was run on: cycles, energy and every count of two recorded builds, and the cycles of its
// published results where their inputs can be put together.

#include "mapping/nest_evaluator.h"
#include "mapping/sparse/sparse_counts.h"
#include "mapping/sparse/sparse_read.h"
#include "mapping/timeloop/timeloop.h"
#include "support/sparse_fixture.h"

#include <QRegularExpression>
#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace orrery;
namespace fs = std::filesystem;

namespace {

const fs::path root = fs::path(ORRERY_REFERENCE) / "accelerators";

std::string contents(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// What a recorded statistics file says.
struct Recorded {
    double cycles = 0, energy = 0;  ///< joules, as printed: two decimals of a microjoule
    std::map<std::string, double>
        counts;  ///< `level/tensor/Actual scalar reads`, `level/tensor/Actual format reads/rank/…`
};

Recorded recorded(const fs::path& path) {
    Recorded out;
    std::istringstream text(contents(path));
    std::string line, level, tensor, section;
    static const QRegularExpression count(
        "^ +(Actual|Gated|Skipped) scalar (format )?(reads|fills|updates) "
        "\\(per-instance\\) +:? *([0-9]*)$"),
        rank("^ +Rank ([0-9]+) \\(metadata, payload\\): \\(([0-9]+), +([0-9]+)\\)"), name("^    ([A-Za-z0-9_]+):$");
    while (std::getline(text, line)) {
        const QString q = QString::fromStdString(line);
        if (line.starts_with("=== ")) level = line.substr(4, line.find(' ', 4) - 4), tensor.clear();
        if (line.starts_with("Networks")) level.clear();
        if (line.starts_with("Cycles: ")) out.cycles = std::stod(line.substr(8));
        if (line.starts_with("Energy: ")) out.energy = std::stod(line.substr(8)) * 1e-6;
        if (const auto is = name.match(q); is.hasMatch()) tensor = is.captured(1).toStdString();
        if (level.empty() || tensor.empty()) continue;
        if (const auto is = count.match(q); is.hasMatch()) {
            section = level + "/" + tensor + "/" + is.captured(1).toStdString() + " " + is.captured(2).toStdString() +
                      is.captured(3).toStdString();
            if (!is.captured(4).isEmpty()) out.counts[section] = is.captured(4).toDouble();
        }
        if (line.find("Max utilized") != std::string::npos) section.clear();
        if (const auto is = rank.match(q); is.hasMatch() && section.find("format") != std::string::npos) {
            out.counts[section + "/" + is.captured(1).toStdString() + "/metadata"] = is.captured(2).toDouble();
            out.counts[section + "/" + is.captured(1).toStdString() + "/payload"] = is.captured(3).toDouble();
        }
    }
    return out;
}

struct Evaluated {
    TimeloopInput input;
    std::shared_ptr<const SparseDesign> design;
    NestCounts counts;
    SparseWorkspace work;
};

Expected<Evaluated> evaluate(Expected<TimeloopInput> input) {
    if (!input) return Unexpected(input.error());
    Diagnostics warnings;
    auto design = readSparseDesign(input->root, input->problem, input->hardware, warnings);
    if (!design) return Unexpected(design.error());
    Evaluated out{std::move(*input), *design, {}, {}};
    // Dense counts first, of hardware with room for all, as applySparse wants them.
    NestHardware roomy = out.input.hardware;
    roomy.arithmetic.instances *= 64;
    for (NestLevel& level : roomy.levels) {
        level.instances *= 64;
        level.capacityWords = std::numeric_limits<double>::infinity();
        level.minUtilisation = 0;
    }
    NestEvaluator whole(out.input.problem, out.input.hardware, out.design);
    auto counts = whole.explain(*out.input.mapping);
    if (!counts) return Unexpected(counts.error());
    out.counts = *counts;
    NestCounts dense;
    if (NestEvaluator(out.input.problem, roomy).evaluate(*out.input.mapping, dense) != MappingFault::None)
        return fail("test", "no dense counts");
    applySparse(out.input.problem, out.input.hardware, *out.input.mapping, *out.design, out.work, dense);
    return out;
}

std::vector<std::string> inputsOf(const fs::path& folder) {
    std::vector<std::string> files;
    if (fs::exists(folder / "aggregated_input.yaml"))
        return {(folder / "aggregated_input.yaml").string(), (folder / "ERT.yaml").string()};
    for (const auto& entry : fs::directory_iterator(folder / "in"))
        if (entry.path().filename() != "mapper.yaml" && entry.path().filename() != "mm.yaml")
            files.push_back(entry.path().string());
    if (fs::exists(folder / "timeloop-mapper.map.yaml"))
        files.push_back((folder / "timeloop-mapper.map.yaml").string());
    std::sort(files.begin(), files.end());
    return files;
}

fs::path latestBuild(const fs::path& folder) {
    for (const char* name : {"stats_tl-v303.txt", "timeloop-mapper.stats.txt", "timeloop-model.stats.txt"})
        if (fs::exists(folder / name)) return folder / name;
    return {};
}

/// The files of a case as one text with words replaced, for the members of its family that are not recorded in full.
Expected<Evaluated> varied(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& replaced) {
    std::string text;
    for (const std::string& file : inputsOf(folder)) {
        if (fs::path(file).filename() == "ART.yaml") continue;
        text += contents(file) + "\n";
    }
    for (const auto& [from, to] : replaced) {
        if (text.find(from) == std::string::npos) return fail("test", "nothing to replace: " + from);
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    }
    auto document = parseTimeloopText(text, "varied.yaml");
    if (!document) return Unexpected(document.error());
    return evaluate(readTimeloop(std::move(*document)));
}

}  // namespace

class TestSparseReference : public QObject {
    Q_OBJECT

    std::map<std::string, double> published_;  ///< result → cycles

    void cyclesWithinOnePercent(const std::string& result, const Expected<Evaluated>& got) {
        QVERIFY2(published_.contains(result), result.c_str());
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        const double expected = published_.at(result);
        QVERIFY2(std::abs(got->counts.cycles - expected) <= 0.01 * expected,
                 qPrintable(QString("%1: %2, published %3")
                                .arg(result.c_str())
                                .arg(got->counts.cycles, 0, 'f', 0)
                                .arg(expected, 0, 'f', 0)));
    }

private slots:
    void initTestCase() {
        if (!fs::exists(root / "timeloop")) QSKIP("the reference data is not here");
        std::istringstream table(contents(root / "sparseloop" / "sparseloop_reference_table.csv"));
        std::string line;
        while (std::getline(table, line)) {
            const QStringList cells = QString::fromStdString(line).split(',');
            if (cells.size() > 2) published_[cells[0].toStdString()] = cells[2].toDouble();
        }
    }

    void recordedCases_data() {
        QTest::addColumn<QString>("name");
        if (!fs::exists(root / "timeloop")) return;
        for (const auto& entry : fs::directory_iterator(root / "timeloop"))
            if (const auto name = entry.path().filename().string(); name.starts_with("sl_"))
                QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void recordedCases() {
        QFETCH(QString, name);
        const fs::path folder = root / "timeloop" / name.toStdString();
        const auto got = evaluate(readTimeloopFiles(inputsOf(folder)));
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        const Recorded latest = recorded(latestBuild(folder)), published = recorded(folder / "REF.stats.txt");
        QVERIFY(latest.cycles > 0 && published.cycles > 0);

        const double cycles = got->counts.cycles, energy = got->counts.energy;
        const auto near = [](double a, double b, double relative) { return std::abs(a - b) <= relative * b; };
        QVERIFY(near(cycles, latest.cycles, 0.001) || near(cycles, published.cycles, 0.001));
        QCOMPARE(cycles, latest.cycles);  // and against the later build, to the cycle
        // Printed with two decimals.
        QVERIFY(near(energy, latest.energy, 0.01) || near(energy, published.energy, 0.01));
        QVERIFY(std::abs(energy - latest.energy) <= 0.00501e-6 + 1e-6 * latest.energy);
    }

    /// Actual, gated and skipped words and units of metadata at every level, to the count or the rounding of one.
    void everyCountOfTheLaterBuild_data() { recordedCases_data(); }
    void everyCountOfTheLaterBuild() {
        QFETCH(QString, name);
        const fs::path folder = root / "timeloop" / name.toStdString();
        const auto got = evaluate(readTimeloopFiles(inputsOf(folder)));
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        const Recorded latest = recorded(latestBuild(folder));
        int compared = 0;
        const auto compare = [&](const std::string& key, double count) {
            const auto found = latest.counts.find(key);
            if (found == latest.counts.end()) return;
            ++compared;
            if (std::abs(count - found->second) > 2 + 1e-6 * found->second)
                QFAIL(qPrintable(QString("%1: %2, recorded %3")
                                     .arg(key.c_str())
                                     .arg(count, 0, 'f', 1)
                                     .arg(found->second, 0, 'f', 0)));
        };
        for (std::size_t l = 0; l < got->work.levels.size(); ++l)
            for (std::size_t t = 0; t < got->input.problem.tensors.size(); ++t) {
                const SparseTensorCounts& here = got->work.levels[l].tensors[t];
                if (!here.kept) continue;
                const std::string at =
                    got->input.hardware.levels[l].name + "/" + got->input.problem.tensors[t].name + "/";
                const std::pair<const char*, const ActionSplit*> data[] = {
                    {"reads", &here.reads}, {"fills", &here.fills}, {"updates", &here.updates}};
                for (const auto& [action, split] : data) {
                    compare(at + "Actual " + action, split->actual);
                    compare(at + "Gated " + action, split->gated);
                    compare(at + "Skipped " + action, split->skipped);
                }
                const std::pair<const char*, const FormatSplit*> format[] = {
                    {"reads", &here.formatReads}, {"fills", &here.formatFills}, {"updates", &here.formatUpdates}};
                for (const auto& [action, split] : format)
                    for (const auto& [what, units] :
                         {std::pair{"Actual", &split->actual}, std::pair{"Gated", &split->gated},
                          std::pair{"Skipped", &split->skipped}})
                        for (std::size_t r = 0; r < units->size(); ++r) {
                            const std::string key = at + what + " format " + action + "/" + std::to_string(r) + "/";
                            compare(key + "metadata", (*units)[r].metadata);
                            compare(key + "payload", (*units)[r].payload);
                        }
            }
        QVERIFY(compared >= 40);
    }

    void publishedUniformEyeriss() {
        for (const char* layer : {"L07", "L09", "L19", "L21", "L25", "L27"})
            cyclesWithinOnePercent(std::string("fig12_eyerissv2_pe_setup/uniform_only/") + layer +
                                       "/uniform/output/timeloop-model.stats.txt",
                                   evaluate(readTimeloopFiles(
                                       inputsOf(root / "timeloop" / (std::string("sl_fig12_eyerissv2pe_") + layer)))));
    }

    /// Densities between the recorded ones: 128 × 128 matrices whose density is the number in the name, or where
    /// computes show it, the next multiple of 1/256 (computes = density² · 2097152).
    void publishedFormats() {
        const std::pair<const char*, const char*> densities[] = {
            {"0.02", "0.02"},      {"0.04", "0.04"},     {"0.08", "0.08"},     {"0.1", "0.1015625"},
            {"0.2", "0.19921875"}, {"0.4", "0.3984375"}, {"0.8", "0.80078125"}};
        int rows = 0;
        for (const char* format : {"bitmask", "coordinate_list"})
            for (const auto& [label, density] : densities) {
                const std::string result = std::string("fig1_format_comparison_setup/output_") + label + "_" + format +
                                           "/timeloop-mapper.stats.txt";
                if (!published_.contains(result)) continue;
                ++rows;
                cyclesWithinOnePercent(result, varied(root / "timeloop" / (std::string("sl_fig1_") + format + "_0.1"),
                                                      {{"0.1015625", density}}));
            }
        QVERIFY(rows >= 9);
    }

    /// AlexNet's last two layers on the mapping of the third, whose channels they have fewer of. Densities of inputs
    /// are actual computes over algorithmic ones.
    void publishedEyerissLayers() {
        const fs::path third = root / "timeloop" / "sl_table7_eyeriss_alexnet_conv3";
        cyclesWithinOnePercent("table7_eyeriss_setup/alexnet_conv4/output/timeloop-model.stats.txt",
                               varied(third, {{"    C: 256", "    C: 192"}, {"C=64", "C=48"}, {"0.275", "0.207"}}));
        cyclesWithinOnePercent("table7_eyeriss_setup/alexnet_conv5/output/timeloop-model.stats.txt",
                               varied(third, {{"    C: 256", "    C: 192"},
                                              {"    M: 384", "    M: 256"},
                                              {"C=64", "C=48"},
                                              {"M=6", "M=4"},
                                              {"0.275", "0.23"}}));
        for (const char* layer : {"conv1", "conv2"})
            cyclesWithinOnePercent(
                std::string("table7_eyeriss_setup/alexnet_") + layer + "/output/timeloop-model.stats.txt",
                evaluate(readTimeloopFiles(
                    inputsOf(root / "timeloop" / (std::string("sl_table7_eyeriss_alexnet_") + layer)))));
    }

    /// Sparse tensor cores: 4 sub-partitions of 256 units, weights A of 2:4, 2:6 or 2:8 stored as positions, which
    /// spatial skipping turns into as many times the reduction in parallel; activations B as they come, or masked too.
    /// A plain one (STC) knows 2:4 alone and holds sparser weights as such; a dense one (TC) computes every zero.
    void publishedTensorCores_data() {
        QTest::addColumn<QString>("result");
        if (!fs::exists(root / "sparseloop")) return;
        std::istringstream table(contents(root / "sparseloop" / "sparseloop_reference_table.csv"));
        std::string line;
        while (std::getline(table, line)) {
            const std::string result = line.substr(0, line.find(','));
            if (result.starts_with("fig15")) QTest::newRow(result.substr(43).c_str()) << QString::fromStdString(result);
        }
    }
    void publishedTensorCores() {
        QFETCH(QString, result);
        const auto is =
            QRegularExpression("/M([0-9]+)-K([0-9]+)-N([0-9]+)-IAD([0-9.]+)-WD([0-9.]+)/(STC_flexible|STC|TC)(_dual)?")
                .match(result);
        QVERIFY(is.hasMatch());
        const std::int64_t m = is.captured(1).toLongLong(), n = is.captured(3).toLongLong();
        const QString machine = is.captured(6);
        const double given = is.captured(5).toDouble();
        const double weights = machine == "TC" ? 1 : machine == "STC" ? std::max(given, 0.5) : given;
        const bool dense = weights == 1;
        const bool both = !is.captured(7).isEmpty();
        const std::int64_t parallel = std::llround(16 / weights);
        // The reduction is padded to whole vectors of it.
        const std::int64_t k = (is.captured(2).toLongLong() + parallel - 1) / parallel * parallel;
        using namespace orrery::test;
        const NestProblem problem = product(m, n, k);

        NestHardware hardware = chain({"LRF", "RF", "SMEM", "DRAM"});
        hardware.arithmetic.instances = 1024;
        const double capacity[] = {1, 2048, 262144, std::numeric_limits<double>::infinity()};
        const double metadata[] = {8, 0, 64, 64}, bandwidth[] = {0, 0, 42, 32};
        const std::int64_t instances[] = {1024, 4, 1, 1}, block[] = {1, 1, 64, 8};
        for (std::size_t l = 0; l < 4; ++l) {
            NestLevel& level = hardware.levels[l];
            level.wordBits = 8;
            level.instances = instances[l];
            level.blockSize = block[l];
            level.capacityWords = capacity[l];
            level.metadataWidthBits = metadata[l];
            level.readBandwidth = level.writeBandwidth = bandwidth[l];
            level.metadataCapacityBits = l == 0 ? 8 : l == 1 ? 0 : l == 2 ? 8192 * 64 : capacity[3];
        }

        SparseDesign design = denseDesign(problem, 4);
        DensityModel structured;
        structured.density = weights;
        setDensity(design, problem, A, structured);
        setDensity(design, problem, B, uniform(is.captured(4).toDouble()));
        // Positions within 4 or 6 take 2 bits, within 8 they take 3, kept as 4.
        const double position = weights < 0.3 ? 4 : 2;
        const auto format = [](std::size_t outer, std::vector<FormatRank> inner) {
            TensorFormat out;
            out.innerToOuter = true;
            out.ranks = std::move(inner);
            out.ranks.resize(out.ranks.size() + outer, {RankFormat::OffsetPairs, 0, 0, {}});
            return out;
        };
        const std::vector<FormatRank> runs{{RankFormat::RunLength, position, 0, {}}},
            masks{{RankFormat::Bitmask, 1, 0, {}}, {RankFormat::Bitmask, 0, 0, {}}};
        if (!dense) {
            design.levels[0].formats[A] = format(0, runs);
            design.levels[2].formats[A] = format(4, runs);
            design.levels[3].formats[A] = format(6, runs);
        }
        if (both) design.levels[2].formats[B] = format(4, masks), design.levels[3].formats[B] = format(6, masks);
        if (!dense) {
            design.levels[1].actions = {leaveOut(Elimination::SpatialSkipping, B, 1u << A),
                                        leaveOut(Elimination::SpatialSkipping, Z, 1u << A)};
        }

        NestMapping mapping;
        mapping.levels = {
            {{loop(N, 128)}, 1u << A},
            {{loop(K, parallel, LoopKind::SpatialX), loop(M, 16, LoopKind::SpatialY), loop(K, k / parallel)}, 1u << Z},
            {{loop(M, 4, LoopKind::SpatialY), loop(M, m / 64)}, 1u << A | 1u << B},
            {{loop(N, n / 128)}, 7u}};
        Evaluated got;
        auto evaluateWith = [&] {
            return NestEvaluator(problem, hardware, std::make_shared<const SparseDesign>(design)).explain(mapping);
        };
        auto counts = evaluateWith();
        // Weights that do not fit are brought in as few parts as do, each for all of N.
        for (std::int64_t parts = 2; !counts && counts.error().code == "mapping.capacity" && m / 64 % parts == 0;
             parts *= 2) {
            mapping.levels[2].loops.back() = loop(M, m / 64 / parts);
            mapping.levels[3].loops = {loop(N, n / 128), loop(M, parts)};
            counts = evaluateWith();
        }
        QVERIFY2(counts, counts ? "" : toText(counts.error()).c_str());
        got.counts = *counts;
        cyclesWithinOnePercent(result.toStdString(), got);
    }
};

QTEST_APPLESS_MAIN(TestSparseReference)
#include "tst_sparse_reference.moc"
