// A product that grows by one in an extent does not get cheaper: prices may fall by 2 % where a shape suits a library
// better, and no product is faster than its units at their peak.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "methods/kernel_method.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
    return fixture::product(m, n, k, DType::BF16);
}

}  // namespace

class TestPriceMonotone : public QObject {
    Q_OBJECT
private slots:
    void aLargerProductIsNotCheaper_data() {
        QTest::addColumn<QString>("device");
        for (const char* device : {"b200-sxm", "a100-80-sxm", "h100-sxm"}) {
            QTest::newRow(device) << QString(device);
        }
    }
    void aLargerProductIsNotCheaper() {
        QFETCH(QString, device);
        const auto loaded = loadHardware(device.toStdString());
        QVERIFY(loaded.has_value());
        const auto gpu = gpuView(loaded->hardware);
        QVERIFY(gpu.has_value());
        const auto hybrid = *findKernelMethod("tile-hybrid")->bind(*gpu, shippedCalibrations().set);
        const auto physics = *findKernelMethod("tile-wave")->bind(*gpu, shippedCalibrations().set);
        const double peak = gpu->peak(true, DType::BF16);
        RandomStream random(7, 0);
        const auto draw = [&](double low, double high) {
            return std::int64_t(low * std::exp(random.uniform() * std::log(high / low)));
        };
        int steps = 0, falls = 0;
        double worst = 0;
        for (int i = 0; i < 3000; ++i) {
            std::int64_t m = draw(1, 20000), n = draw(64, 50000), k = draw(64, 50000);
            if (i % 2 == 0) n = n / 64 * 64, k = k / 64 * 64;  // as models have them
            const double here = hybrid->price(product(m, n, k)).seconds;
            QVERIFY(here * peak >= product(m, n, k).flops * (1 - 1e-9));
            const double law = physics->price(product(m, n, k)).seconds;
            for (const Kernel& next : {product(m + 1, n, k), product(m, n + 1, k), product(m, n, k + 1)}) {
                ++steps;
                // What physics itself has fall (more copies of the weights fit a cache) is no jump of the correction.
                const double real = std::max(0.0, 1 - physics->price(next).seconds / law);
                const double fall = 1 - hybrid->price(next).seconds / here - real;
                falls += fall > 0.02 ? 1 : 0;
                worst = std::max(worst, fall);
            }
        }
        qInfo("%d of %d steps fall by more than 2 %%, the worst by %.1f %%", falls, steps, 100 * worst);
        QVERIFY2(falls * 400 <= steps, QByteArray::number(falls));
    }
};

QTEST_APPLESS_MAIN(TestPriceMonotone)
#include "tst_price_monotone.moc"
