// Number formats with scales: their names, the bytes of their scales, and the products that a model with them asks for.

#include "learning/calibration.h"
#include "support/near.h"
#include "workload/kernel.h"
#include "workload/number_format.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace orrery;
using orrery::test::near;

namespace {

WorkloadPtr quantised(const char* model, const char* weights, const char* activations, Phase phase = Phase::Decode) {
    WorkloadOptions options;
    options.phase = phase;
    options.sequence = 64;
    options.batch = 4;
    options.setWeights(*numberFormat(weights));
    options.setActivations(*numberFormat(activations));
    auto made = loadWorkload({model, options});
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

std::vector<Kernel> productsOf(const Workload& workload, const char* name) {
    std::vector<Kernel> found;
    for (std::size_t i = 0; i < workload.graph.operators.size(); ++i) {
        if (workload.graph.operators[i].name.ends_with(name))
            found.push_back(kernelOf(workload.graph, workload.costs, i));
    }
    return found;
}

}  // namespace

class TestNumberFormat : public QObject {
    Q_OBJECT
private slots:
    void namesReadBack() {
        for (const std::string& name : scaledFormatNames()) {
            const auto format = numberFormat(name);
            QVERIFY2(format, name.c_str());
            QVERIFY(format->scaling != Scaling::Usual);
            QCOMPARE(QString::fromStdString(toText(*format)), QString::fromStdString(name));
        }
        QCOMPARE(QString::fromStdString(toText(*numberFormat("bf16"))), QString("bf16"));
        for (const char* bad : {"", "fp8-", "fp8-blocks", "nvfp8", "mxint8", "fp16-block", "string", "fp8 block"})
            QVERIFY2(!numberFormat(bad), bad);
    }

    void scalesHaveBytes() {
        const auto bytes = [](const char* name, double reduction = 4096) {
            return storedBytesPerWeight(*numberFormat(name), reduction);
        };
        QCOMPARE(bytes("fp8-tensor"), 1.0);
        QVERIFY(near(bytes("fp8-row"), 1 + 4.0 / 4096, 1e-12));
        QVERIFY(near(bytes("fp8-block"), 1 + 4.0 / (128 * 128), 1e-12));
        QVERIFY(near(bytes("mxfp8"), 1 + 1.0 / 32, 1e-12));
        QVERIFY(near(bytes("mxfp4"), 0.5 + 1.0 / 32, 1e-12));
        QVERIFY(near(bytes("nvfp4"), 0.5 + 1.0 / 16, 1e-12));
        QCOMPARE(bytes("fp8"), 0.0);  // those of the type
    }

    void productsAskForTheirSection_data() {
        QTest::addColumn<QString>("weights");
        QTest::addColumn<QString>("activations");
        QTest::addColumn<QString>("variant");
        QTest::addColumn<bool>("narrows");
        QTest::newRow("per tensor") << "fp8-tensor"
                                    << "fp8-tensor"
                                    << "fp8" << true;
        QTest::newRow("per row") << "fp8-row"
                                 << "fp8-row"
                                 << "fp8" << true;
        QTest::newRow("block") << "fp8-block"
                               << "fp8-block"
                               << "fp8 block 128" << true;
        QTest::newRow("mx 8") << "mxfp8"
                              << "mxfp8"
                              << "fp8 block 32" << true;
        QTest::newRow("nv") << "nvfp4"
                            << "nvfp4"
                            << "fp4 block 16" << true;
        QTest::newRow("mx 4 of 16 bits") << "mxfp4"
                                         << "bf16"
                                         << "fp4 block 32 weights" << false;
        QTest::newRow("stored in 8 bits") << "fp8"
                                          << "fp8"
                                          << "fp8" << false;
    }
    void productsAskForTheirSection() {
        QFETCH(QString, weights);
        QFETCH(QString, activations);
        QFETCH(QString, variant);
        QFETCH(bool, narrows);
        const auto workload = quantised("llama-2-7b", weights.toStdString().c_str(), activations.toStdString().c_str());
        const auto products = productsOf(*workload, "o_proj");
        QCOMPARE(products.size(), std::size_t(1));
        const Kernel& kernel = products.front();
        QCOMPARE(QString::fromStdString(kernelVariant(kernel)), variant);
        QCOMPARE(kernel.quantisesInput, narrows);
        const double each = kernel.quantisesInput || activations == "bf16" ? 2 : 1;
        const double format = storedBytesPerWeight(*numberFormat(weights.toStdString()), 4096);
        const double weight = format > 0 ? format : 1;
        QVERIFY(near(kernel.readBytes, 4096.0 * 4096 * weight + 4 * 4096 * each, 1e-9));
        // Heads stay as they are.
        QCOMPARE(bits(productsOf(*workload, "lm_head").front().weightType), 16);
    }

    void weightsAreSmallerByTheirFormatAlone() {
        const auto plain = quantised("llama-2-7b", "bf16", "bf16"),
                   block = quantised("llama-2-7b", "fp8-block", "fp8-block"),
                   four = quantised("llama-2-7b", "nvfp4", "nvfp4");
        QCOMPARE(plain->totals.parameters, block->totals.parameters);
        QCOMPARE(plain->totals.flops, block->totals.flops);
        QVERIFY(block->totals.weightBytes < 0.54 * plain->totals.weightBytes);
        QVERIFY(four->totals.weightBytes < 0.33 * plain->totals.weightBytes);
        QVERIFY(four->totals.weightBytes > 4.5 / 16 * plain->totals.weightBytes);
    }

    void wideWeightsRefuseNarrowedActivations() {
        WorkloadOptions options;
        options.setActivations(*numberFormat("fp8-block"));
        const auto made = loadWorkload({"llama-2-7b", options});
        QVERIFY(!made);
        QCOMPARE(QString::fromStdString(made.error().code), QString("workload.option-scaling"));
        QCOMPARE(QString::fromStdString(made.error().place.path), QString("options/activations"));
    }
};

QTEST_GUILESS_MAIN(TestNumberFormat)
#include "tst_number_format.moc"
