#include "learning/fit_section.h"
#include "support/learning_fixture.h"

#include <algorithm>
#include <numeric>

using namespace orrery;
using namespace orrery::learningtest;

namespace {

// Times that are a baseline × exp(smooth law of the features + noise).
SectionRows rowsOf(std::size_t count, std::uint64_t seed, double noise) {
    const TrainingData data = smoothRows(count, seed, noise);
    SectionRows rows;
    rows.names = data.names;
    rows.features = data.features;
    RandomStream random(seed, 9);
    for (std::size_t r = 0; r < count; ++r) {
        rows.baseline.push_back(std::exp(-12 + 6 * random.uniform()));
        rows.measured.push_back(rows.baseline.back() * std::exp(data.target[r]));
    }
    return rows;
}

SectionOptions quick(int steps = 60) {
    SectionOptions options;
    options.variant = "bf16";
    options.candidates.front().steps = steps;
    options.candidates.front().depth = 4;
    return options;
}

double coverage(const CalibrationSection& section, const SectionRows& rows) {
    std::size_t inside = 0;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const auto price = priceWith(section, rows.baseline[r],
                                     std::span(rows.features).subspan(r * rows.names.size(), rows.names.size()));
        inside += rows.measured[r] >= price.low && rows.measured[r] <= price.high;
    }
    return double(inside) / double(rows.rows());
}

}  // namespace

class TestLearningFit : public QObject {
    Q_OBJECT
private slots:
    // The pupil stands in the section, and says nearly what its teacher would.
    void pupilsLearnFromTheirTeacher() {
        SectionRows rows = rowsOf(600, 3, 0.02);
        const SectionRows unseen = rowsOf(1000, 4, 0.02);
        const auto alone = fitSection(rows, quick(150));
        rows.unmeasured = rowsOf(2000, 5, 0).features;
        SectionOptions options = quick(150);
        options.pupil = TrainingOptions{};
        options.pupil->kind = "compact-trees";
        options.pupil->loss = "squared";
        options.pupil->steps = 16;
        options.pupil->rate = 0.3;
        options.pupil->depth = 10;
        options.pupil->leaves = 128;
        const auto taught = fitSection(rows, options), again = fitSection(rows, options);
        QVERIFY(alone && taught && again);
        QCOMPARE(std::string(taught->section.model->kind()), std::string("compact-trees"));
        QCOMPARE(taught->section.model->toJson(), again->section.model->toJson());
        double error[2] = {};
        for (std::size_t r = 0; r < unseen.rows(); ++r) {
            const auto row = std::span(unseen.features).subspan(r * 4, 4);
            int i = 0;
            for (const auto* fit : {&*alone, &*taught}) {
                const auto price = priceWith(fit->section, unseen.baseline[r], row);
                error[i++] += std::abs(price.seconds / unseen.measured[r] - 1) / double(unseen.rows());
            }
        }
        QVERIFY2(error[1] < 1.25 * error[0], QByteArray::number(error[1] / error[0]));
        QVERIFY(taught->outOfFoldError < 1.4 * alone->outOfFoldError);
        rows.unmeasured.pop_back();
        const auto torn = fitSection(rows, options);
        QVERIFY(!torn);
        QCOMPARE(torn.error().code, std::string("learning.shape"));
    }

    // What is promised of unseen rows, the folds' error and the intervals, must hold on rows that really were not
    // there.
    void residualsAreHonest() {
        const SectionRows rows = rowsOf(1200, 1, 0.15), unseen = rowsOf(2000, 2, 0.15);
        const auto fit = fitSection(rows, quick());
        QVERIFY2(fit, fit ? "" : toText(fit.error()).c_str());
        const CalibrationSection& section = fit->section;
        double error = 0;
        for (std::size_t r = 0; r < unseen.rows(); ++r) {
            const auto price = priceWith(section, unseen.baseline[r], std::span(unseen.features).subspan(r * 4, 4));
            error += std::abs(price.seconds / unseen.measured[r] - 1) / double(unseen.rows());
        }
        QVERIFY2(std::abs(fit->outOfFoldError / error - 1) < 0.12,
                 qPrintable(QString("%1 %2").arg(fit->outOfFoldError).arg(error)));
        QVERIFY(fit->trainingError < fit->outOfFoldError);
        const double covered = coverage(section, unseen);
        QVERIFY2(covered > 0.87 && covered < 0.93, qPrintable(QString::number(covered)));
        QCOMPARE(section.residuals.size(), std::size_t(4));
        QVERIFY(std::isinf(section.residuals.back().upperSeconds));
        QVERIFY(section.correlation >= 0 && section.correlation < 0.1);  // noise is drawn by itself
    }

    // The law of one half of the durations is noisier: the interval must know.
    void intervalsDependOnDuration() {
        SectionRows rows = rowsOf(2000, 3, 0.02);
        RandomStream random(4);
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            if (rows.measured[r] < 1e-4) rows.measured[r] *= std::exp(0.4 * random.normal());
        }
        const auto fit = fitSection(rows, quick());
        QVERIFY(fit);
        const auto& classes = fit->section.residuals;
        QVERIFY(classes.front().p95 - classes.front().p5 > 2 * (classes.back().p95 - classes.back().p5));
    }

    // A device that was left out is missed as a whole: folds over devices say so, folds over rows do not.
    void groupsAreLeftOutWhole() {
        SectionRows rows = rowsOf(900, 5, 0.02);
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            const int device = int(r % 3);
            rows.features[r * 4 + 3] = device;
            rows.measured[r] *= std::exp(0.5 * device);
        }
        const auto byRow = fitSection(rows, quick());
        for (std::size_t r = 0; r < rows.rows(); ++r) rows.group.push_back(std::int32_t(r % 3));
        const auto byDevice = fitSection(rows, quick());
        QVERIFY(byRow && byDevice);
        QVERIFY(byDevice->outOfFoldError > 2 * byRow->outOfFoldError);
    }

    void correlationOfCompanions() {
        SectionRows rows = rowsOf(1000, 6, 0.05);
        RandomStream random(7);
        for (std::size_t r = 0; r < rows.rows(); r += 5) {
            const double together = std::exp(0.3 * random.normal());
            for (std::size_t i = r; i < r + 5; ++i) {
                rows.measured[i] *= together;
                rows.companions.push_back(std::int32_t(r / 5));
            }
        }
        const auto fit = fitSection(rows, quick());
        QVERIFY(fit);
        QVERIFY2(fit->section.correlation > 0.5, qPrintable(QString::number(fit->section.correlation)));
    }

    // Physics are fitted again in every fold, to its training rows alone.
    void parametersOfAFoldDoNotSeeItsTestRows() {
        const SectionRows rows = rowsOf(200, 8, 0.1);
        std::vector<std::size_t> sizes;
        std::vector<std::size_t> met(200, 0);
        const auto fit = fitSection(
            200,
            [&](std::span<const std::size_t> fitTo, auto& parameters) -> Expected<SectionRows> {
                sizes.push_back(fitTo.size());
                for (const auto r : fitTo) ++met[r];
                parameters["scale"] = double(fitTo.size());
                return rows;
            },
            quick(5));
        QVERIFY(fit);
        std::sort(sizes.begin(), sizes.end());
        QCOMPARE(sizes, (std::vector<std::size_t>{160, 160, 160, 160, 160, 200}));
        QCOMPARE(std::count(met.begin(), met.end(), 5), std::ptrdiff_t(200));  // once in all, four times in folds
        QCOMPARE(fit->section.parameters.at("scale"), 200.0);
    }

    void theBetterCandidateIsTaken() {
        SectionOptions options = quick(1);
        options.candidates.push_back(quick(80).candidates.front());
        const auto fit = fitSection(rowsOf(400, 9, 0.05), options);
        QVERIFY(fit);
        QCOMPARE(fit->candidate, 1);
    }

    void withoutLearningTheBaselineIsJudged() {
        SectionOptions options = quick();
        options.learn = false;
        const auto fit = fitSection(rowsOf(300, 10, 0.1), options);
        QVERIFY(fit);
        QVERIFY(!fit->section.model);
        QVERIFY(fit->outOfFoldError > 0.3);
        QCOMPARE(priceWith(fit->section, 2e-3, std::vector{0.0, 0.0, 1.0, 7.0}).seconds, 2e-3);
    }

    void wideOutsideTheDomain() {
        const auto fit = fitSection(rowsOf(1000, 11, 0.02), quick(150));  // near enough not to be flagged at home
        QVERIFY(fit);
        const auto in = priceWith(fit->section, 1e-3, std::vector{0.0, 0.0, 1.0, 7.0});
        const auto out = priceWith(fit->section, 1e-3, std::vector{9.0, 0.0, 1.0, 7.0});
        QCOMPARE(in.domain, DomainVerdict::Inside);
        QCOMPARE(out.domain, DomainVerdict::Outside);
        QVERIFY(std::log(out.high / out.low) > 2 * std::log(in.high / in.low));
        QVERIFY(in.low <= in.seconds && in.seconds <= in.high && in.low < in.high);
    }

    void sameBytesWhateverTheThreads() {
        const auto once = fitSection(rowsOf(300, 12, 0.1), quick()), again = fitSection(rowsOf(300, 12, 0.1), quick());
        QVERIFY(once && again);
        Calibration a{"m", "1"}, b{"m", "1"};
        a.sections.push_back(once->section);
        b.sections.push_back(again->section);
        QCOMPARE(QString::fromStdString(writeCalibration(a)), QString::fromStdString(writeCalibration(b)));
    }

    void badRowsAreSaid() {
        QCOMPARE(fitSection(SectionRows{}, quick()).error().code, std::string("learning.no-rows"));
        SectionRows rows = rowsOf(20, 1, 0);
        rows.measured[3] = -1;
        QCOMPARE(fitSection(rows, quick()).error().code, std::string("learning.seconds"));
        rows = rowsOf(20, 1, 0);
        rows.baseline.pop_back();
        QCOMPARE(fitSection(rows, quick()).error().code, std::string("learning.shape"));
        rows = rowsOf(3, 1, 0.1);  // hardly any: still an answer
        QVERIFY(fitSection(rows, quick()));
    }
};

QTEST_GUILESS_MAIN(TestLearningFit)
#include "tst_learning_fit.moc"
