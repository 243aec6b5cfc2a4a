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
