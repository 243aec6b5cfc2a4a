// Intervals for devices that were never measured, and whether a device is among those learned from.

#include "base/random.h"
#include "learning/calibration.h"
#include "learning/fit_section.h"
#include "learning/spread.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

// Groups with an offset of their own; rows whose noise grows with their only feature.
struct Rows {
    TrainingData data;
    std::vector<double> residual;
    std::vector<std::int32_t> group;
};
Rows rowsOf(int groups, int each, double between, std::uint64_t seed) {
    RandomStream random(seed);
    Rows rows;
    rows.data.names = {"x"};
    for (int g = 0; g < groups; ++g) {
        const double offset = between * random.normal();
        for (int i = 0; i < each; ++i) {
            const double x = random.uniform();
            rows.data.features.push_back(x);
            rows.data.target.push_back(0);
            rows.residual.push_back((0.05 + 0.5 * x) * (random.normal() + offset));
            rows.group.push_back(g);
        }
    }
    return rows;
}
DeviceFingerprint device(double sms, double clock, double bandwidth) {
    return {"x", sms, clock, bandwidth, 40e6, 0, sms * clock};
}

}  // namespace

class TestLearningSpread : public QObject {
    Q_OBJECT
private slots:
    void nineOfTenRowsOfANewGroupAreWithin() {
        double covered = 0, narrow = 0, wide = 0;
        constexpr int trials = 12;
        for (int t = 0; t < trials; ++t) {
            const Rows rows = rowsOf(6, 400, 0.3, 100 + std::uint64_t(t));
            // The last group is the new one.
            const std::size_t seen = 5 * 400;
            TrainingData data = rows.data;
            data.features.resize(seen), data.target.resize(seen);
            const auto spread =
                fitSpread(data, std::span(rows.residual).first(seen), {}, std::span(rows.group).first(seen), {});
            QVERIFY(spread && spread->model);
            QVERIFY(spread->stretch >= 1 && spread->p5 < spread->p50 && spread->p50 < spread->p95);
            for (std::size_t r = seen; r < rows.residual.size(); ++r) {
                const std::span row(rows.data.features.data() + r, 1);
                const double u = rows.residual[r] / spreadScale(*spread->model, row, 0);
                covered += (u >= spread->p5 && u <= spread->p95) / (400.0 * trials);
            }
            narrow += spreadScale(*spread->model, std::vector{0.05}, 0);
            wide += spreadScale(*spread->model, std::vector{0.95}, 0);
        }
        QVERIFY2(covered > 0.85 && covered < 0.96, qPrintable(QString::number(covered)));
        QVERIFY2(wide > 3 * narrow, "rows that are missed by more have wider intervals");
    }
    // Groups that differ in how much their rows scatter too: pooled quantiles would be those of the groups at hand.
    void groupsOfTheirOwnWidthLeaveRoomForTheNext() {
        constexpr int trials = 40, groups = 4, each = 150;
        double covered = 0, pooled = 0;
        for (int t = 0; t < trials; ++t) {
            RandomStream random(700 + std::uint64_t(t));
            Rows rows;
            rows.data.names = {"x"};
            for (int g = 0; g <= groups; ++g) {
                const double shift = 0.12 * random.normal(), width = 0.15 * std::exp(0.4 * random.normal());
                for (int i = 0; i < each; ++i) {
                    rows.data.features.push_back(random.uniform());
                    rows.data.target.push_back(0);
                    rows.residual.push_back(shift + width * random.normal());
                    rows.group.push_back(g);
                }
            }
            const std::size_t seen = groups * each;
            TrainingData data = rows.data;
            data.features.resize(seen), data.target.resize(seen);
            const auto spread =
                fitSpread(data, std::span(rows.residual).first(seen), {}, std::span(rows.group).first(seen), {});
            QVERIFY(spread && spread->model && spread->stretch >= 1);
            for (std::size_t r = seen; r < rows.residual.size(); ++r) {
                const double scale = spreadScale(*spread->model, std::span(rows.data.features.data() + r, 1), 0);
                const double u = rows.residual[r] / scale, middle = spread->p50;
                covered += (u >= spread->p5 && u <= spread->p95) / double(each * trials);
                pooled += (u >= middle + (spread->p5 - middle) / spread->stretch &&
                           u <= middle + (spread->p95 - middle) / spread->stretch) /
                          double(each * trials);
            }
        }
        const QByteArray said = QByteArray::number(covered) + ", pooled " + QByteArray::number(pooled);
        QVERIFY2(pooled < 0.89, said);
        QVERIFY2(covered > 0.9 && covered < 0.97, said);
    }
    void doubtWidensAndNothingElse() {
        const Rows rows = rowsOf(3, 200, 0, 7);
        const auto spread = fitSpread(rows.data, rows.residual, {}, rows.group, {});
        QVERIFY(spread && spread->model);
        const std::vector row{0.5};
        const double plain = spreadScale(*spread->model, row, 0);
        QVERIFY(std::abs(spreadScale(*spread->model, row, 0.6) - std::hypot(plain, 0.6 / std::sqrt(12))) < 1e-12);
        // Two groups tell nothing about a third.
        const Rows two = rowsOf(2, 200, 0, 8);
        const auto none = fitSpread(two.data, two.residual, {}, two.group, {});
        QVERIFY(none && !none->model);
    }
    void sectionsAcrossDevicesKeepTheirScales() {
        const Rows rows = rowsOf(4, 300, 0.1, 9);
        SectionRows section;
        section.names = rows.data.names;
        section.features = rows.data.features;
        section.group = rows.group;
        for (const double r : rows.residual)
            section.baseline.push_back(1e-3), section.measured.push_back(1e-3 * std::exp(r));
        SectionOptions options;
        options.learn = false;
        options.spread = true;
        const auto fit = fitSection(section, options);
        QVERIFY2(fit, fit ? "" : toText(fit.error()).c_str());
        QVERIFY(fit->section.spread);
        QVERIFY(fit->section.widenEdge >= 1 && fit->section.widenOutside >= fit->section.widenEdge);
        Calibration calibration;
        calibration.method = "m", calibration.methodVersion = "1";
        calibration.sections.push_back(fit->section);
        calibration.sections.front().devices = {device(10, 1e9, 1e11), device(80, 1.5e9, 1e12)};
        const auto read = parseCalibration(writeCalibration(calibration), "written");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        for (const double x : {0.1, 0.9}) {
            const auto there = priceWith(fit->section, 1e-3, std::vector{x});
            const auto here = priceWith(read->sections.front(), 1e-3, std::vector{x});
            QVERIFY(std::abs(here.low / there.low - 1) < 1e-4 && std::abs(here.high / there.high - 1) < 1e-4);
        }
        QCOMPARE(read->sections.front().devices.size(), std::size_t(2));
    }
    void badScalesAreNamed() {
        const QByteArray before = R"({"format": "orrery-calibration", "version": 1, "method": "m", "sections": [{
            "kind": "gemm", "variant": "fp32", "features": ["x"], )";
        const auto code = [&](const char* what) {
            const auto read = parseCalibration((before + what + "}]}").toStdString(), "bad.json");
            return read ? std::string("read") : read.error().code;
        };
        QCOMPARE(code(R"("widen": [1, 1.5])"), std::string("read"));
        QCOMPARE(code(R"("widen": [2, 1.5])"), std::string("calibration.range"));
        QCOMPARE(code(R"("widen": [0.5, 1])"), std::string("calibration.range"));
        QCOMPARE(code(R"("widen": [1])"), std::string("calibration.range"));
        QCOMPARE(code(R"("devices": [{"id": "a"}])"), std::string("calibration.missing"));
        QCOMPARE(code(R"("spread": {"kind": "linear", "value": {"bias": 0, "weights": [1, 2]}})").substr(0, 12),
                 std::string("calibration."));
    }
};

QTEST_GUILESS_MAIN(TestLearningSpread)
#include "tst_learning_spread.moc"
