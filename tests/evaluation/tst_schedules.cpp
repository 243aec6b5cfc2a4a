#include "base/random.h"
#include "evaluation/schedules/search_curves.h"
#include "learning/schedules/guided_search.h"
#include "learning/schedules/schedule_features.h"
#include "learning/schedules/tuned_times.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

using namespace orrery;
using namespace orrery::test;

// Tuning logs: what is read from them, and what models learn of operators and devices that they have not seen.
class TestSchedules : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    std::string file(const char* name, const std::string& text) const {
        const std::string path = folder_.filePath(name).toStdString();
        std::ofstream(path) << text;
        return path;
    }
    static TensorWork workOf(const char* task, const char* workload) {
        const auto work = readTensorWork(task, workload);
        return work ? *work : TensorWork{};
    }

private slots:
    // A valley over two features: beliefs that are right find its bottom at once, wrong ones are left behind.
    void aSearchLearnsWhatItTries() {
        SearchCandidates right{2, {}, {}};
        std::vector<double> seconds;
        for (int x = 0; x < 20; ++x) {
            for (int y = 0; y < 20; ++y) {
                right.features.insert(right.features.end(), {double(x), double(y)});
                const double off = std::hypot(x - 13, y - 6);
                seconds.push_back(off > 11 ? 0 : 1 + 0.2 * off);
                right.believed.push_back(off > 11 ? 0 : 1 / seconds.back());
            }
        }
        SearchCandidates wrong = right, flat = right;
        for (double& each : wrong.believed) each = 1 - each;
        for (double& each : flat.believed) each = 0.5;
        const auto best = static_cast<std::size_t>(13 * 20 + 6);
        const auto trialsOf = [&](const SearchCandidates& candidates) {
            std::size_t asked = 0;
            const auto order = searchGuided(candidates,
                                            [&](std::size_t i) {
                                                ++asked;
                                                return seconds[i];
                                            },
                                            {.trials = 200});
            if (asked != 200 || order.size() != 200) return std::size_t{999};
            const std::set<std::size_t> once(order.begin(), order.end());
            if (once.size() != order.size()) return std::size_t{998};  // nothing is tried twice
            return static_cast<std::size_t>(std::find(order.begin(), order.end(), best) - order.begin());
        };
        QCOMPARE(trialsOf(right), std::size_t{0});
        QVERIFY2(trialsOf(flat) < 60, qPrintable(QString::number(trialsOf(flat))));  // 200 by chance
        QVERIFY2(trialsOf(wrong) < 200, qPrintable(QString::number(trialsOf(wrong))));
        QVERIFY(searchGuided({}, [](std::size_t) { return 1.0; }, {}).empty());
        QCOMPARE(trialsByChance(9, 1), 5.0);
        QCOMPARE(trialsByChance(9, 9), 1.0);
    }

    void searchesSaveTrials() {
        std::vector<TunedRow> rows;
        for (const auto& [m, n] : {std::pair{128, 256}, {256, 256}, {512, 128}, {64, 512}})
            for (const TunedRow& each : trials(m, n)) rows.push_back(each);
        ScheduleTraining training;
        training.threads = 1;
        const auto judged = judgeSearch(rows, training, 40);
        QVERIFY(judged);
        QCOMPARE(judged->operators.size(), std::size_t{4});
        QVERIFY2(judged->guided * 3 < judged->chance, qPrintable(QString::number(judged->guided)));
        for (const SearchCurve& each : judged->operators) {
            QCOMPARE(each.best.size(), std::size_t{40});
            QVERIFY(each.good >= 1);
            for (std::size_t t = 1; t < each.best.size(); ++t) {
                QVERIFY(each.best[t] >= each.best[t - 1]);
                QVERIFY(each.bestByChance[t] >= each.bestByChance[t - 1] - 1e-12);
            }
        }
        const auto few = judgeSearch(std::span(rows).first(5), training);
        QVERIFY(!few);
        QCOMPARE(few.error().code, std::string("schedules.few"));
    }

    void workIsReadFromWords_data() {
        QTest::addColumn<QString>("task");
        QTest::addColumn<QString>("workload");
        QTest::addColumn<double>("flops");
        const auto row = [](const char* name, const char* task, const char* workload, double flops) {
            QTest::newRow(name) << task << workload << flops;
        };
        // FLOPs as TVM itself counts them.
        row("ResNet's first", "conv2d_nchw.cuda", "1x3x224x224:float32;64x3x7x7:float32;(2 2);(3 3 3 3);(1 1);float32",
            236027904);
        row("depthwise", "depthwise_conv2d_nchw.cuda",
            "1x1024x7x7:float32;1024x1x3x3:float32;(1 1);(1 1 1 1);(1 1);float32", 903168);
        row("one by one", "conv2d_nchwc.image2d", "1x512x1x384:float16;2x512x1x1:float16;(1 1);(0 0 0 0);(1 1);float16",
            786432);
        row("product", "dense_nopack.x86", "128x768:float32;2304x768:float32;None;float32", 452984832);
        row("products", "batch_matmul.cuda", "12x128x128:float32;12x64x128:float32;(12 128 64)", 25165824);
    }
    void workIsReadFromWords() {
        QFETCH(QString, task);
        QFETCH(QString, workload);
        QFETCH(double, flops);
        QCOMPARE(workOf(qPrintable(task), qPrintable(workload)).flops(), flops);
    }
    // Wherever a table states its FLOPs, ours are the same.
    void flopsAreThoseOfTheLogs() {
        const char* path = ORRERY_REFERENCE "/compiler/tophub/tuned_best.csv";
        if (!std::filesystem::exists(path)) QSKIP("the tuned operators are not here");
        const auto log = readTuningLog(path);
        QVERIFY2(log, log ? "" : log.error().message.c_str());
        QVERIFY(log->rows.size() > 2600);
        std::ifstream in(path);
        std::string line;
        std::map<int, double> stated;
        for (int number = 1; std::getline(in, line); ++number) {
            // The fifth cell; the fourth holds no comma.
            std::size_t at = 0;
            for (int i = 0; i < 4; ++i) at = line.find(',', at) + 1;
            const double flops = std::atof(line.c_str() + at);
            if (flops > 0) stated[number] = flops;
        }
        std::size_t same = 0, all = 0;
        for (const TunedRow& row : log->rows) {
            const auto found = stated.find(row.line);
            if (found == stated.end()) continue;
            ++all;
            same += std::abs(row.work.flops() / found->second - 1) < 1e-9;
        }
        qInfo("%zu of %zu operators with the FLOPs that TVM states", same, all);
        QVERIFY(all > 2500);
        QVERIFY(100 * same > 97 * all);
    }
    void nonsenseIsNoOperator() {
        for (const char* text : {"", "1x2", "1x0x3x3:float32;2x2x2x2:float32", "a;b", "1x2:float32;3x4:float32",
                                 "1x-1:float32;1x1:float32", "1x99999999999x2x2:f;1x1x1x1:f", ";;;;"}) {
            const auto work = readTensorWork("conv2d_nchw.cuda", text);
            QVERIFY2(!work && work.error().code == "schedules.workload", text);
        }
    }
    void bytesThatAreNoLogAreRefusedWithTheirLine() {
        RandomStream random(7);
        const std::string good =
            "device,task,workload,config,time_us\nt4,dense.cuda,8x8:float32;8x8:float32;None;float32,\"tile_x=-1,4\","
            "10\n";
        for (int i = 0; i < 300; ++i) {
            std::string bad = good;
            for (int j = 0; j < 3; ++j) bad[random.below(bad.size())] = static_cast<char>(32 + random.below(95));
            (void)readTuningLog(file("bad.csv", bad));
            (void)readTuningLog(file("bad.json", bad));
        }
        const auto negative =
            readTuningLog(file("n.csv", good + "t4,dense.cuda,8x8:float32;8x8:float32;None;float32,a=1,-3\n"));
        QVERIFY(!negative);
        QCOMPARE(negative.error().place.line, 3);
        const auto column = readTuningLog(file("c.csv", "device,task,workload,config\n"));
        QVERIFY(!column && column.error().code == "schedules.no-column");
        QVERIFY(!readTuningLog(folder_.filePath("absent.csv").toStdString()));
    }
    void aRecordOfAutoTvmSaysWhatTheTableSays() {
        const auto log =
            readTuningLog(file("log.json",
                               "{\"input\": [\"cuda -keys=cuda,gpu -model=t4\", \"conv2d_nchw.cuda\", [[\"TENSOR\", "
                               "[1, 64, 56, 56], \"float32\"], [\"TENSOR\", "
                               "[64, 64, 3, 3], \"float32\"], [1, 1], [1, 1, 1, 1], [1, 1], \"float32\"], {}], "
                               "\"config\": {\"index\": 3, \"code_hash\": null, "
                               "\"entity\": [[\"tile_f\", \"sp\", [-1, 2, 8, 4]], [\"unroll_explicit\", \"ot\", 1]]}, "
                               "\"result\": [[0.001, 0.003], 0, 1.5, 1.0], "
                               "\"version\": 0.2}\n# a comment\n"
                               "{\"input\": [\"llvm\", \"dense_nopack.x86\", [[\"TENSOR\", [1, 64], \"float32\"], "
                               "[\"TENSOR\", [10, 64], \"float32\"], null, "
                               "\"float32\"], {}], \"config\": {\"entity\": []}, \"result\": [[1e9], 4, 1.5, 1.0]}\n"));
        QVERIFY2(log, log ? "" : log.error().message.c_str());
        QCOMPARE(log->rows.size(), std::size_t{2});
        const TunedRow& first = log->rows[0];
        QCOMPARE(first.device, std::string("cuda t4"));
        QCOMPARE(first.workload, std::string("1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);float32"));
        QCOMPARE(first.seconds, 0.002);
        QCOMPARE(first.knobs[0].parts, (std::vector<double>{-1, 2, 8, 4}));
        QCOMPARE(log->rows[1].seconds, 0.0);
    }
    // A program of Ansor as knobs: a product on a GPU, a convolution on a CPU; what it computes is counted by hand.
    void aRecordOfAnsorSaysWhatItsStepsMade() {
        const auto log = readTuningLog(file(
            "ansor.json",
            "{\"i\": [[\"[\\\"55cb\\\"]\", \"cuda -keys=cuda,gpu -model=t4\", [-1, 16, 64]], [[], [[\"SP\", 2, 0, 128, "
            "[2, 2, "
            "2, 16], 1], [\"SP\", 2, 5, 768, [3, 32, 8, 1], 1], [\"SP\", 2, 10, 3072, [4, 3], 1], [\"FU\", 6, [0, 1]], "
            "[\"SP\", 3, 0, 96, [1], 1], [\"PR\", 4, 0, \"auto_unroll_max_step$16\"]]]], \"r\": [[0.02, 0.04], 0, 2, "
            "1], "
            "\"v\": \"v0.5\"}\n"
            "{\"i\": [[\"[\\\"de7d\\\", 1, 28, 28, 512, 1, 1, 512, 256]\", \"llvm -keys=cpu -mcpu=core-avx2\", [8, 64, "
            "64]], [[], [[\"SP\", 3, 0, 1, [1, 1, 1], 1], [\"SP\", 3, 4, 14, [1, 1, 7], 1], [\"SP\", 3, 8, 14, [1, 1, "
            "1], 1], "
            "[\"SP\", 3, 12, 256, [32, 1, 8], 1], [\"SP\", 3, 16, 1, [1], 1], [\"SP\", 3, 18, 1, [1], 1], [\"SP\", 3, "
            "20, 512, "
            "[8], 1]]]], \"r\": [[1e10], 4, 2, 1], \"v\": \"v0.5\"}\n"
            "{\"i\": [[\"key\", \"llvm\"], [[], []]], \"r\": [[0.1], 0, 1, 2], \"v\": \"v0.2\"}\n"));
        QVERIFY2(log, log ? "" : log.error().message.c_str());
        QCOMPARE(log->rows.size(), std::size_t{2});
        QCOMPARE(log->skipped.size(), std::size_t{1});  // no loop is split
        QCOMPARE(log->skipped[0].place.line, 3);
        const TunedRow& product = log->rows[0];
        QCOMPARE(product.device, std::string("cuda t4"));
        QCOMPARE(product.work.flops(), 2.0 * 128 * 768 * 3072);
        QCOMPARE(product.seconds, 0.03);
        QCOMPARE(product.knobs[0].parts, (std::vector<double>{-1, 2, 2, 32}));  // a thread's two parts as one
        QCOMPARE(product.knobs[2].parts, (std::vector<double>{-1, 4, 3}));
        QCOMPARE(product.knobs.back().name, std::string("auto_unroll_max_step"));
        QCOMPARE(product.cores, 0.0);
        // Its steps as they were written, lists unrolled, and what stands behind the dollar.
        QCOMPARE(product.steps.size(), std::size_t{6});
        QCOMPARE(product.steps[0].kind, std::string("SP"));
        QCOMPARE(product.steps[0].all, (std::vector<double>{2, 0, 128, 2, 2, 2, 16, 1}));
        QCOMPARE(product.steps[3].all, (std::vector<double>{6, 0, 1}));
        QCOMPARE(product.steps[5].all, (std::vector<double>{4, 0, 16}));
        const TunedRow& convolution = log->rows[1];
        QCOMPARE(convolution.seconds, 0.0);  // failed
        QCOMPARE(convolution.cores, 8.0);
        QCOMPARE(convolution.work.stride, 2.0);
        QCOMPARE(convolution.work.flops(), 2.0 * 14 * 14 * 256 * 512);
        for (const char* bad :
             {"{\"i\": [], \"r\": []}\n", "{\"i\": [[\"k\", \"llvm\"], [[], 3]], \"r\": [[1], 0]}\n",
              "{\"i\": [[\"k\", \"llvm\"], [[], [[\"SP\", 1, 0, -4, [2], 1]]]], \"r\": [[1], 0]}\n"}) {
            const auto read = readTuningLog(file("bad.json", bad));
            QVERIFY(!read);
            QCOMPARE(read.error().code, std::string("schedules.row"));
        }
    }
    // Published records: what ResNet-50's convolutions and BERT's products cost is known from their shapes.
    void publishedRecordsOfAnsorAreRead() {
        const std::string folder = ORRERY_REFERENCE "/compiler/ansor/";
        if (!std::filesystem::exists(folder)) QSKIP("the records of Ansor are not here");
        const auto bert = readTuningLog(folder + "t4_bert.json");
        QVERIFY2(bert, bert ? "" : bert.error().message.c_str());
        QCOMPARE(bert->rows.size(), std::size_t{60});    // 40 products, 20 of a batch, counted by another reader
        QCOMPARE(bert->skipped.size(), std::size_t{1});  // softmax: one kind
        const auto resnet = readTuningLog(folder + "ansor_resnet-50-NHWC-B1-llvm.json");
        QVERIFY2(resnet, resnet ? "" : resnet.error().message.c_str());
        QCOMPARE(resnet->rows.size(), std::size_t{23});
        for (const TunedRow& row : resnet->rows) {
            QVERIFY(row.seconds > 0 && row.work.flops() > 2e7 && row.work.flops() < 3e8);
            QVERIFY(row.work.stride == 1 || row.work.stride == 2);
        }
    }
    void whatIsTooLittleToJudgeIsSaid() {
        auto rows = tuned("cuda a", 1);
        auto asked = tuned("cuda b", 2);
        const auto scarce = tuned("cuda c", 3);
        asked.insert(asked.end(), scarce.begin(), scarce.begin() + 2);
        const auto judged = judgeOther(rows, asked, {});
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QCOMPARE(judged->devices.size(), std::size_t{1});
        QCOMPARE(judged->notes.size(), std::size_t{1});
        QCOMPARE(judgeOther(rows, std::span(scarce).first(2), {}).error().code, std::string("schedules.few"));
        QCOMPARE(judgeNewDevices(std::span(rows).first(15), {}).error().code, std::string("schedules.few"));
    }
    // The last wave is counted where the log says how many cores there are, and never guessed.
    void theLastWaveNeedsCores() {
        TunedRow row = trials(64, 128).front();
        row.knobs = readKnobs("tile_y=-1,16;tile_x=-1,16;tile_k=-1,4");
        std::array<double, scheduleFeatures> features{};
        const auto names = scheduleFeatureNames();
        const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), "last wave") - names.begin());
        scheduleFeaturesOf(row, features);
        QCOMPARE(features[at], 0.0);
        row.cores = 24;  // 4 × 8 tasks take two waves of 24
        scheduleFeaturesOf(row, features);
        QCOMPARE(features[at], 32.0 / 48);
    }
    void whatRemainsOfASplitIsWorkedOut() {
        TunedRow row = trials(64, 128).front();
        row.knobs = readKnobs("tile_y=-1,16;tile_x=-1,8;tile_k=-1,4");
        std::array<double, scheduleFeatures> features{};
        scheduleFeaturesOf(row, features);
        const auto names = scheduleFeatureNames();
        QCOMPARE(names.size(), scheduleFeatures);
        const auto at = [&](const char* name) {
            return features[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
        };
        QCOMPARE(at("rows split 2"), 2.0);       // 64 ÷ 16 = 4
        QCOMPARE(at("outputs split 2"), 4.0);    // 128 ÷ 8 = 16
        QCOMPARE(at("reduction split 2"), 6.0);  // 256 ÷ 4 = 64
        QCOMPARE(at("tasks"), 6.0);              // 4 × 16
    }
    // On a world with a known law the model answers operators that it has not seen, and its intervals hold.
    void timesOfUnseenOperators() {
        auto rows = tuned("cuda a", 1);
        const auto more = tuned("cuda b", 3);
        rows.insert(rows.end(), more.begin(), more.end());
        const auto judged = judgeLeftOut(rows, {});
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QCOMPARE(judged->all.rows, rows.size());
        QVERIFY2(judged->all.mape < 0.15 && judged->all.spearman > 0.98, qPrintable(QString::number(judged->all.mape)));
        QVERIFY(judged->all.coverage > 0.75);
        for (std::size_t i = 0; i < rows.size(); ++i)
            QVERIFY(judged->low[i] <= judged->said[i] && judged->said[i] <= judged->high[i]);
    }
    // A device that is three times slower than one that is known: ten rows say so.
    void aNewDeviceFollowsFromTen() {
        auto rows = tuned("cuda a", 1);
        auto more = tuned("cuda b", 2);
        rows.insert(rows.end(), more.begin(), more.end());
        const auto model = TunedTimes::fit(rows, {});
        QVERIFY(model);
        const auto asked = tuned("cuda c", 6);
        QVERIFY(!model->time(asked[0]));
        QCOMPARE(model->time(asked[0]).error().code, std::string("schedules.device"));
        std::vector<TunedRow> ten;
        for (std::size_t i = 0; i < asked.size() && ten.size() < 10; i += 6) ten.push_back(asked[i]);
        const auto adapted = model->adapted(ten);
        QVERIFY(adapted);
        double sum = 0;
        for (const TunedRow& row : asked) sum += std::abs(adapted->time(row)->seconds / row.seconds - 1);
        QVERIFY2(sum / double(asked.size()) < 0.1, qPrintable(QString::number(sum / double(asked.size()))));
        QVERIFY(!model->adapted(std::span(ten).first(2)));
    }
    void schedulesOfAnUnseenOperatorAreRanked() {
        std::vector<TunedRow> rows;
        for (const auto& [m, n] : {std::pair{64, 64}, {64, 128}, {128, 128}, {128, 256}}) {
            const auto more = trials(m, n);
            rows.insert(rows.end(), more.begin(), more.end());
        }
        QVERIFY(isOfTrials(rows));
        const auto judged = judgeLeftOut(rows, {});
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QCOMPARE(judged->operators.size(), std::size_t{4});
        for (const RankedOperator& one : judged->operators) {
            QCOMPARE(one.schedules, std::size_t{98});
            QVERIFY(one.failed > 0);
            QVERIFY2(one.spearman > 0.95 && one.top10 == 1.0, qPrintable(QString::number(one.spearman)));
            QVERIFY(one.chance10 < one.top10 && one.chance10 > 0);
        }
        const auto again = judgeLeftOut(rows, {});
        QVERIFY(again->said == judged->said);
    }
    void tooLittleIsSaid() {
        const auto rows = tuned("cuda a", 1);
        QCOMPARE(TunedTimes::fit(std::span(rows).first(5), {}).error().code, std::string("schedules.few"));
        QCOMPARE(ScheduleRanks::fit(rows, {}).error().code, std::string("schedules.few"));
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!TunedTimes::fit(rows, {.stop = stop.get_token()}));
    }
};

QTEST_GUILESS_MAIN(TestSchedules)
#include "tst_schedules.moc"
