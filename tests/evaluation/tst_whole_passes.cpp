// Passes that were measured whole against answers composed of kernels: do 90 % intervals hold what kernels do not show
// (software around them, hosts, clocks), and are they no wider than that asks for? The numbers of
// methods/model/whole_error.h were taken from the tables that are printed as derived; the others had no part in them.
// ORRERY_ROWS prints every row; ORRERY_SLOW measures gpu-interval too.

#include "base/executor.h"
#include "evaluation/csv_file.h"
#include "evaluation/error_metrics.h"
#include "evaluation/evaluation.h"
#include "evaluation/shipped_references.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/model/pass_evidence.h"
#include "study/best_first.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

using namespace orrery;

namespace {

const std::string folder = ORRERY_REFERENCE;

using Words = std::map<std::string, std::string>;

ModelReference rowOf(const std::string& workload, const std::string& device, DType type, std::int64_t batch,
                     double seconds, std::string software, std::string fusion) {
    ModelReference row;
    row.recipe.source = workload;
    row.recipe.options = builtinWorkload(workload)->usual;
    row.recipe.options.batch = batch;
    row.recipe.options.weights = row.recipe.options.activations = row.recipe.options.kv = type;
    row.reference.device = device;
    row.reference.value = Seconds(seconds);
    row.reference.software = std::move(software);
    row.reference.source = "published";
    row.reference.kind = ReferenceKind::Measured;
    row.launch = "eager";
    row.fusion = std::move(fusion);
    return row;
}

const Words usualModels{{"resnet18", "resnet-18"},
                        {"resnet34", "resnet-34"},
                        {"resnet50", "resnet-50"},
                        {"resnet101", "resnet-101"},
                        {"resnet152", "resnet-152"},
                        {"wide_resnet50_2", "wide-resnet-50-2"},
                        {"vit_tiny_patch16_224", "vit-ti-16"},
                        {"vit_small_patch16_224", "vit-s-16"},
                        {"vit_base_patch16_224", "vit-b-16"},
                        {"vgg11", "vgg-11"},
                        {"vgg13", "vgg-13"}},
    // Convolutions in groups: nothing was fitted to any.
    groupedModels{{"efficientnet_b0", "efficientnet-b0"},
                  {"resnext50_32x4d", "resnext-50-32x4d"},
                  {"mobilenetv2_100", "mobilenet-v2"}};

/// timm's benchmarks on graphics cards: the largest batch that fits, mixed precision.
std::vector<ModelReference> timm(const Words& models = usualModels) {
    const Words devices{{"RTX 3090", "rtx-3090"}, {"RTX 4090", "rtx-4090"}, {"RTX 5090", "rtx-5090"}};
    std::vector<ModelReference> rows;
    const auto file = readCsv(folder + "/devices/timm_throughput.csv");
    if (!file) return rows;
    std::set<std::vector<std::string>> seen;
    for (std::size_t i = 0; i < file->rows.size(); ++i) {
        const auto& r = file->rows[i];
        if (r.size() < 10 || r[6] != "infer" || r[3] != "nchw" || !devices.contains(r[1])) continue;
        const auto model = models.find(r[0].substr(0, r[0].find('.')));
        if (model == models.end() || !seen.insert({model->second, r[1], r[4], r[8], r[7], r[5]}).second) continue;
        const double batch = *file->number(i, 7);
        ModelReference row =
            rowOf(model->second, devices.at(r[1]), DType::F16, std::llround(batch), batch / *file->number(i, 9),
                  "PyTorch " + r[5], r[4] == "eager" ? "none" : "compile");
        row.recipe.options.image = std::llround(*file->number(i, 8));
        rows.push_back(std::move(row));
    }
    return rows;
}

/// NVIDIA's DeepLearningExamples. In small batches the host is what takes the time.
std::vector<ModelReference> examples(std::string_view framework) {
    const Words models{{"resnet50v1.5", "resnet-50"},
                       {"RN50v1.5", "resnet-50"},
                       {"BERT base", "bert-base"},
                       {"BERT large", "bert-large"}};
    const Words devices{{"V100-16GB", "v100"}, {"V100-32GB", "v100"}, {"T4", "t4"}};
    std::vector<ModelReference> rows;
    const auto file = readCsv(folder + "/devices/v100_a100_t4_inference.csv");
    if (!file) return rows;
    for (std::size_t i = 0; i < file->rows.size(); ++i) {
        const auto& r = file->rows[i];
        if (r.size() < 15 || !models.contains(r[0]) || !devices.contains(r[1]) || r[3] != framework) continue;
        const bool single = r[4] == "FP32" || r[4] == "fp32";
        // Two tables of TensorFlow's mixed precision, one of them with XLA, do not say which is which.
        if (r[14].find("INCONSISTENT") != std::string::npos || (r[3] == "TensorFlow" && r[4] == "Mixed precision"))
            continue;
        const double batch = *file->number(i, 6);
        const bool bert = !r[7].empty();
        ModelReference row = rowOf(models.at(r[0]), devices.at(r[1]), single ? DType::F32 : DType::F16,
                                   std::llround(batch), batch / *file->number(i, 8), r[3], "none");
        if (bert) {
            row.recipe.options.sequence = std::llround(*file->number(i, 7));
            row.recipe.options.flashAttention = false;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

/// EfficientNet-B0 of the same on V100. Small batches are the host's.
std::vector<ModelReference> efficientNets() {
    std::vector<ModelReference> rows;
    const auto file = readCsv(folder + "/devices/v100_a100_t4_inference.csv");
    if (!file) return rows;
    for (std::size_t i = 0; i < file->rows.size(); ++i) {
        const auto& r = file->rows[i];
        if (r.size() < 15 || r[0] != "efficientnet efficientnet-b0" || r[1] != "V100-16GB") continue;
        const double batch = *file->number(i, 6);
        if (batch < 32) continue;
        rows.push_back(rowOf("efficientnet-b0", "v100", r[4] == "FP32" ? DType::F32 : DType::F16, std::llround(batch),
                             batch / *file->number(i, 8), r[3], "none"));
    }
    return rows;
}

struct Held {
    std::size_t rows = 0;
    double inside = 0, halfWidth = 0, mape = 0;
};

Held heldBy(const char* id, const std::vector<ReferenceTable>& tables) {
    static const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    const auto judged = evaluate(*findMethod(id), tables, selectRows(tables), options);
    if (!judged) {
        qWarning("%s: %s", id, toText(judged.error()).c_str());
        return {};
    }
    Held held{judged->rows.size(), judged->figures.coverage90, 0, judged->figures.errors.mape};
    std::vector<double> halves;
    for (std::size_t i = 0; i < judged->rows.size(); ++i) {
        const EvaluatedRows& r = judged->rows;
        halves.push_back((r.high[i] - r.low[i]) / 2 / r.predicted[i]);
        if (std::getenv("ORRERY_ROWS"))
            fmt::print("  {}: {:+.2f} [{:+.2f} {:+.2f}]\n", rowText(tables, r.ref[i]),
                       std::log(r.measured[i] / r.predicted[i]), std::log(r.low[i] / r.predicted[i]),
                       std::log(r.high[i] / r.predicted[i]));
    }
    std::sort(halves.begin(), halves.end());
    held.halfWidth = halves.empty() ? 0 : halves[halves.size() / 2];
    return held;
}

// The passes of pass_evidence.h: 16 bits, what a host does not rule.
std::vector<ModelReference> evidencePasses() {
    std::vector<ModelReference> rows = timm();
    for (ModelReference& each : timm(groupedModels)) rows.push_back(std::move(each));
    for (ModelReference& each : efficientNets()) rows.push_back(std::move(each));
    for (const char* framework : {"PyTorch", "TensorFlow", "MxNet"})
        for (ModelReference& each : examples(framework)) rows.push_back(std::move(each));
    std::erase_if(rows, [](const ModelReference& each) {
        const bool bert = each.recipe.source.starts_with("bert");
        return each.recipe.options.weights != DType::F16 || (!bert && each.recipe.options.batch < 32);
    });
    return rows;
}

bool convolutional(const ModelReference& row) {
    return !row.recipe.source.starts_with("bert") && !row.recipe.source.starts_with("vit");
}

/// Mean |ln(predicted ÷ measured)| of each device.
std::map<std::string, double> byDevice(const char* id, const std::vector<ModelReference>& passes) {
    static const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    const auto tables = modelTables(passes, "published");
    const auto judged = evaluate(*findMethod(id), tables, selectRows(tables), options);
    if (!judged) qFatal("%s", toText(judged.error()).c_str());
    std::map<std::string, std::pair<double, int>> sums;
    const EvaluatedRows& r = judged->rows;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(r.ref[i].table)];
        const auto device = static_cast<std::size_t>(table.rows[static_cast<std::size_t>(r.ref[i].row)].device);
        auto& [sum, count] = sums[table.devices[device].catalogue];
        sum += std::fabs(std::log(r.predicted[i] / r.measured[i])), ++count;
    }
    std::map<std::string, double> means;
    for (const auto& [device, sum] : sums) means[device] = sum.first / sum.second;
    return means;
}

double meanWithout(const std::map<std::string, double>& errors, const std::string& device) {
    double sum = 0;
    int count = 0;
    for (const auto& [each, error] : errors)
        if (each != device) sum += error, ++count;
    return sum / count;
}

// All that pass_evidence.h knows but gpu-interval, which takes minutes for these passes: ORRERY_SLOW asks it too.
constexpr const char* quickMethods[] = {"tile-wave", "tile-hybrid",       "wave-scaling",  "forest",
                                        "booster",   "interval-analysis", "mapping-search"};

/// One question to all quick methods: their answers, and in which order they stand.
std::pair<std::vector<StudyResult>, ScenarioRanking> rankedOf(const char* device, const WorkloadRecipe& recipe) {
    auto hardware = loadHardware(device);
    auto model = loadWorkload(recipe);
    if (!hardware || !model) qFatal("no question");
    Study study;
    study.scenarios.push_back({std::make_shared<const Hardware>(std::move(hardware->hardware)), *model});
    for (const char* id : quickMethods) study.methods.emplace_back(id);
    const auto executor = makeSerialExecutor();
    StudyOptions how;
    how.executor = executor.get();
    auto results = runStudy(study, how);
    auto ranking = rankScenario(results, 0);
    return {std::move(results), std::move(ranking)};
}

}  // namespace

class TestWholePasses : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(folder + "/devices")) QSKIP("the reference data is not here");
    }
    // Tiles of a product that a group's few channels leave all but empty cost EfficientNet-B0 4 to 6 times its time.
    void convolutionsInGroupsAreNotTilesOfProducts() {
        std::vector<ModelReference> rows = timm(groupedModels);
        for (ModelReference& each : efficientNets()) rows.push_back(std::move(each));
        QVERIFY(rows.size() > 15);
        const auto tables = modelTables(rows, "published");
        // What is scaled from another device carries that device's error too.
        struct Wanted {
            const char* id;
            double mape, inside;
        };
        for (const auto& [id, mape, inside] : {Wanted{"tile-hybrid", 0.8, 0.7}, Wanted{"tile-wave", 0.8, 0.7},
                                               Wanted{"wave-scaling", 1, 0.5}, Wanted{"interval-analysis", 1, 0.5}}) {
            const Held held = heldBy(id, tables);
            fmt::print(
                "convolutions in groups: {}: {} rows, {:.0f} % inside, half-width {:.0f} % in the median, MAPE "
                "{:.0f} %\n",
                id, held.rows, 100 * held.inside, 100 * held.halfWidth, 100 * held.mape);
            QVERIFY2(held.mape < mape, qPrintable(QString::number(held.mape)));
            QVERIFY2(held.inside > inside, qPrintable(QString::number(held.inside)));
        }
    }
    // Evidence by class of work, each device left out in turn: who is nearest on the other devices is near on this one.
    // tile-wave led all of these, since residuals of its products stood for convolutions: 22 % off in the mean.
    void evidenceOfOtherDevicesChoosesWell() {
        const std::vector<ModelReference> all = evidencePasses();
        for (const PassClass what : {PassClass::Convolutions, PassClass::Products}) {
            std::vector<ModelReference> passes;
            for (const ModelReference& each : all)
                if (convolutional(each) == (what == PassClass::Convolutions)) passes.push_back(each);
            std::map<std::string, std::map<std::string, double>> errors;
            std::vector<const char*> asked(std::begin(quickMethods), std::end(quickMethods));
            if (std::getenv("ORRERY_SLOW")) asked.push_back("gpu-interval");
            for (const char* id : asked) {
                errors[id] = byDevice(id, passes);
                const PassEvidence* stated = passEvidence(id, what);
                QVERIFY2(stated, id);
                const double mean = meanWithout(errors[id], {});
                fmt::print("{}: {}: {:.3f} of {} devices, {} passes (stated {:.3f})\n", toText(what), id, mean,
                           errors[id].size(), passes.size(), stated->error);
                QVERIFY2(std::fabs(mean - stated->error) < 0.02, id);
                QCOMPARE(stated->passes, static_cast<int>(passes.size()));
                QCOMPARE(stated->devices, static_cast<int>(errors[id].size()));
            }
            double chosen = 0, least = INFINITY, before = 0;
            for (const auto& [device, tile] : errors["tile-wave"]) {
                const auto leader = std::min_element(std::begin(quickMethods), std::end(quickMethods),
                                                     [&, d = device](const char* a, const char* b) {
                                                         return meanWithout(errors[a], d) < meanWithout(errors[b], d);
                                                     });
                fmt::print("{}: {} left out: {}, {:.3f} off there\n", toText(what), device, *leader,
                           errors[*leader][device]);
                chosen += errors[*leader][device], before += tile;
            }
            for (const char* id : quickMethods) {
                double sum = 0;
                for (const auto& [device, error] : errors[id]) sum += error;
                least = std::min(least, sum);
            }
            QVERIFY2(chosen <= 1.1 * least, "no single method is clearly better than what evidence chooses");
            QVERIFY2(chosen <= 0.8 * before, "the corrected tiles were as near");
        }
    }
    void theHeadlineFollowsPasses_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("workload");
        for (const char* device : {"rtx-3090", "rtx-4090", "rtx-5090", "v100"})
            for (const char* workload : {"resnet-50", "mobilenet-v2"})
                QTest::addRow("%s of %s", workload, device) << QString(device) << QString(workload);
    }
    void theHeadlineFollowsPasses() {
        QFETCH(QString, device);
        QFETCH(QString, workload);
        WorkloadOptions options;
        options.batch = 64;
        const auto [results, ranking] = rankedOf(qPrintable(device), {workload.toStdString(), options});
        QVERIFY(ranking.best);
        const std::string& leader = results[*ranking.best].method;
        // What 82 passes on the four devices say, this one's among them; the test before leaves it out.
        for (const char* id : quickMethods)
            QVERIFY2(passEvidence(leader, PassClass::Convolutions)->error <=
                         1.1 * passEvidence(id, PassClass::Convolutions)->error,
                     (leader + " before " + id).c_str());
        QVERIFY2(ranking.reason.find("whole passes of convolutions") != std::string::npos, ranking.reason.c_str());
    }
    // A device that was learned is told by its own kernels, and so is what no such pass speaks of.
    void ownKernelsComeFirst() {
        const auto leaderOf = [](const char* device, Phase phase, DType type) {
            WorkloadOptions options;
            options.phase = phase;
            options.sequence = 1024;
            options.weights = options.activations = options.kv = type;
            return rankedOf(device, {"llama-2-7b", options}).second.reason;
        };
        const std::string prefill = leaderOf("h100-sxm", Phase::Prefill, DType::BF16);
        QVERIFY2(prefill.find("kernels of this device") != std::string::npos, prefill.c_str());
        const std::string decode = leaderOf("rtx-4090", Phase::Decode, DType::F16);
        QVERIFY2(decode.find("whole passes") == std::string::npos, decode.c_str());
        const std::string sibling = leaderOf("h200-sxm", Phase::Prefill, DType::BF16);
        QVERIFY2(sibling.find("whole passes") == std::string::npos, sibling.c_str());
    }
    void intervalsHoldWholePasses_data() {
        QTest::addColumn<QString>("set");
        QTest::addColumn<bool>("judged");
        QTest::addColumn<double>("least");
        QTest::newRow("timm on graphics cards") << "timm" << false << 0.85;
        QTest::newRow("PyTorch on V100") << "PyTorch" << false << 0.85;
        // A T4 under TensorFlow takes twice what its clock and its kernels explain: six of ten are held, no more.
        QTest::newRow("BERT base on T4") << "base" << false << 0.6;
        QTest::newRow("TensorFlow and MXNet on V100, BERT large on T4") << "others" << true << 0.85;
        QTest::newRow("what ships") << "shipped" << true << 0.84;
    }
    void intervalsHoldWholePasses() {
        QFETCH(QString, set);
        QFETCH(bool, judged);
        QFETCH(double, least);
        std::vector<ModelReference> rows;
        if (set == "timm") {
            rows = timm();
        } else if (set == "shipped") {
            for (const ModelReference& each : shippedModelReferences().all)
                if (kindOf(each.task) == TaskKind::Pass) rows.push_back(each);
        } else {
            for (const char* framework : {"PyTorch", "TensorFlow", "MxNet"})
                for (ModelReference& each : examples(framework)) {
                    const std::string& model = each.recipe.source;
                    const QString part = model == "bert-base"                       ? "base"
                                         : framework == std::string_view("PyTorch") ? "PyTorch"
                                                                                    : "others";
                    if (part == set) rows.push_back(std::move(each));
                }
        }
        QVERIFY(!rows.empty());
        const auto tables = modelTables(rows, "published");
        for (const char* id : {"tile-hybrid", "tile-wave", "interval-analysis", "hierarchical-roofline"}) {
            const Held held = heldBy(id, tables);
            fmt::print("{}{}: {}: {} rows, {:.0f} % inside, half-width {:.0f} % in the median, MAPE {:.0f} %\n",
                       set.toStdString(), judged ? "" : " (derived)", id, held.rows, 100 * held.inside,
                       100 * held.halfWidth, 100 * held.mape);
            if (std::string_view(id) != "tile-hybrid") continue;
            QVERIFY(held.rows > 0);
            QVERIFY2(held.inside >= least, qPrintable(QString::number(held.inside)));
            QVERIFY2(held.halfWidth <= 2.5 * held.mape, qPrintable(QString::number(held.halfWidth / held.mape)));
        }
    }
};

QTEST_GUILESS_MAIN(TestWholePasses)
#include "tst_whole_passes.moc"
