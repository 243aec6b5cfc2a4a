#include "base/random.h"
#include "evaluation/schedules/judge_schedules.h"
#include "learning/schedules/machine_features.h"
#include "support/tuning_rows.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;
using namespace orrery::test;

// What stands behind the answers about schedules: shifts and corrections, features of machines, places that blocks
// fill.
class TestScheduleModels : public QObject {
    Q_OBJECT

private slots:
    // The factor of least relative error, against a search of all factors.
    void theAnswerIsTheOneOfLeastRelativeError() {
        const std::vector<double> off{-1.2, -0.3, -0.1, 0.05, 0.2, 0.9, 1.5};
        const auto error = [&](double c) {
            double sum = 0;
            for (const double r : off) sum += std::abs(std::exp(c - r) - 1);
            return sum;
        };
        const double shift = leastRelativeShift(off);
        for (double c = -2; c < 2; c += 0.01) QVERIFY(error(shift) <= error(c) + 1e-9);
        QVERIFY(shift < 0.05);  // below the middle one: too long is worse than too short
    }
    // Depthwise operators are three times slower than others say: rows of both kinds tell so, and each row is left out
    // of what is said of it.
    void anchorsTellKindsApart() {
        std::vector<TunedRow> rows(8);
        std::vector<const TunedRow*> anchors;
        std::vector<double> off;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].work.rows = rows[i].work.columns = 28;
            rows[i].work.inputs = rows[i].work.outputs = rows[i].work.groups = 64;
            rows[i].work.depthwise = i % 2 == 1;
            anchors.push_back(&rows[i]);
            off.push_back(rows[i].work.depthwise ? std::log(3.0) : 0.0);
        }
        const AnchorCorrection correction(anchors, off);
        QVERIFY(correction.at(rows[1]) - correction.at(rows[0]) > 0.7 * std::log(3.0));
        QCOMPARE(correction.leftOut().size(), rows.size());
        std::vector<const TunedRow*> others(anchors.begin() + 1, anchors.end());
        std::vector<double> othersOff(off.begin() + 1, off.end());
        const double first = off[0] - AnchorCorrection(others, othersOff).at(rows[0]);
        QVERIFY(std::abs(correction.leftOut()[0] - first) < 0.25);  // their levels differ a little
        const AnchorCorrection one{std::span(anchors).first(1), std::span(off).first(1)};
        QCOMPARE(one.at(rows[0]), off[0]);
        QCOMPARE(AnchorCorrection().at(rows[0]), 0.0);
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
    // A device of one row: in the fold without it its level was never learned, and what the trees miss it by there is
    // no error to widen its interval by, nor to move others.
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
