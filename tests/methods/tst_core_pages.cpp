// Where pages lie, through whole models: operands that epilogues read, bounds, serving.

#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/model/compose.h"
#include "methods/system/iteration_times.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <array>
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

    // An iteration of serving takes what its kernels take with these pages, and what their epilogues read at the rate of
    // reads alone; nothing holds it to the bound of other pages. Rates by hand: four links of 2 GB/s each way, two
    // memories of 460.8 GB/s, half of all lines or all of them cross.
    void iterationsOfServingArePricedAsPagesLie() {
        const auto two = std::make_shared<const Hardware>(
            *withAttribute(loadHardware("epyc-9654-x2")->hardware, "xgmi.bandwidth", "2 GB/s"));
        struct Case {
            std::string method;
            double most, reads;
        };
        for (const Case& each : {Case{"cpu-roofline", 32e9, 32e9}, Case{"cpu-roofline(pages=local)", 921.6e9, 921.6e9},
                                 Case{"cpu-roofline(pages=first-node)", 32e9, 16e9},
                                 Case{"cpu-roofline(pages=remote)", 16e9, 16e9}}) {
            PoolSpec pool;
            pool.time.method = each.method;
            const auto device = poolDevice(pool, two);
            QVERIFY2(device, device ? "" : device.error().message.c_str());
            QVERIFY2(std::abs(device->bandwidth() / each.most - 1) < 1e-9, each.method.c_str());
            const auto time = kernelIterationOf("llama-2-7b", {}, pool, *device, {});
            QVERIFY2(time, time ? "" : time.error().message.c_str());
            const std::array<std::int32_t, 1> contexts{1024};
            const std::array chunks{PromptChunk{.tokens = 512}};
            const IterationWork decode{.decodes = contexts, .decodeContext = 1024, .tokens = 1, .sampled = 1};
            const IterationWork prompt{.prompts = chunks, .tokens = 512, .sampled = 1};
            for (const IterationWork& work : {decode, prompt}) {
                double kernels = 0, epilogues = 0;
                for (const Launch& launch : (*time)->kernelsOf(work)) {
                    kernels += launch.count * launch.scale * (*time)->pricer().price(launch.kernel).seconds;
                    epilogues += launch.count * launch.kernel.epilogue.bytes / each.reads;
                }
                const double seconds = (*time)->costOf(work).all.seconds;
                QVERIFY(epilogues > 0);
                QVERIFY2(std::abs(seconds / (kernels + epilogues) - 1) < 1e-6,
                         qPrintable(QString("%1: %2 s, kernels %3, epilogues %4")
                                        .arg(each.method.c_str())
                                        .arg(seconds)
                                        .arg(kernels)
                                        .arg(epilogues)));
            }
            // All weights but the embedding cross memory once for one token.
            const double weights = (*time)->launches().weightBytes();
            const double seconds = (*time)->costOf(decode).all.seconds;
            QVERIFY2(seconds > 0.9 * weights / each.most, each.method.c_str());
            QVERIFY2(each.most > 100e9 || seconds < 1.1 * weights / each.reads, each.method.c_str());
        }
        PoolSpec wrong;
        wrong.time.method = "cpu-roofline(pages=remote)";
        Hardware apart = *two;
        apart.root.children.front().children.pop_back();  // the links
        const auto refused = poolDevice(wrong, std::make_shared<const Hardware>(apart));
        QVERIFY(!refused && refused.error().code == "cores.no-link");
    }
};

QTEST_GUILESS_MAIN(TestCorePages)
#include "tst_core_pages.moc"
