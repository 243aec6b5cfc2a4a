#include "base/random.h"
#include "evaluation/schedules/judge_schedules.h"
#include "learning/schedules/machine_features.h"
#include "learning/schedules/tuned_times.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::test;

// What stands behind the answers about schedules: what rows of a new device say, features of machines, places that
// blocks fill.
class TestScheduleModels : public QObject {
    Q_OBJECT

private slots:
    // Depthwise operators of a new device are three times slower than those of the known one: a few rows of both kinds
    // say so of the others, and no row of the known device moves.
    void anchorsTellKindsApart() {
        const auto depthwiseToo = [](const std::string& device, double times) {
            auto rows = tuned(device, 1);
            auto thin = rows;
            for (TunedRow& row : thin) {
                row.task = "depthwise_conv2d_nchw.cuda";
                row.workload += " depthwise";
                row.work.depthwise = true, row.work.groups = row.work.inputs;
                row.seconds *= times / row.work.inputs;
            }
            rows.insert(rows.end(), thin.begin(), thin.end());
            return rows;
        };
        const auto known = depthwiseToo("cuda a", 1), asked = depthwiseToo("cuda b", 3);
        const auto model = TunedTimes::fit(known, {});
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        std::vector<TunedRow> anchors;
        for (std::size_t i = 5; i < asked.size(); i += 11) anchors.push_back(asked[i]);
        const auto adapted = model->adapted(anchors);
        QVERIFY(adapted);
        double plain = 0, thin = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const double ratio = std::log(adapted->time(asked[i])->seconds / model->time(known[i])->seconds);
            (asked[i].work.depthwise ? thin : plain) += 2 * ratio / static_cast<double>(asked.size());
        }
        QVERIFY2(std::abs(plain) < 0.15 && std::abs(thin - std::log(3.0)) < 0.2,
                 qPrintable(QString("%1, %2").arg(plain).arg(thin)));
        QVERIFY(std::abs(std::log(adapted->time(known[7])->seconds / model->time(known[7])->seconds)) < 0.1);
    }
    void whatWasMeasuredIsAnswered() {
        const auto known = tuned("cuda a", 1), asked = tuned("cuda b", 2);
        const auto model = TunedTimes::fit(known, {});
        QVERIFY(model);
        std::vector<TunedRow> six;
        for (std::size_t i = 0; i < 6; ++i) six.push_back(asked[10 * i]);
        const auto once = model->adapted(six);
        QVERIFY(once && once->knows("cuda b") && !model->knows("cuda b"));
        // A row that was measured is answered as measured, and surer than one that was not.
        const auto seen = once->time(six[2]), other = once->time(asked[33]);
        QVERIFY(std::abs(std::log(seen->seconds / six[2].seconds)) < 0.1);
        QVERIFY(seen->high / seen->low <= other->high / other->low);
        // Many rows are said as one by one.
        std::vector<const TunedRow*> all;
        for (const TunedRow& row : asked) all.push_back(&row);
        const auto together = once->times(all);
        QVERIFY(together);
        for (std::size_t i = 0; i < asked.size(); i += 9) {
            const auto alone = once->time(asked[i]);
            QVERIFY(std::abs((*together)[i].seconds / alone->seconds - 1) < 1e-9);
            QVERIFY(alone->low <= alone->seconds && alone->seconds <= alone->high);
        }
    }
    // The first rows to measure differ: the second choice is no neighbour of the first, and none comes twice.
    void chosenRowsSpreadOverOperators() {
        const auto model = TunedTimes::fit(tuned("cuda a", 1), {});
        QVERIFY(model);
        const auto asked = tuned("cuda b", 2);
        std::vector<const TunedRow*> all;
        for (const TunedRow& row : asked) all.push_back(&row);
        const auto chosen = model->anchorsOf(all, 6);
        QCOMPARE(chosen.size(), std::size_t{6});
        QCOMPARE(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), chosen.size());
        std::set<double> channels;
        for (const std::size_t i : chosen) channels.insert(asked[i].work.outputs);
        QVERIFY(channels.size() >= 3);
        QVERIFY(model->anchorsOf({}, 3).empty());
    }
    // Of a device whose times scatter far the interval is wide, and the answer is drawn down; of a quiet one it is not.
    void intervalsAreAsWideAsTheDeviceScatters() {
        auto rows = tuned("cuda a", 1);
        auto noisy = tuned("cuda b", 1);
        RandomStream random(3);
        for (TunedRow& row : noisy) row.seconds *= std::exp(2 * random.uniform() - 1);
        rows.insert(rows.end(), noisy.begin(), noisy.end());
        const auto model = TunedTimes::fit(rows, {});
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        const auto quiet = model->time(rows[0]), wide = model->time(noisy[0]);
        QVERIFY(std::log(wide->high / wide->low) > 1.5 * std::log(quiet->high / quiet->low));
    }
    // A device of one row moves no other, and its interval does not reach to nothing.
    void aDeviceOfOneRowMovesNoOther() {
        auto rows = tuned("cuda a", 1);
        const auto alone = TunedTimes::fit(rows, {});
        const TunedRow single = tuned("cuda b", 50).front();
        rows.push_back(single);
        const auto both = TunedTimes::fit(rows, {});
        QVERIFY(alone && both);
        for (const std::size_t i : {9u, 30u, 60u})
            QVERIFY(std::abs(std::log(both->time(rows[i])->seconds / alone->time(rows[i])->seconds)) < 0.1);
        QVERIFY(both->time(single)->low > 0.1 * both->time(single)->seconds);
    }
    // A product of TVM that is not packed is vectorised along the reduction, a packed one along the outputs.
    void vectorsAndSumsAreCounted() {
        TunedRow row = trials(64, 128).front();
        row.knobs = readKnobs("tile_y=-1,8;tile_x=-1,3;tile_k=-1,8");
        std::array<double, vectorFeatureNames.size()> features{};
        const auto at = [&](std::string_view name) {
            return features[static_cast<std::size_t>(
                std::find(vectorFeatureNames.begin(), vectorFeatureNames.end(), name) - vectorFeatureNames.begin())];
        };
        row.task = "dense_nopack.x86";
        vectorFeatures(row, loopsOf(row), features);
        QCOMPARE(at("vector bytes"), 5.0);         // 8 floats
        QCOMPARE(at("64 B vectors filled"), 0.5);  // of 16
        QCOMPARE(at("sums in 32 B registers"), std::log2(24.0));
        QCOMPARE(at("loads per multiply-add"), 11.0 / 24);
        row.task = "dense_pack.x86";
        row.knobs = readKnobs("tile_y=-1,4,16;tile_x=-1,1,32;tile_k=-1,8");
        vectorFeatures(row, loopsOf(row), features);
        QCOMPARE(at("vector bytes"), 7.0);  // 32 floats
        QCOMPARE(at("sums in 64 B registers"), std::log2(32.0));
        QCOMPARE(at("loads per multiply-add"), 18.0 / 32);
    }
    // 16 × 12 results of a block: 8 × 64 blocks do not fill 40 multiprocessors that hold 16 each; 8 × 192 do.
    void fewBlocksLeaveAGpuEmpty() {
        TunedRow row;
        row.task = "dense_large_batch.cuda";
        row.work.product = true;
        row.work.rows = 128, row.work.inputs = 768, row.work.outputs = 768;
        row.knobs = readKnobs("tile_x=-1,4,1,4;tile_y=-1,1,1,12;tile_k=-1,2,1");
        QCOMPARE(filledPlaces(row), 1.0);  // of a device that is not known
        row.cores = 40, row.warps = 32;
        QCOMPARE(residentBlocks(row, loopsOf(row)), 16.0);
        QCOMPARE(filledPlaces(row), 512.0 / 640);
        row.work.outputs = 2304;
        QCOMPARE(filledPlaces(row), 1.0);
        row.knobs = readKnobs("tile_x=-1,1,16,1;tile_y=-1,1,16,3;tile_k=-1,2,1");  // 256 threads: 8 warps
        QCOMPARE(residentBlocks(row, loopsOf(row)), 4.0);
        row.task = "dense_pack.x86";
        QCOMPARE(filledPlaces(row), 1.0);
    }
    // The catalogue knows a T4, with and without its platform; what a log says stands.
    void knownGpusAreLookedUp() {
        std::vector<TunedRow> rows(4);
        rows[0].device = "t4", rows[1].device = "cuda v100", rows[2].device = "platinum-8124m", rows[3].device = "t4";
        rows[3].cores = 7;
        addKnownDevices(rows);
        QCOMPARE(rows[0].cores, 40.0);
        QCOMPARE(rows[0].warps, 32.0);
        QCOMPARE(rows[1].cores, 80.0);
        QCOMPARE(rows[2].cores, 0.0);
        QCOMPARE(rows[3].cores, 7.0);
    }
};

QTEST_GUILESS_MAIN(TestScheduleModels)
#include "tst_schedule_models.moc"
