#include "learning/networks/adam.h"
#include "learning/networks/rank_loss.h"
#include "learning/networks/tape.h"

#include <QtTest/QtTest>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

using namespace orrery;

namespace {

constexpr std::size_t inputs = 5, width = 6, heads = 2;

// Two sets: a graph of four nodes (a diamond) and a chain of three.
struct Sets {
    std::vector<double> rows, factors;
    Neighbours before, whole, sets;

    Sets() {
        RandomStream random(11);
        for (std::size_t i = 0; i < 7 * inputs; ++i) rows.push_back(random.normal());
        for (std::size_t i = 0; i < 7 * width; ++i) factors.push_back(0.5 + random.uniform());
        const std::vector<std::vector<std::uint32_t>> edges{{}, {0}, {0}, {1, 2, 0}, {}, {4}, {5, 4}};
        for (const auto& some : edges) {
            for (const std::uint32_t each : some) before.add(each);
            before.close();
        }
        for (std::size_t r = 0; r < 7; ++r) whole.addRange(r < 4 ? 0 : 4, r < 4 ? 4 : 3);
        sets.addRange(0, 4);
        sets.addRange(4, 3);
    }
};

// All that a tape does, one after another.
struct Everything {
    TapeParameters<double> parameters;
    std::vector<DenseLayer> layers;
    DenseLayer embed, out;

    Everything() {
        RandomStream random(5);
        embed = parameters.dense(inputs, width, random);
        for (int i = 0; i < 7; ++i) layers.push_back(parameters.dense(width, width, random));
        out = parameters.dense(width, 1, random);
        for (double& each : parameters.values)
            if (each == 0) each = 0.1 * random.normal();  // biases too
    }
    using Node = Tape<double>::Node;
    Node on(Tape<double>& tape, const Sets& some) const {
        Node x = tape.rectified(tape.dense(tape.rows(inputs, some.rows), embed));
        x = tape.normalised(tape.sum(x, tape.dense(tape.gathered(x, some.before), layers[0])));
        const Node edges = tape.attended(tape.dense(x, layers[1]), tape.dense(x, layers[2]), x, some.before, heads);
        x = tape.sum(tape.dense(edges, layers[3]), x);
        x = tape.attended(tape.dense(x, layers[4]), tape.dense(x, layers[5]), tape.dense(x, layers[6]), some.whole,
                          heads);
        return tape.dense(tape.totalled(tape.scaled(x, some.factors), some.sets), out);
    }
    double weighed(const Sets& some, std::span<const double> by) const {
        Tape<double> tape(parameters);
        const auto said = tape.valuesOf(on(tape, some));
        return std::inner_product(by.begin(), by.end(), said.begin(), 0.0);
    }
};

// What a row and the one before it are: not to be told from the mean of all rows alone.
double truth(std::span<const float> chain) {
    double sum = 0;
    for (std::size_t i = 1; i < chain.size(); ++i) sum += chain[i] * chain[i - 1];
    return sum;
}

std::vector<float> trainedOnChains(std::uint64_t seed, double& first, double& last) {
    constexpr std::size_t nodes = 5, chains = 40;
    RandomStream random(seed);
    TapeParameters<float> parameters;
    const DenseLayer embed = parameters.dense(1, 8, random), own = parameters.dense(8, 8, random),
                     before = parameters.dense(8, 8, random), out = parameters.dense(8, 1, random);
    std::vector<float> rows, wanted;
    Neighbours edges, sets;
    for (std::size_t c = 0; c < chains; ++c) {
        for (std::size_t i = 0; i < nodes; ++i) {
            rows.push_back(random.below(2) == 1 ? 1.0f : -1.0f);
            if (i > 0) edges.add(static_cast<std::uint32_t>(c * nodes + i - 1));
            edges.close();
        }
        sets.addRange(c * nodes, nodes);
        wanted.push_back(float(truth(std::span(rows).last(nodes))));
    }
    std::vector<float> gradient(parameters.values.size()), slopes(chains);
    Adam<float> adam;
    Tape<float> tape(parameters);
    for (int step = 0; step < 300; ++step) {
        tape.clear();
        auto x = tape.rectified(tape.dense(tape.rows(1, rows), embed));
        x = tape.rectified(tape.sum(tape.dense(x, own), tape.dense(tape.gathered(x, edges), before)));
        const auto told = tape.dense(tape.totalled(x, sets), out);
        double loss = 0;
        for (std::size_t c = 0; c < chains; ++c) {
            slopes[c] = tape.valuesOf(told)[c] - wanted[c];
            loss += double(slopes[c]) * double(slopes[c]) / chains;
        }
        (step == 0 ? first : last) = loss;
        tape.backward(told, slopes, gradient);
        adam.step(parameters.values, gradient, 0.02f, 0, 1.0f / chains);
    }
    return parameters.values;
}

}  // namespace

// The small network over graphs and sequences: slopes against differences, what rows may see, that it learns.
class TestNetworks : public QObject {
    Q_OBJECT

private slots:
    void slopesAreThoseOfDifferences() {
        Everything all;
        const Sets some;
        const std::array by{0.7, -1.3};
        Tape<double> tape(all.parameters);
        std::vector<double> slopes(all.parameters.values.size());
        tape.backward(all.on(tape, some), by, slopes);
        constexpr double step = 1e-5;
        double largest = 0;
        for (std::size_t i = 0; i < slopes.size(); ++i) {
            double& value = all.parameters.values[i];
            const double kept = value;
            value = kept + step;
            const double above = all.weighed(some, by);
            value = kept - step;
            const double below = all.weighed(some, by);
            value = kept;
            const double wanted = (above - below) / (2 * step);
            largest = std::max(largest, std::abs(wanted));
            QVERIFY2(std::abs(slopes[i] - wanted) < 1e-6 * (1 + std::abs(wanted)),
                     qPrintable(QString("parameter %1: %2, not %3").arg(i).arg(slopes[i]).arg(wanted)));
        }
        QVERIFY(largest > 0.1);  // there was something to compare
    }
    // A second walk adds to what is there, and a tape that is used again says the same.
    void slopesAdd() {
        const Everything all;
        const Sets some;
        const std::array by{1.0, 1.0};
        Tape<double> tape(all.parameters);
        std::vector<double> once(all.parameters.values.size()), twice = once;
        tape.backward(all.on(tape, some), by, once);
        for (int i = 0; i < 2; ++i) {
            tape.clear();
            tape.backward(all.on(tape, some), by, twice);
        }
        for (std::size_t i = 0; i < once.size(); ++i) QVERIFY(std::abs(twice[i] - 2 * once[i]) < 1e-12);
    }
    // Keys 0 and ln 3 of one column: shares 1 and 3 of 4. A row that looks at none gets 0.
    void attentionIsASoftmaxOfProducts() {
        const TapeParameters<double> none;
        Tape<double> tape(none);
        Neighbours by;
        by.addRange(0, 2);
        by.close();
        const std::array<double, 2> queries{1, 1}, keys{0, std::log(3.0)}, values{8, 16};
        const auto out = tape.attended(tape.rows(1, queries), tape.rows(1, keys), tape.rows(1, values), by, 1);
        QCOMPARE(tape.valuesOf(out)[0], 14.0);
        QCOMPARE(tape.valuesOf(out)[1], 0.0);
    }
    void setsDoNotSeeEachOther() {
        const Everything all;
        Sets some;
        Tape<double> tape(all.parameters);
        const auto both = all.on(tape, some);
        const double first = tape.valuesOf(both)[0], second = tape.valuesOf(both)[1];
        for (std::size_t i = 4 * inputs; i < 7 * inputs; ++i) some.rows[i] += 1;
        tape.clear();
        const auto moved = all.on(tape, some);
        QVERIFY(std::abs(tape.valuesOf(moved)[0] - first) < 1e-12);
        QVERIFY(std::abs(tape.valuesOf(moved)[1] - second) > 1e-3);
    }
    // A node is told by what stands before it, not by what it is called: the diamond's two middle nodes may change
    // places.
    void orderOfNodesDoesNotMatter() {
        const Everything all;
        Sets some;
        Tape<double> tape(all.parameters);
        const double first = tape.valuesOf(all.on(tape, some))[0];
        for (std::size_t i = 0; i < inputs; ++i) std::swap(some.rows[inputs + i], some.rows[2 * inputs + i]);
        for (std::size_t i = 0; i < width; ++i) std::swap(some.factors[width + i], some.factors[2 * width + i]);
        tape.clear();
        QVERIFY(std::abs(tape.valuesOf(all.on(tape, some))[0] - first) < 1e-12);
    }
    void rankSlopesAreThoseOfDifferences() {
        std::vector<float> scores{0.9f, 0.1f, 0.5f, 0.3f};
        const std::vector<double> worth{0.2, 1, 0.6, 0.2};
        std::vector<float> slopes(4), none(4);
        addRankSlopes(scores, worth, 0.5, 2, slopes);
        QVERIFY(std::abs(std::accumulate(slopes.begin(), slopes.end(), 0.0f)) < 1e-6f);  // a shift changes no order
        for (std::size_t i = 0; i < 4; ++i) {
            std::vector<float> moved = scores;
            moved[i] += 0.01f;  // no place changes
            const double above = addRankSlopes(moved, worth, 0.5, 2, none);
            moved[i] -= 0.02f;
            const double below = addRankSlopes(moved, worth, 0.5, 2, none);
            QVERIFY(std::abs((above - below) / 0.02 - double(slopes[i])) < 1e-3);
        }
    }
    void theRightOrderCostsLeast() {
        const std::vector<double> worth{1, 0.7, 0.4, 0.1}, equal(4, 0.5);
        const std::vector<float> right{4, 3, 2, 1}, wrong{1, 2, 3, 4}, far{4000, 3000, 2000, -9e5f};
        std::vector<float> slopes(4);
        const double least = addRankSlopes(right, worth, 1, 1, slopes),
                     most = addRankSlopes(wrong, worth, 1, 1, slopes);
        QVERIFY(least < 0.5 && most > 1.5);
        QVERIFY(std::isfinite(addRankSlopes(far, worth, 1, 1, slopes)));
        std::vector<float> still(4);
        QCOMPARE(addRankSlopes(right, equal, 1, 1, still), 0.0);
        QCOMPARE(still, std::vector<float>(4));
    }
    // The first step of Adam is the rate, whatever the slope's size (Kingma and Ba 2015, section 2.1).
    void adamsFirstStepIsTheRate() {
        std::vector<double> at{3, -2}, slopes{1e-3, -50};
        Adam<double> adam;
        adam.step(at, slopes, 0.1, 0, 1);
        QVERIFY(std::abs(at[0] - 2.9) < 1e-4 && std::abs(at[1] + 1.9) < 1e-4);
        QCOMPARE(slopes, std::vector<double>(2));
        for (int i = 0; i < 2000; ++i) {
            slopes = {2 * (at[0] - 1), 20 * (at[1] + 4)};
            adam.step(at, slopes, warmedAndCooled(0.05, i / 2000.0), 0, 1);
        }
        QVERIFY(std::abs(at[0] - 1) < 1e-2 && std::abs(at[1] + 4) < 1e-2);
    }
    // Products of neighbours along chains are learned through their edges, and the same seed gives the same bits.
    void chainsAreLearnedThroughTheirEdges() {
        double first = 0, last = 0;
        const auto once = trainedOnChains(3, first, last);
        QVERIFY2(last < 0.05 * first, qPrintable(QString("%1 of %2").arg(last).arg(first)));
        QVERIFY(trainedOnChains(3, first, last) == once);
        QVERIFY(trainedOnChains(4, first, last) != once);
    }
};

QTEST_GUILESS_MAIN(TestNetworks)
#include "tst_networks.moc"
