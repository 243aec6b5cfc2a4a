#include "base/random.h"
#include "evaluation/error_metrics.h"
#include "learning/training.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

// Order by a curve of two features; the others say nothing.
TrainingData rowsOf(std::uint64_t seed, std::size_t count) {
    RandomStream random(seed);
    TrainingData data;
    data.names = {"a", "b", "c", "d"};
    for (std::size_t i = 0; i < count; ++i) {
        const double a = random.uniform(), b = random.uniform(), c = random.uniform(), d = random.uniform();
        data.features.insert(data.features.end(), {a, b, c, d});
        data.target.push_back(-std::abs(a - 0.6) - 0.5 * b * b);
    }
    return data;
}
TrainingOptions pairs() {
    TrainingOptions options;
    options.loss = "pairwise";
    options.steps = 80;
    options.minimumLeaf = 0.2;
    return options;
}

}  // namespace

// Boosted trees that learn order alone.
class TestPairwiseTrees : public QObject {
    Q_OBJECT

private slots:
    // Rows that it has not seen are put in order.
    void unseenRowsAreInOrder() {
        const auto model = train(rowsOf(1, 200), nullptr, pairs());
        QVERIFY(model);
        const TrainingData other = rowsOf(2, 100);
        std::vector<double> said;
        for (std::size_t i = 0; i < other.rows(); ++i)
            said.push_back((*model)->predict(std::span(other.features).subspan(4 * i, 4)));
        const double rho = spearmanRho(said, other.target);
        QVERIFY2(rho > 0.9, qPrintable(QString::number(rho)));
    }

    // Only the order of the targets counts: what grows with them teaches the same.
    void aScaleOfTheTargetSaysNothing() {
        TrainingData data = rowsOf(3, 120), other = data;
        for (double& each : other.target) each = 1e6 * std::exp(20 * each);
        const auto one = train(data, nullptr, pairs()), two = train(other, nullptr, pairs());
        QVERIFY(one && two);
        for (std::size_t i = 0; i < data.rows(); ++i) {
            const auto row = std::span(data.features).subspan(4 * i, 4);
            QCOMPARE((*one)->predict(row), (*two)->predict(row));
        }
    }

    // Rows of one target say nothing of each other.
    void equalRowsAreLeftAlone() {
        TrainingData data = rowsOf(4, 50);
        for (double& each : data.target) each = 7;
        const auto model = train(data, nullptr, pairs());
        QVERIFY(model);
        QCOMPARE((*model)->predict(std::span(data.features).first(4)), 0.0);
    }

    // The best step is that of the fewest pairs in wrong order: a scale of the targets that are watched says nothing.
    void whatIsWatchedIsTheOrder() {
        TrainingData data = rowsOf(6, 80), watched = rowsOf(7, 60);
        RandomStream random(8);
        for (TrainingData* each : {&data, &watched})
            for (double& target : each->target) target += 0.6 * random.uniform();  // so that the last step is too late
        TrainingData scaled = watched;
        for (double& each : scaled.target) each = 1e6 * std::exp(20 * each);
        std::vector<std::vector<double>> seen;
        std::vector<RegressorPtr> models;
        for (const TrainingData* each : {&watched, &scaled}) {
            TrainingOptions options = pairs();
            std::vector<double> errors;
            options.onStep = [&](const TrainingPoint& point) { errors.push_back(point.validation); };
            const auto model = train(data, each, options);
            QVERIFY(model);
            models.push_back(*model);
            seen.push_back(errors);
        }
        QVERIFY(seen[0] == seen[1]);
        double wrong = 0, all = 0;
        std::vector<double> said;
        for (std::size_t i = 0; i < watched.rows(); ++i) {
            const auto row = std::span(watched.features).subspan(4 * i, 4);
            QCOMPARE(models[0]->predict(row), models[1]->predict(row));
            said.push_back(models[0]->predict(row));
        }
        for (std::size_t i = 0; i < watched.rows(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double order = (said[i] - said[j]) * (watched.target[i] - watched.target[j]);
                wrong += order < 0 ? 1 : order == 0 ? 0.5 : 0, ++all;
            }
        }
        // Thresholds are set anew between rows that taught, so that a pair or two may turn.
        const double least = *std::ranges::min_element(seen[0]);
        QVERIFY2(std::abs(wrong / all - least) < 0.02, qPrintable(QString("%1 %2").arg(wrong / all).arg(least)));
        QVERIFY2(least < seen[0].front() && least < seen[0].back(),
                 qPrintable(QString("%1 %2 %3").arg(seen[0].front()).arg(least).arg(seen[0].back())));
    }

    void othersHaveNoSuchLoss() {
        for (const char* kind : {"linear", "forest", "network", "gaussian-process", "blend"}) {
            TrainingOptions options = pairs();
            options.kind = kind;
            const auto model = train(rowsOf(5, 40), nullptr, options);
            QVERIFY2(!model && model.error().code == "learning.option", kind);
        }
    }
};

QTEST_GUILESS_MAIN(TestPairwiseTrees)
#include "tst_pairwise_trees.moc"
