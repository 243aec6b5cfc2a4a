#include "hardware/views/power_limit.h"
#include "learning/calibration.h"
#include "learning/fit_section.h"
#include "learning/trees.h"
#include "support/learning_fixture.h"

#include <QDir>
#include <QFile>

using namespace orrery;
using namespace orrery::learningtest;

namespace {

GpuView deviceWith(double sms, double bandwidth) {
    GpuView gpu;
    gpu.sms = sms;
    gpu.clock = 1.5e9;
    gpu.dramBandwidth = bandwidth;
    gpu.l2Bytes = 50e6;
    for (auto& unit : gpu.device.peaks) unit.fill(FlopsPerSecond(sms * 1e12));
    return gpu;
}

std::shared_ptr<const Calibration> calibrationOf(std::vector<std::pair<std::optional<GpuView>, double>> sections) {
    auto calibration = std::make_shared<Calibration>();
    calibration->method = "m";
    for (const auto& [gpu, value] : sections) {
        CalibrationSection& section = calibration->sections.emplace_back();
        section.variant = "bf16";
        if (gpu) section.device = fingerprint(*gpu, DType::BF16);
        section.parameters["value"] = value;
    }
    return calibration;
}

const std::string golden = ORRERY_TEST_DATA "/calibration/version-1.json";

}  // namespace

class TestCalibration : public QObject {
    Q_OBJECT
private slots:
    // A file as this version writes it. Any later version must read it and predict the same.
    void filesOfVersionOneAreRead() {
        const auto calibration = readCalibration(golden);
        QVERIFY2(calibration, calibration ? "" : toText(calibration.error()).c_str());
        QCOMPARE(calibration->method, std::string("booster"));
        QCOMPARE(calibration->date, std::string("2026-11-21"));
        QCOMPARE(calibration->sections.size(), std::size_t(3));
        const CalibrationSection& first = calibration->sections[0];
        QCOMPARE(first.kind, KernelKind::Gemm);
        QCOMPARE(first.variant, std::string("bf16"));
        QVERIFY(first.device && first.device->sms == 132 && first.device->id == "h100-sxm");
        QCOMPARE(first.parameters.at("launch"), 2.5e-6);
        QCOMPARE(first.residuals.size(), std::size_t(2));
        QVERIFY(std::isinf(first.residuals[1].upperSeconds));
        QCOMPARE(first.correlation, 0.25);
        QCOMPARE(first.sources.at(0).licence, std::string("CC0-1.0"));
        QCOMPARE(first.model->predict(std::vector{1.0, 0.0}), 2.375);  // 0.125 + 0.25 + 2
        QCOMPARE(first.model->predict(std::vector{2.0, 11.0}), 3.125);
        QCOMPARE(first.domain->check(std::vector{4.0, 6.0}), DomainVerdict::Inside);
        QCOMPARE(first.domain->check(std::vector{8.4, 6.0}), DomainVerdict::Edge);      // |z| = 2.2
        QCOMPARE(first.domain->check(std::vector{4.0, 12.6}), DomainVerdict::Outside);  // past the range
        const auto price = priceWith(first, 1e-5, std::vector{1.0, 6.0});
        QVERIFY(std::abs(price.seconds / (1e-5 * std::exp(2.375)) - 1) < 1e-12);
        QVERIFY(std::abs(price.low / price.seconds - std::exp(-0.05)) < 1e-12);  // 0.107 ms: the second class
        QVERIFY(!calibration->sections[1].device);
        QCOMPARE(calibration->sections[1].model->predict(std::vector{7.0, 99.0}), 13.0);
        QCOMPARE(calibration->sections[2].model->predict(std::vector{12.0, 21.0}), 0.0);
    }

    // In version 1 both stood beside a static share of their own; the clock under a cap stays what it was.
    void energiesOfVersionOneStandBesideTheOneStaticShare() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray text = file.readAll();
        QVERIFY(text.contains("\"launch\": "));
        text.replace("\"launch\": ", "\"switched energy\": 8e-13, \"arithmetic energy\": 9.3e-12, \"launch\": ");
        const auto first = parseCalibration(text.toStdString(), "one.json");
        QVERIFY2(first, first ? "" : toText(first.error()).c_str());
        const auto& then = first->sections[0].parameters;
        const double watts = 500e12 * 8e-13, cap = 400;
        QVERIFY(std::abs(clockUnderPower(cap, staticWatts(cap, 0), 500e12 * then.at("switched energy")) -
                         clockUnderPower(cap, 0.15 * cap, watts)) < 1e-12);
        QVERIFY(clockUnderPower(cap, 0.15 * cap, watts) < 0.99);
        QVERIFY(std::abs(clockUnderPower(cap, staticWatts(cap, 0), 4e13 * then.at("arithmetic energy")) -
                         clockUnderPower(cap, 0.2 * cap, 4e13 * 9.3e-12)) < 1e-12);
        text.replace("\"version\": 1,", "\"version\": 2,");
        const auto second = parseCalibration(text.toStdString(), "two.json");
        QVERIFY2(second, second ? "" : toText(second.error()).c_str());
        QCOMPARE(second->sections[0].parameters.at("switched energy"), 8e-13);
    }

    // Written before latencies of collectives were stated at one clock: on their device they stay what they were.
    void latenciesOfOlderCollectivesAreStatedAtOneClock() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray text = file.readAll();
        text.replace("\"launch\": ", "\"ll128 step\": 1e-6, \"ll128 share\": 0.3, \"launch\": ");
        const auto read = parseCalibration(text.toStdString(), "one.json");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        const CalibrationSection& first = read->sections[0];
        QVERIFY(first.device && first.device->clock > 0);
        QVERIFY(std::abs(first.parameters.at("ll128 step") / (1e-6 * first.device->clock / 1.8e9) - 1) < 1e-12);
        QCOMPARE(first.parameters.at("ll128 share"), 0.3);
        for (const char* name : {"late links", "bus step", "simple from"}) QCOMPARE(first.parameters.at(name), 1.0);
    }

    // Before kernels for narrow caches were told from those that widen them: on their device prices stay what they
    // were.
    void narrowCachesOfOlderSectionsKeepTheirPrices() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray text = file.readAll();
        text.replace(R"("kind": "gemm", "variant": "bf16")", R"("kind": "decode-attention", "variant": "bf16 fp8 kv")");
        text.replace("\"launch\": ",
                     "\"grouped block\": 1e-6, \"grouped rate\": 1e10, \"detached gain\": 2, \"launch\": ");
        const auto fetching = parseCalibration(text.toStdString(), "one.json");
        QVERIFY2(fetching, fetching ? "" : toText(fetching.error()).c_str());
        QCOMPARE(fetching->sections[0].parameters.at("fetching gain"), 1.0);
        QCOMPARE(fetching->sections[0].parameters.at("grouped rate"), 1e10);
        QByteArray slow = text;
        slow.replace("\"matrix_peak\": 9.895e+14", "\"matrix_peak\": 2.4e+14");
        const auto widening = parseCalibration(slow.toStdString(), "two.json");
        QVERIFY2(widening, widening ? "" : toText(widening.error()).c_str());
        QVERIFY(!widening->sections[0].parameters.contains("fetching gain"));
        QCOMPARE(widening->sections[0].parameters.at("grouped rate"), 2e10);
        slow.replace("\"method_version\": \"1\"", "\"method_version\": \"2\"");
        QCOMPARE(parseCalibration(slow.toStdString(), "three.json")->sections[0].parameters.at("grouped rate"), 1e10);
    }

    // Before power caps, caches of one piece and clocks of launches were told apart, sections of attention and experts
    // had them in their numbers: on their device prices stay what they were.
    void capsAndCachesOfOlderSectionsStayAsFitted() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        const auto read = [&](const char* kind, const char* parameters) {
            QByteArray changed = text;
            const QByteArray instead = QByteArray("\"kind\": \"") + kind + "\", \"variant\": \"bf16\"";
            changed.replace("\"kind\": \"gemm\", \"variant\": \"bf16\"", instead);
            changed.replace("\"launch\": ", QByteArray(parameters) + "\"launch\": ");
            return parseCalibration(changed.toStdString(), "one.json");
        };
        const double launch =
            parseCalibration(text.toStdString(), "as-it-is.json")->sections[0].parameters.at("launch");
        const auto prefill = read("prefill-attention", "\"per tile\": 1e-7, \"per block\": 2e-6, ");
        QVERIFY2(prefill, prefill ? "" : toText(prefill.error()).c_str());
        const CalibrationSection& section = prefill->sections[0];
        const double speed = section.device->clock / 1.8e9;
        const auto& values = section.parameters;
        const auto near = [](double a, double b) { return std::abs(a / b - 1) < 1e-12; };
        QVERIFY(speed != 1 && near(values.at("launch"), launch * speed));
        QVERIFY(near(values.at("per tile"), 1e-7 * speed) && near(values.at("per block"), 2e-6 * speed));
        for (const char* name : {"whole cache", "fetching launch", "open block"}) QCOMPARE(values.at(name), 1.0);
        QVERIFY(values.at("switched energy") < 1e-14 && values.at("fragment share") < 1e-5);
        const auto decode = read("decode-attention", "\"grouped block\": 1e-6, \"detached gain\": 2, ");
        QCOMPARE(decode->sections[0].parameters.at("whole cache"), 1.0);
        QCOMPARE(decode->sections[0].parameters.at("launch"), launch);
        const auto experts = read("experts", "\"expert block\": 1e-6, \"between products\": 3e-6, ");
        QVERIFY(near(experts->sections[0].parameters.at("between products"), 3e-6 * speed));
        // What was fitted since says all of it itself.
        const auto now = read("experts", "\"expert block\": 1e-6, \"whole cache\": 2, \"between products\": 3e-6, ");
        QCOMPARE(now->sections[0].parameters.at("between products"), 3e-6);
        QCOMPARE(now->sections[0].parameters.at("launch"), launch);
    }

    // Before kernels of narrow formats were told apart, and a cache of one piece was stated by its own capacity.
    void kernelsOfOlderProductsStayAsFitted() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        const auto with = [&](const char* parameters) {
            QByteArray changed = text;
            changed.replace("\"launch\": ", QByteArray(parameters) + "\"launch\": ");
            const auto made = parseCalibration(changed.toStdString(), "one.json");
            if (!made) qFatal("%s", toText(made.error()).c_str());
            return made->sections[0].parameters;
        };
        const auto first = with("\"step latency\": 200, \"cache reach\": 1.07, \"switched energy\": 1e-12, ");
        QCOMPARE(first.at("scaled sum"), 0.001);
        QCOMPARE(first.at("whole cache"), 1.07);
        QCOMPARE(with("\"step latency\": 200, \"cache reach\": 0.8, \"whole cache\": 1.5, ").at("whole cache"),
                 0.8 * 1.5);
        QVERIFY(!with("\"step latency\": 200, \"cache reach\": 0.8, ").contains("whole cache"));
        const auto now =
            with("\"step latency\": 200, \"scaled sum\": 100, \"cache reach\": 0.8, \"whole cache\": 1.05, ");
        QCOMPARE(now.at("scaled sum"), 100.0);
        QCOMPARE(now.at("whole cache"), 1.05);
    }

    void whatIsWrittenReadsBack() {
        const TrainingData data = smoothRows(300, 1, 0.1);
        SectionRows rows{data.names, data.features, std::vector<double>(300, 1e-4), {}};
        for (const double target : data.target) rows.measured.push_back(1e-4 * std::exp(target));
        SectionOptions options;
        options.variant = "fp8 block 128";
        options.device = fingerprint(deviceWith(100, 2e12), DType::FP8);
        options.device->id = "a \"quoted\" name\n";
        options.sources = {{"rows", "software 1.0", "MIT", "ff", 300}};
        options.split = "none";
        Calibration calibration{"m", "1", "2026-11-21", "λ"};
        for (const char* kind : {"trees", "forest", "network", "linear"}) {
            options.candidates.front().kind = kind;
            options.candidates.front().steps = 5;
            auto fit = fitSection(rows, options);
            QVERIFY2(fit, fit ? "" : toText(fit.error()).c_str());
            calibration.sections.push_back(std::move(fit->section));
        }
        const std::string text = writeCalibration(calibration);
        const auto again = parseCalibration(text, "written.json");
        QVERIFY2(again, again ? "" : toText(again.error()).c_str());
        QCOMPARE(QString::fromStdString(writeCalibration(*again)), QString::fromStdString(text));
        QCOMPARE(again->note, calibration.note);
        QCOMPARE(again->sections[0].device->id, calibration.sections[0].device->id);
        for (std::size_t s = 0; s < 4; ++s) {
            const CalibrationSection &a = calibration.sections[s], &b = again->sections[s];
            for (std::size_t r = 0; r < data.rows(); ++r) {
                const auto here = priceWith(a, 1e-4, rowOf(data, r)), there = priceWith(b, 1e-4, rowOf(data, r));
                QCOMPARE(there.seconds, here.seconds);
                QCOMPARE(int(there.domain), int(here.domain));
            }
        }
    }

    void badFilesAreRefused_data() {
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const auto row = [](const char* name, const char* code, int line) { QTest::newRow(name) << code << line; };
        row("not-json", "not-json", 1);
        row("empty", "not-json", 1);
        row("binary", "not-json", 1);
        row("list", "type", 1);
        row("another-format", "other-format", 1);
        row("no-format", "other-format", 1);
        row("newer-version", "newer-version", 1);
        row("version-zero", "range", 1);
        row("no-method", "missing", 2);
        row("no-sections", "missing", 2);
        row("nan", "not-finite", 14);
        row("infinite", "not-finite", 10);
        row("too-large", "not-finite", 10);
        row("unknown-kernels", "unknown-kind", 6);
        row("unknown-model", "unknown-kind", 28);
        row("no-variant", "missing", 19);
        row("features-missing", "features", 19);
        row("domain-of-others", "features", 19);
        row("domain-columns", "domain", 16);
        row("domain-empty-range", "domain", 16);
        row("cyclic-tree", "model", 19);
        row("tree-meets-itself", "model", 19);
        row("tree-beyond-end", "model", 19);
        row("tree-unknown-feature", "model", 19);
        row("tree-columns", "model", 18);
        row("classifier", "model", 19);
        row("linear-booster", "model", 19);
        row("network-shape", "model", 30);
        row("network-activation", "model", 28);
        row("residuals-order", "residuals", 12);
        row("classes-order", "residuals", 19);
        row("correlation", "range", 14);
        row("no-sms", "range", 7);
        row("text-for-number", "type", 14);
        row("truncated", "not-json", 17);
        row("trailing", "not-json", 35);
        row("deep", "too-deep", 1);
    }
    void badFilesAreRefused() {
        QFETCH(QString, code);
        QFETCH(int, line);
        const QString file = QString(ORRERY_TEST_DATA "/bad/calibration/%1.json").arg(QTest::currentDataTag());
        QVERIFY(QFile::exists(file));
        const auto calibration = readCalibration(file.toStdString());
        QVERIFY(!calibration);
        const Diagnostic& problem = calibration.error();
        QCOMPARE(QString::fromStdString(problem.code), "calibration." + code);
        QCOMPARE(QString::fromStdString(problem.place.file), file);
        QVERIFY2(std::abs(problem.place.line - line) <= 1, toText(problem).c_str());
        QVERIFY2(!problem.expected.empty() || !problem.hint.empty(), toText(problem).c_str());
    }
    void everyBadFileIsNamedAbove() {
        int named = 0;
        const QDir folder(ORRERY_TEST_DATA "/bad/calibration");
        QFile source(ORRERY_SOURCE "/tests/learning/tst_calibration.cpp");
        QVERIFY(source.open(QIODevice::ReadOnly));
        const QByteArray text = source.readAll();
        for (const QString& file : folder.entryList({"*.json"})) {
            QVERIFY2(text.contains("row(\"" + QFileInfo(file).baseName().toUtf8() + "\""), qPrintable(file));
            ++named;
        }
        QCOMPARE(named, 37);
    }

    // Cut anywhere, or with any byte changed: an answer or a diagnostic, never more.
    void damagedFilesDoNoHarm() {
        QFile file(QString::fromStdString(golden));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string good = file.readAll().toStdString();
        for (std::size_t size = 0; size + 2 < good.size(); size += 7) {
            QVERIFY(!parseCalibration(std::string_view(good).substr(0, size), "cut"));
        }
        RandomStream random(1);
        int read = 0;
        for (int i = 0; i < 2000; ++i) {
            std::string bad = good;
            for (int change = 0; change < 3; ++change) bad[random.below(bad.size())] = char(random.below(256));
            const auto calibration = parseCalibration(bad, "changed");
            if (!calibration) continue;
            ++read;
            for (const auto& section : calibration->sections) {
                if (section.features.size() == 2) priceWith(section, 1e-3, std::vector{1.0, 2.0});
            }
        }
        QVERIFY(read > 0 && read < 2000);
    }

    void unreadableFiles() {
        QCOMPARE(readCalibration("/nowhere/at/all.json").error().code, std::string("calibration.unreadable"));
        QCOMPARE(readCalibration(ORRERY_TEST_DATA).error().code, std::string("calibration.unreadable"));
    }

    void theSectionOfThisDeviceComesFirst() {
        const GpuView here = deviceWith(100, 2e12), almost = deviceWith(100, 2.01e12), other = deviceWith(80, 2e12),
                      far = deviceWith(20, 0.3e12);
        const auto value = [](const CalibrationSet& set, const GpuView& gpu) {
            const auto found = set.find("m", KernelKind::Gemm, "bf16", gpu);
            return found.section ? found.section->parameters.at("value") : -1;
        };
        CalibrationSet set;
        QCOMPARE(value(set, here), -1.0);
        set.add(calibrationOf({{far, 1}, {other, 2}}));
        QCOMPARE(value(set, here), 2.0);  // the nearest
        QVERIFY(set.find("m", KernelKind::Gemm, "bf16", here).deviceDistance > 0.2);
        set.add(calibrationOf({{std::nullopt, 3}}));
        QCOMPARE(value(set, here), 2.0);                   // one like it still comes first
        QCOMPARE(value(set, deviceWith(400, 9e12)), 3.0);  // unlike all: any device
        set.add(calibrationOf({{almost, 4}}));
        QCOMPARE(value(set, here), 4.0);  // within 1 %
        set.add(calibrationOf({{here, 5}}));
        QCOMPARE(value(set, here), 5.0);  // later files win
        QCOMPARE(set.find("m", KernelKind::Gemm, "bf16", here).deviceDistance, 0.0);
        QCOMPARE(value(set, far), 1.0);
        QVERIFY(!set.find("m", KernelKind::Gemm, "fp8", here).section);
        QVERIFY(!set.find("m", KernelKind::Softmax, "bf16", here).section);
        QVERIFY(!set.find("other", KernelKind::Gemm, "bf16", here).section);
        QVERIFY(set.has("m") && !set.has("other"));
    }

    void variants() {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = kernel.kvType = DType::F16;
        QCOMPARE(kernelVariant(kernel), std::string("bf16"));
        kernel.weightType = DType::I4;
        QCOMPARE(kernelVariant(kernel), std::string("int4 weights"));
        kernel.type = kernel.weightType = DType::FP8;
        kernel.scaleBlock = 128;
        QCOMPARE(kernelVariant(kernel), std::string("fp8 block 128"));
        kernel = {};
        kernel.kind = KernelKind::DecodeAttention;
        kernel.type = DType::BF16;
        kernel.kvType = DType::FP8;
        QCOMPARE(kernelVariant(kernel), std::string("bf16 fp8 kv"));
        kernel.kind = KernelKind::Collective;
        QCOMPARE(kernelVariant(kernel), std::string("node"));
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::F32;
        kernel.batch = 8;
        QCOMPARE(kernelVariant(kernel), std::string("fp32 batched"));
    }

    // The files that a clone brings: all must read, and stay within what start-up can bear.
    void shippedFilesAreSound() {
        const ShippedCalibrations& shipped = shippedCalibrations();
        for (const Diagnostic& warning : shipped.warnings) QFAIL(toText(warning).c_str());
        qint64 bytes = 0;
        for (const QFileInfo& file : QDir(ORRERY_SOURCE "/presets/calibrations").entryInfoList({"*.json"}))
            bytes += file.size();
        QVERIFY2(bytes <= 5 << 20, qPrintable(QString::number(bytes)));
        for (const auto& calibration : shipped.set.all()) {
            QVERIFY(!calibration->method.empty() && !calibration->date.empty());
            for (const CalibrationSection& section : calibration->sections) {
                QVERIFY(!section.sources.empty() && !section.split.empty());
                // Stacks of training steps hold numbers alone: their intervals stand in them.
                QVERIFY(!section.residuals.empty() || calibration->method == "training-stacks");
                if (section.model) QVERIFY(section.domain);
            }
        }
    }

    void aBadFileInTheFolderIsLeftOutAndNamed() {
        QTemporaryDir folder;
        QVERIFY(QFile::copy(QString::fromStdString(golden), folder.filePath("b.json")));
        QVERIFY(QFile::copy(ORRERY_TEST_DATA "/bad/calibration/nan.json", folder.filePath("a.json")));
        const ShippedCalibrations loaded = loadCalibrations(folder.path().toStdString());
        QCOMPARE(loaded.set.all().size(), std::size_t(1));
        QCOMPARE(loaded.warnings.size(), std::size_t(1));
        QCOMPARE(loaded.warnings.front().severity, Severity::Warning);
        QVERIFY(QString::fromStdString(loaded.warnings.front().place.file).endsWith("a.json"));
        QVERIFY(loadCalibrations("/nowhere").warnings.empty());
    }
};

QTEST_GUILESS_MAIN(TestCalibration)
#include "tst_calibration.moc"
