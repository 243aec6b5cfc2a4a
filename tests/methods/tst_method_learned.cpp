#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/learned/plain_features.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;

namespace {

GpuView gpuOf(const char* id) {
    const auto loaded = loadHardware(id);
    const auto view = gpuView(loaded->hardware);
    return view ? *view : GpuView();
}

Kernel product(double m, double n, double k, DType type = DType::BF16) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = type;
    kernel.m = std::int64_t(m);
    kernel.n = std::int64_t(n);
    kernel.k = std::int64_t(k);
    countWork(kernel);
    return kernel;
}

// Products on a device that has a law of its own: a roofline at 70 % with a launch and some noise.
KernelRows rowsOf(const char* id, std::size_t count, std::uint64_t seed) {
    KernelRows rows;
    rows.gpu = gpuOf(id);
    rows.deviceId = id;
    rows.source = {"made up", "none", "CC0-1.0", "00", std::int64_t(count)};
    RandomStream random(seed);
    for (std::size_t i = 0; i < count; ++i) {
        const auto draw = [&] { return std::exp2(4 + 8 * random.uniform()); };
        const double m = draw(), n = draw(), k = draw();
        rows.kernels.push_back(product(m, n, k));
        const Kernel& kernel = rows.kernels.back();
        const double law =
            std::max(kernel.flops / rows.gpu.peak(true, DType::BF16), kernel.bytes() / rows.gpu.dramBandwidth) / 0.7;
        rows.seconds.push_back((law + 3e-6) * std::exp(0.02 * random.normal()));
    }
    return rows;
}

CalibrationSet setOf(Calibration calibration) {
    CalibrationSet set;
    set.add(std::make_shared<const Calibration>(std::move(calibration)));
    return set;
}

double errorOn(const KernelPricer& pricer, const KernelRows& rows) {
    double error = 0;
    for (std::size_t i = 0; i < rows.kernels.size(); ++i) {
        error += std::abs(pricer.price(rows.kernels[i]).seconds / rows.seconds[i] - 1) / double(rows.kernels.size());
    }
    return error;
}

}  // namespace

class TestMethodLearned : public QObject {
    Q_OBJECT
    void methods() {
        QTest::addColumn<QByteArray>("id");
        QTest::newRow("forest") << QByteArray("forest");
        QTest::newRow("booster") << QByteArray("booster");
    }

private slots:
    void learnsADeviceAndKnowsItsLimits_data() { methods(); }
    void learnsADeviceAndKnowsItsLimits() {
        QFETCH(QByteArray, id);
        const KernelMethod* method = findKernelMethod(id.constData());
        QVERIFY(method);
        const KernelRows rows = rowsOf("h100-sxm", 1500, 1), unseen = rowsOf("h100-sxm", 600, 2);
        const auto calibration = method->fit(std::span(&rows, 1), {.split = "made up"});
        QVERIFY2(calibration, calibration ? "" : toText(calibration.error()).c_str());
        QCOMPARE(calibration->sections.size(), std::size_t(1));
        QCOMPARE(calibration->sections[0].variant, std::string("bf16"));
        QCOMPARE(calibration->sections[0].device->id, std::string("h100-sxm"));
        QCOMPARE(calibration->sections[0].sources.at(0).rows, std::int64_t(1500));
        const auto pricer = method->bind(rows.gpu, setOf(*calibration));
        QVERIFY(pricer);
        const double error = errorOn(**pricer, unseen);
        QVERIFY2(error < (id == "forest" ? 0.15 : 0.06), qPrintable(QString::number(error)));
        int inside = 0, flagged = 0;
        for (std::size_t i = 0; i < 600; ++i) {
            const KernelPrice price = (*pricer)->price(unseen.kernels[i]);
            QVERIFY(price.priced && price.low <= price.seconds && price.seconds <= price.high);
            inside += unseen.seconds[i] >= price.low && unseen.seconds[i] <= price.high;
            flagged += price.domain == DomainVerdict::Outside;
        }
        QVERIFY2(inside > 600 * 0.85 && inside < 600 * 0.96, qPrintable(QString::number(inside)));
        QVERIFY(flagged <= 600 * 0.05);
        QCOMPARE(int((*pricer)->price(product(65536, 65536, 65536)).domain), int(DomainVerdict::Outside));
        // Another device: nothing is inside, sides are wider, and the price follows the device.
        const auto elsewhere = method->bind(gpuOf("a100-80-sxm"), setOf(*calibration));
        for (std::size_t i = 0; i < 20; ++i) {
            const KernelPrice here = (*pricer)->price(unseen.kernels[i]),
                              there = (*elsewhere)->price(unseen.kernels[i]);
            QVERIFY(there.domain != DomainVerdict::Inside);
            QVERIFY(there.high / there.low > 1.2 * here.high / here.low);
            QVERIFY(there.seconds > here.seconds);
        }
        QVERIFY(!(*elsewhere)->assumptions().empty() && (*pricer)->assumptions().empty());
    }

    void acrossDevices_data() { methods(); }
    void acrossDevices() {
        QFETCH(QByteArray, id);
        const KernelMethod* method = findKernelMethod(id.constData());
        const std::vector rows{rowsOf("h100-sxm", 500, 1), rowsOf("a100-80-sxm", 500, 2)};
        const auto calibration = method->fit(rows, {.acrossDevices = true, .split = "made up"});
        QVERIFY(calibration);
        QCOMPARE(calibration->sections.size(), std::size_t(1));
        QVERIFY(!calibration->sections[0].device);
        QCOMPARE(calibration->sections[0].sources.size(), std::size_t(2));
        for (const KernelRows& device : rows) {
            const auto pricer = method->bind(device.gpu, setOf(*calibration));
            QVERIFY(errorOn(**pricer, device) < 0.2);
        }
    }

    void whatNoSectionCoversIsARoofline_data() { methods(); }
    void whatNoSectionCoversIsARoofline() {
        QFETCH(QByteArray, id);
        const KernelMethod* method = findKernelMethod(id.constData());
        const GpuView gpu = gpuOf("h100-sxm");
        const auto pricer = method->bind(gpu, CalibrationSet());
        const Kernel kernel = product(4096, 4096, 4096);
        const KernelPrice price = (*pricer)->price(kernel);
        QVERIFY(!price.priced);
        QVERIFY(price.seconds >= kernel.flops / gpu.peak(true, DType::BF16));
        QVERIFY(!(*pricer)->explain(kernel).terms.empty());
    }

    void everyNumberOfTheStoryIsNamed() {
        const KernelRows rows = rowsOf("h100-sxm", 200, 3);
        const KernelMethod* method = findKernelMethod("booster");
        const auto calibration = method->fit(std::span(&rows, 1), {.split = "made up"});
        const auto pricer = method->bind(rows.gpu, setOf(*calibration));
        const KernelStory story = (*pricer)->explain(rows.kernels[0]);
        QCOMPARE(story.terms.size(), plainFeatureNames(KernelKind::Gemm).size() + 3);
        QCOMPARE(story.terms[story.terms.size() - 3].value, (*pricer)->price(rows.kernels[0]).seconds);
        for (const KernelTerm& term : story.terms) QVERIFY(!term.name.empty() && !term.meaning.empty());
    }

    void featuresAreFiniteForEveryKind() {
        const GpuView gpu = gpuOf("h100-sxm");
        for (int i = 0; i < kernelKindCount; ++i) {
            Kernel kernel;
            kernel.kind = KernelKind(i);
            const auto names = plainFeatureNames(kernel.kind);
            QVERIFY(names.size() >= 8 && names.size() <= mostPlainFeatures);
            QCOMPARE(std::set(names.begin(), names.end()).size(), names.size());
            std::vector<double> features(names.size(), NAN);
            plainFeatures(kernel, gpu, features);
            for (const double feature : features) QVERIFY(std::isfinite(feature));
        }
    }

    void stoppingAndEmptyRowsAreSaid() {
        const KernelMethod* method = findKernelMethod("forest");
        QCOMPARE(method->fit({}, {}).error().code, std::string("learning.no-rows"));
        std::stop_source stop;
        stop.request_stop();
        const KernelRows rows = rowsOf("h100-sxm", 50, 3);
        FitOptions options;
        options.stop = stop.get_token();
        QCOMPARE(method->fit(std::span(&rows, 1), options).error().code, std::string("learning.cancelled"));
    }
};

QTEST_GUILESS_MAIN(TestMethodLearned)
#include "tst_method_learned.moc"
