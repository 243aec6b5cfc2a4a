#include "base/random.h"
#include "learning/matern_process.h"

#include <QtTest/QtTest>

#include <chrono>
#include <cmath>
#include <cstring>

using namespace orrery;

namespace {

// Two numbers, a word of three and one number that does nothing.
double truth(const double* x) {
    return std::sin(4 * x[0]) + x[1] * x[1] + (x[2] == 1 ? 0.7 : x[2] == 2 ? -0.4 * x[0] : 0);
}

ProcessRows drawn(std::size_t rows, std::uint64_t seed, double noise = 0) {
    ProcessRows out{{false, false, true, false}, {}, {}};
    RandomStream random(seed);
    for (std::size_t r = 0; r < rows; ++r) {
        const double x[] = {random.uniform(), random.uniform(), double(random.below(3)), random.uniform()};
        out.inputs.insert(out.inputs.end(), std::begin(x), std::end(x));
        out.target.push_back(truth(x) + noise * random.normal());
    }
    return out;
}

MaternProcess fitted(const ProcessRows& rows, ProcessOptions options = {}) {
    auto process = MaternProcess::fit(rows, options);
    if (!process) qFatal("%s", toText(process.error()).c_str());
    return std::move(*process);
}

double matern(double r) {
    const double x = std::sqrt(5.0) * r;
    return (1 + x + x * x / 3) * std::exp(-x);
}

}  // namespace

class TestMaternProcess : public QObject {
    Q_OBJECT
private slots:
    // Rasmussen and Williams' equations 2.25, 2.26 and, for the constant, 2.41 and 2.42, by hand for two rows.
    void twoRowsInClosedForm() {
        const ProcessRows rows{{false}, {0.2, 0.6}, {3, 5}};
        const ProcessShape shape{{0.5}, 1.3, 0.1};
        const auto process = MaternProcess::conditioned(rows, shape);
        QVERIFY(process);
        const double a2 = 1.3 * 1.3, a = a2 + 0.01, b = a2 * matern(0.8), det = a * a - b * b;
        for (const double x : {-0.3, 0.2, 0.45, 2.0}) {
            const double k1 = a2 * matern(std::abs(x - 0.2) / 0.5), k2 = a2 * matern(std::abs(x - 0.6) / 0.5);
            // Standardised targets are -1 and 1, so the constant is 0 by symmetry.
            const double mean = 4 + (k1 * (-a - b) + k2 * (a + b)) / det;
            const double toLevel = 1 - (k1 + k2) * (a - b) / det;
            const double variance =
                a2 - (k1 * k1 * a - 2 * k1 * k2 * b + k2 * k2 * a) / det + toLevel * toLevel * det / (2 * (a - b));
            const Normal found = process->at(std::span(&x, 1));
            QVERIFY(std::abs(found.mean - mean) < 1e-9);
            QVERIFY(std::abs(found.deviation - std::sqrt(variance)) < 1e-9);
            QCOMPARE(process->predict(std::span(&x, 1)), found.mean);
        }
    }
    void wordsAreNeitherNearNorFar() {
        const ProcessRows rows{{true}, {0, 1}, {-1, 1}};
        const auto process = MaternProcess::conditioned(rows, {{1}, 1, 0.01});
        QVERIFY(process);
        const double two = 2, ninety = 90;
        QVERIFY(std::abs(process->at(std::span(&two, 1)).mean) < 1e-9);
        QCOMPARE(process->at(std::span(&two, 1)).mean, process->at(std::span(&ninety, 1)).mean);
    }
    void findsAKnownFunctionAndWhatDoesNotMatter() {
        const MaternProcess process = fitted(drawn(120, 1));
        const ProcessRows unseen = drawn(400, 2);
        double squared = 0;
        for (std::size_t r = 0; r < unseen.rows(); ++r) {
            const double off = process.predict(std::span(unseen.inputs).subspan(4 * r, 4)) - unseen.target[r];
            squared += off * off;
        }
        const double missed = std::sqrt(squared / 400);
        QVERIFY2(missed < 0.05, qPrintable(QString::number(missed)));
        QVERIFY(process.shape().lengths[3] > 4 * process.shape().lengths[0]);
    }
    // 90 % intervals of draws with noise hold nine in ten rows that were not seen, over several draws.
    void intervalsHoldWhatTheySay() {
        for (const double noise : {0.02, 0.05, 0.2}) {
            int inside = 0;
            double told = 0;
            constexpr int draws = 5;
            for (std::uint64_t draw = 0; draw < draws; ++draw) {
                const MaternProcess process = fitted(drawn(150, 10 + draw, noise));
                const ProcessRows unseen = drawn(1000, 20 + draw, noise);
                const auto found = process.atAll(unseen.inputs);
                for (std::size_t r = 0; r < unseen.rows(); ++r) {
                    const double half = 1.645 * std::hypot(found[r].deviation, process.noise());
                    inside += std::abs(unseen.target[r] - found[r].mean) <= half ? 1 : 0;
                }
                told += process.noise() / draws;
            }
            qInfo("%d of %d at noise %g, told as %g", inside, 1000 * draws, noise, told);
            QVERIFY2(inside >= 850 * draws && inside <= 950 * draws,
                     qPrintable(QString("%1 at %2").arg(inside).arg(noise)));
            QVERIFY(std::abs(std::log(told / noise)) < 0.7);
        }
    }
    void sureAtItsRowsAndUnsureFarFromThem() {
        const ProcessRows rows = drawn(60, 5);
        const MaternProcess process = fitted(rows);
        const std::vector<double> far{30, -20, 1, 0};
        const double away = process.at(far).deviation;
        for (std::size_t r = 0; r < rows.rows(); ++r)
            QVERIFY(process.at(std::span(rows.inputs).subspan(4 * r, 4)).deviation < 0.05 * away);
    }
    // What its mean was taken for is the same as having been told it.
    void believesItsMean() {
        const ProcessRows rows = drawn(15, 9);  // too few to be stretched
        const MaternProcess process = fitted(rows);
        const std::vector<double> x{0.3, 0.9, 1, 0.5}, near{0.35, 0.85, 1, 0.4}, other{0.9, 0.2, 0, 0.1};
        const MaternProcess believer = process.believing(x);
        ProcessRows more = rows;
        more.inputs.insert(more.inputs.end(), x.begin(), x.end());
        more.target.push_back(process.predict(x));
        const auto told = MaternProcess::conditioned(more, process.shape());
        QVERIFY(told);
        for (const auto& at : {x, near, other}) {
            QVERIFY(std::abs(believer.at(at).mean - process.at(at).mean) < 1e-9);
            // The spread of the targets, by which deviations are scaled, is that of one row more.
            const double scale = process.noise() / told->noise();
            QVERIFY(std::abs(believer.at(at).deviation / (told->at(at).deviation * scale) - 1) < 1e-6);
        }
        QVERIFY(believer.at(near).deviation < process.at(near).deviation);
    }
    void dataWithoutStructureHasAnAnswer() {
        const MaternProcess one = fitted({{false, true}, {0.5, 1}, {7}});
        QCOMPARE(one.predict(std::vector<double>{0.5, 1}), 7.0);
        QCOMPARE(one.predict(std::vector<double>{0.1, 0}), 7.0);

        ProcessRows equal{{false}, {}, {}};
        for (int i = 0; i < 20; ++i) equal.inputs.push_back(0.3), equal.target.push_back(i % 2 == 0 ? 1 : 2);
        const MaternProcess same = fitted(equal);
        QVERIFY(std::abs(same.predict(std::vector<double>{0.3}) - 1.5) < 0.05);
        QVERIFY(same.noise() > 0.1);

        ProcessRows constant = drawn(30, 6);
        constant.target.assign(30, -4);
        const MaternProcess level = fitted(constant);
        QVERIFY(std::abs(level.predict(std::vector<double>{0.9, 0.1, 2, 0.4}) + 4) < 1e-9);
        QVERIFY(level.at(std::vector<double>{0.9, 0.1, 2, 0.4}).deviation < 0.1);
    }
    void refusesWhatIsNoRow() {
        QCOMPARE(MaternProcess::fit({{false}, {}, {}}, {}).error().code, std::string("learning.no-rows"));
        QCOMPARE(MaternProcess::fit({{false}, {1, 2}, {1}}, {}).error().code, std::string("learning.shape"));
        QCOMPARE(MaternProcess::fit({{false}, {NAN}, {1}}, {}).error().code, std::string("learning.not-finite"));
        QCOMPARE(MaternProcess::conditioned({{false}, {1}, {1}}, {{1, 1}, 1, 1}).error().code,
                 std::string("learning.shape"));
        for (const char* text :
             {R"({"words":[0],"lengths":[0],"amplitude":1,"noise":1,"inputs":[1],"target":[1]})",
              R"({"words":[0],"lengths":[1],"amplitude":1,"noise":0,"inputs":[1],"target":[1]})",
              R"({"words":[0],"lengths":[1,1],"amplitude":1,"noise":1,"inputs":[1],"target":[1]})",
              R"({"words":[0],"lengths":[1],"amplitude":1,"noise":1,"inputs":[1,2],"target":[1]})", "{}", "[1"}) {
            QVERIFY2(!parseRegressor("matern-process", text), text);
        }
    }
    void theSameBitsAgainAndFromItsText() {
        const ProcessRows rows = drawn(80, 7, 0.1);
        const MaternProcess first = fitted(rows), second = fitted(rows);
        QCOMPARE(first.toJson(), second.toJson());
        const auto read = parseRegressor("matern-process", first.toJson());
        QVERIFY(read);
        const std::vector<double> x{0.4, 0.6, 1, 0.2};
        QCOMPARE((*read)->predict(x), first.predict(x));
        QCOMPARE((*read)->toJson(), first.toJson());
        ProcessOptions other;
        other.seed = 2;
        QVERIFY(MaternProcess::fit(drawn(400, 7, 0.1), other)->toJson() !=
                MaternProcess::fit(drawn(400, 7, 0.1), {})->toJson());
    }
    void aThousandRowsInSeconds() {
        ProcessRows rows{std::vector<bool>(34, false), {}, {}};
        RandomStream random(8);
        for (int r = 0; r < 1000; ++r) {
            double sum = 0;
            for (int c = 0; c < 34; ++c) {
                rows.inputs.push_back(random.uniform());
                sum += std::sin(3 * rows.inputs.back()) / (1 + c);
            }
            rows.target.push_back(sum);
        }
        const auto start = std::chrono::steady_clock::now();
        const MaternProcess process = fitted(rows);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        qInfo("%.2f s", seconds);
#ifdef NDEBUG
        QVERIFY2(seconds < 15, qPrintable(QString::number(seconds)));  // 3 on a quiet machine
#endif
        QVERIFY(process.rows().rows() == 1000);
    }
};

QTEST_GUILESS_MAIN(TestMaternProcess)
#include "tst_matern_process.moc"
