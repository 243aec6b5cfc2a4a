// Where pages lie, through whole models: operands that epilogues read.

#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/model/compose.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

class TestCorePages : public QObject {
    Q_OBJECT

private slots:
    // What a fused sum reads on top is read alone: with the pages of one node it gets half of what reads and writes
    // together get over the links.
    void operandsOfEpiloguesAreReadAsPagesLie() {
        const auto two = std::make_shared<const Hardware>(
            *withAttribute(loadHardware("epyc-9654-x2")->hardware, "xgmi.bandwidth", "2 GB/s"));
        WorkloadRecipe recipe{"resnet-18", {}};
        recipe.options.weights = recipe.options.activations = DType::F32;
        recipe.options.image = 224;
        const auto workload = loadWorkload(recipe);
        QVERIFY(workload);
        // 8 GB/s each way: half of all lines cross. In turn both links carry, from one node the one to the other.
        for (const auto& [pages, rate] : {std::pair{"interleave", 32e9}, {"first-node", 16e9}, {"remote", 16e9}}) {
            const auto executor = makeSerialExecutor();
            EstimateContext context{*executor, {}};
            context.options = {{"pages", pages}};
            const auto composed = compose({two, *workload}, *findKernelMethod("cpu-roofline"), {}, context);
            QVERIFY2(composed, composed ? "" : composed.error().message.c_str());
            int fused = 0;
            for (std::size_t i = 0; i < composed->prices.size(); ++i) {
                const Launch& launch = composed->list().launches[i];
                const PricedLaunch& priced = composed->prices[i];
                if (launch.kernel.epilogue.bytes <= 0 || priced.raised) continue;
                ++fused;
                const double extra = priced.seconds - launch.scale * priced.price.seconds;
                QVERIFY2(std::abs(extra / (launch.kernel.epilogue.bytes / rate) - 1) < 1e-6, pages);
            }
            QVERIFY2(fused > 0, pages);
        }
    }
};

QTEST_GUILESS_MAIN(TestCorePages)
#include "tst_core_pages.moc"
