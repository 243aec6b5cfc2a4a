#include "learning/trees.h"
#include "support/learning_fixture.h"

#include <limits>
#include <set>

using namespace orrery;
using namespace orrery::learningtest;

namespace {

TrainingOptions optionsFor(const QString& kind, int steps) {
    TrainingOptions options;
    options.kind = kind.toStdString();
    options.steps = steps;
    options.width = 16;
    return options;
}

}  // namespace

class TestLearningTraining : public QObject {
    Q_OBJECT
    void kinds() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<int>("steps");
        QTest::newRow("trees") << "trees" << 60;
        QTest::newRow("forest") << "forest" << 30;
        QTest::newRow("network") << "network" << 40;
        QTest::newRow("linear") << "linear" << 1;
    }

private slots:
    // Each must leave the constant far behind on rows that it has not seen; a line cannot bend with the sine.
    void learnsWhatIsThere_data() { kinds(); }
    void learnsWhatIsThere() {
        QFETCH(QString, kind);
        QFETCH(int, steps);
        const TrainingData data = smoothRows(1500, 1, 0.02), unseen = smoothRows(500, 2, 0);
        const auto model = train(data, nullptr, optionsFor(kind, steps));
        QVERIFY2(model, model ? "" : toText(model.error()).c_str());
        double constant = 0;
        for (const double target : unseen.target) constant += std::abs(target - 0.25) / 500;
        const double error = meanAbsoluteError(**model, unseen);
        QVERIFY2(error < constant * (kind == "linear" ? 0.95 : 0.35),
                 qPrintable(QString("%1 of %2").arg(error).arg(constant)));
    }

    void sameSeedSameBytesAtAnyThreadCount_data() { kinds(); }
    void sameSeedSameBytesAtAnyThreadCount() {
        QFETCH(QString, kind);
        QFETCH(int, steps);
        TrainingOptions options = optionsFor(kind, std::min(steps, 10));
        options.subsample = 0.7;
        options.featureShare = 0.6;
        const TrainingData data = smoothRows(600, 3, 0.1);
        std::set<std::string> files;
        for (const int threads : {1, 2, 3}) {
            options.threads = threads;
            const auto model = train(data, nullptr, options);
            QVERIFY(model);
            files.insert((*model)->toJson());
        }
        QCOMPARE(files.size(), std::size_t(1));
        options.seed = 2;
        const auto other = train(data, nullptr, options);
        QCOMPARE(files.contains((*other)->toJson()), kind == "linear");  // the only one that draws nothing
    }

    void robustLossesPassByOutliers_data() {
        QTest::addColumn<QString>("kind");
        QTest::newRow("trees") << "trees";
        QTest::newRow("network") << "network";
        QTest::newRow("linear") << "linear";
    }
    void robustLossesPassByOutliers() {
        QFETCH(QString, kind);
        // y = x, and a tenth of the rows far above it.
        TrainingData data;
        data.names = {"x"};
        RandomStream random(5);
        for (int i = 0; i < 800; ++i) {
            data.features.push_back(2 * random.uniform() - 1);
            data.target.push_back(data.features.back() + (i % 10 == 0 ? 8 : 0));
        }
        TrainingOptions options = optionsFor(kind, 60);
        options.depth = 3;
        options.minimumLeaf = 20;
        options.ridge = 0.1;
        double error[2];
        for (int i = 0; i < 2; ++i) {
            options.loss = i == 0 ? "absolute" : "squared";
            const auto model = train(data, nullptr, options);
            QVERIFY(model);
            error[i] = 0;
            for (double x = -0.9; x < 0.95; x += 0.1) error[i] += std::abs((*model)->predict(std::vector{x}) - x) / 19;
        }
        QVERIFY2(error[0] < 0.1 && error[1] > 0.4, qPrintable(QString("%1 %2").arg(error[0]).arg(error[1])));
    }

    void monotoneWhereAsked() {
        TrainingOptions options = optionsFor("trees", 30);
        options.monotone = {1, 0, 0, 0};
        const auto model = train(smoothRows(600, 6, 0.3), nullptr, options);
        QVERIFY(model);
        for (double b = -2; b <= 2; b += 0.5) {
            double before = -1e9;
            for (double a = -2; a <= 2; a += 0.05) {
                const double now = (*model)->predict(std::vector{a, b, 1.0, 7.0});
                QVERIFY(now >= before - 1e-9);
                before = now;
            }
        }
    }

    void stepsAreToldAndStoppingKeepsTheBest_data() { kinds(); }
    void stepsAreToldAndStoppingKeepsTheBest() {
        QFETCH(QString, kind);
        if (kind == "linear") QSKIP("one step");
        std::stop_source stop;
        TrainingOptions options = optionsFor(kind, 10'000);
        options.subsample = 0.6;  // or all trees of a forest would be one
        std::vector<TrainingPoint> points;
        options.stop = stop.get_token();
        options.onStep = [&](const TrainingPoint& point) {
            points.push_back(point);
            if (points.size() == 12) stop.request_stop();
        };
        const TrainingData data = smoothRows(400, 7, 0.05), validation = smoothRows(200, 8, 0.05);
        const auto model = train(data, &validation, options);
        QVERIFY(model);
        QVERIFY(points.size() >= 12 && points.size() <= 13);
        QVERIFY(points[11].training < points[0].training && points[11].validation < points[0].validation);
        double best = 1e9;
        for (const TrainingPoint& point : points) best = std::min(best, point.validation);
        // A forest keeps all its trees; the others the step of least error, but for the rounding of their numbers.
        const double slack = kind == "forest" ? 0.1 : 0.01;
        QVERIFY(std::abs(meanAbsoluteError(**model, validation) - best) < slack * best + 1e-4);
        if (kind == "trees") QVERIFY(static_cast<const Trees&>(**model).trees() <= 12);
    }

    void treesOfAForestDiffer() {
        TrainingOptions options = optionsFor("forest", 8);
        options.subsample = 0.6;
        const auto model = train(smoothRows(300, 9, 0.1), nullptr, options);
        QVERIFY(model);
        std::set<std::vector<float>> thresholds;
        for (const TreeNodes& tree : static_cast<const Trees&>(**model).unpack()) thresholds.insert(tree.value);
        QCOMPARE(thresholds.size(), std::size_t(8));
    }

    // Split points lie between values of the data: no training row changes sides, and few digits say them.
    void thresholdsAreShort() {
        TrainingData data;
        data.names = {"log"};
        for (int i = 0; i < 400; ++i) {
            data.features.push_back(std::log(double(1 << (i % 20))));
            data.target.push_back(double(i % 20));
        }
        TrainingOptions options = optionsFor("trees", 200);
        options.minimumLeaf = 1;
        options.ridge = 0;
        const auto model = train(data, nullptr, options);
        QVERIFY(model);
        for (std::size_t r = 0; r < 20; ++r)
            QVERIFY(std::abs((*model)->predict(rowOf(data, r)) - data.target[r]) < 0.01);
        for (const TreeNodes& tree : static_cast<const Trees&>(**model).unpack()) {
            for (std::size_t i = 0; i < tree.size(); ++i) {
                if (tree.left[i] >= 0) QVERIFY(QString::number(tree.value[i]).size() <= 4);
            }
        }
    }

    void whatCannotBeTrainedIsSaid_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("code");
        QTest::newRow("no rows") << "rows"
                                 << "learning.no-rows";
        QTest::newRow("NaN feature") << "nan"
                                     << "learning.not-finite";
        QTest::newRow("infinite target") << "inf"
                                         << "learning.not-finite";
        QTest::newRow("missing numbers") << "shape"
                                         << "learning.shape";
        QTest::newRow("negative weight") << "weight"
                                         << "learning.weight";
        QTest::newRow("unknown kind") << "kind"
                                      << "learning.unknown-kind";
        QTest::newRow("unknown loss") << "loss"
                                      << "learning.option";
        QTest::newRow("steps") << "steps"
                               << "learning.option";
        QTest::newRow("monotone") << "monotone"
                                  << "learning.option";
    }
    void whatCannotBeTrainedIsSaid() {
        QFETCH(QString, what);
        QFETCH(QString, code);
        TrainingData data = smoothRows(20, 1, 0);
        TrainingOptions options = optionsFor("trees", 2);
        if (what == "rows") data = TrainingData{data.names, {}, {}, {}};
        if (what == "nan") data.features[5] = std::numeric_limits<double>::quiet_NaN();
        if (what == "inf") data.target[5] = std::numeric_limits<double>::infinity();
        if (what == "shape") data.features.pop_back();
        if (what == "weight") data.weight.assign(20, -1);
        if (what == "kind") options.kind = "oracle";
        if (what == "loss") options.loss = "none";
        if (what == "steps") options.steps = 0;
        if (what == "monotone") options.monotone = {1};
        const auto model = train(data, nullptr, options);
        QVERIFY(!model);
        QCOMPARE(QString::fromStdString(model.error().code), code);
    }

    void splitsAreDisjointAndWhole() {
        const auto whole = [](const Split& split, std::size_t rows) {
            std::set<std::size_t> all(split.training.begin(), split.training.end());
            all.insert(split.test.begin(), split.test.end());
            return all.size() == rows && split.training.size() + split.test.size() == rows &&
                   std::is_sorted(split.training.begin(), split.training.end());
        };
        const Split fifth = splitFraction(1000, 0.2, 1);
        QVERIFY(whole(fifth, 1000));
        QCOMPARE(fifth.training.size(), std::size_t(200));
        QCOMPARE(splitFraction(1000, 0.2, 1).training, fifth.training);
        QVERIFY(splitFraction(1000, 0.2, 2).training != fifth.training);
        QCOMPARE(splitCount(1000, 50, 3).training.size(), std::size_t(50));
        QCOMPARE(splitCount(10, 50, 3).test.size(), std::size_t(0));
        std::multiset<std::size_t> tested;
        for (const Split& fold : splitFolds(103, 5, 1)) {
            QVERIFY(whole(fold, 103));
            QVERIFY(fold.test.size() == 20 || fold.test.size() == 21);
            tested.insert(fold.test.begin(), fold.test.end());
        }
        QCOMPARE(tested.size(), std::size_t(103));
        QCOMPARE(std::set(tested.begin(), tested.end()).size(), std::size_t(103));
        const std::vector<std::int32_t> groups{3, 1, 3, 2};
        QCOMPARE(splitGroup(groups, 3).test, (std::vector<std::size_t>{0, 2}));
    }
};

QTEST_GUILESS_MAIN(TestLearningTraining)
#include "tst_learning_training.moc"
