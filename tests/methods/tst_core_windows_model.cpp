// The learned composition of bounds over windows: shares that sum exactly, a model that loads and holds what it states,
// files that make no sense.

#include "methods/cpu/core_windows.h"
#include "simulation/cpu/core/pipeline.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <fstream>
#include <numeric>

using namespace orrery;
using namespace orrery::pipeline;

class TestCoreWindowsModel : public QObject {
    Q_OBJECT

private slots:
    // Three runways of 1, 4 and 10: the first is paid by three, the next step by two, the last by one.
    void theLargestIsSharedByRisingSteps() {
        std::array<double, resourceCount> bounds{};
        bounds[0] = 4, bounds[1] = 1, bounds[2] = 10;
        const auto shares = shareLargest(bounds);
        QCOMPARE(shares[1], 1.0 / 3);
        QCOMPARE(shares[0], 1.0 / 3 + 3.0 / 2);
        QCOMPARE(shares[2], 1.0 / 3 + 3.0 / 2 + 6.0);
        QCOMPARE(std::accumulate(shares.begin(), shares.end(), 0.0), 10.0);
    }
    void cyclesAreGivenToResourcesToTheLast() {
        const auto model = loadWindowModel();
        QVERIFY2(model.has_value(), model ? "" : toText(model.error()).c_str());
        for (const char* core : {"zen4", "neoverse-v1", "cortex-a72"}) {
            const auto machine = loadMachine(core);
            QVERIFY(machine.has_value());
            for (const char* kernel : {"gemm m=70 n=90 k=110", "attention heads=1 q=32 kv=64 d=64", "add n=30000"}) {
                const auto nest = nestOf(*readKernel(kernel), *machine);
                QVERIFY(nest.has_value());
                const auto answer = estimateCore(*nest, *machine, *model);
                const double sum = std::accumulate(answer.by.begin(), answer.by.end(), answer.interplay);
                QVERIFY(std::fabs(sum / answer.cycles - 1) < 1e-12);
                QVERIFY(answer.low <= answer.cycles && answer.cycles <= answer.high);
                QCOMPARE(estimateCore(*nest, *machine, *model).cycles, answer.cycles);
            }
        }
    }
    // Kernels and cores that taught nothing (handbook, core.md): the mean error is what the page states, with room for
    // the few that are looked at here.
    void unseenKernelsOnUnseenCores() {
        const auto model = loadWindowModel();
        QVERIFY(model.has_value());
        double error = 0;
        int count = 0, inside = 0;
        for (const char* core : {"zen4", "neoverse-v1"}) {
            const auto machine = loadMachine(core);
            const char* set = std::string(core) == "zen4" ? "avx2" : "neon";
            for (const char* kernel :
                 {"attention heads=2 q=64 kv=96 d=64", "attention heads=1 q=100 kv=300 d=128",
                  "norm rows=64 columns=768", "norm rows=20 columns=4000", "norm rows=200 columns=100"}) {
                const auto nest = nestOf(*readKernel(std::string(kernel) + " " + set), *machine);
                QVERIFY(nest.has_value());
                const auto ops = boundOps(*machine, nest->ops);
                Pipeline pipeline(*machine, ops);
                NestStream stream(*nest);
                OpChunk chunk;
                while (stream.next(chunk)) pipeline.run(chunk);
                const auto cycles = static_cast<double>(pipeline.counters().cycles);
                const auto answer = estimateCore(*nest, *machine, *model);
                qInfo("%s, %s: %+.1f %%", core, kernel, 100 * (answer.cycles / cycles - 1));
                error += std::fabs(answer.cycles / cycles - 1);
                inside += answer.low <= cycles && cycles <= answer.high;
                ++count;
            }
        }
        qInfo("mean %.1f %%, %d of %d inside", 100 * error / count, inside, count);
        QVERIFY(error / count < 0.06);
        QVERIFY(inside >= 7);
    }
    void filesThatMakeNoSenseAreRefused() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.json").toStdString();
        const auto codeOf = [&](const std::string& text) {
            std::ofstream(path) << text;
            const auto model = loadWindowModel(path);
            return model ? std::string() : model.error().code;
        };
        QCOMPARE(codeOf("{"), std::string("core.syntax"));
        QCOMPARE(codeOf("{}"), std::string("core.model"));
        QCOMPARE(codeOf("{\"format\":\"orrery-core-windows\",\"version\":99}"), std::string("core.model"));
        QCOMPARE(codeOf("{\"format\":\"orrery-core-windows\",\"version\":2,\"features\":[\"x\"]}"),
                 std::string("core.model"));
        QVERIFY(!loadWindowModel((folder.path() + "/none.json").toStdString()));
    }
};

QTEST_GUILESS_MAIN(TestCoreWindowsModel)
#include "tst_core_windows_model.moc"
