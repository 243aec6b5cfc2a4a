// Methods that price kernels of a GPU by other means answer alike: none of them several times what the others say. A
// kernel that one of them takes for another sort shows here, on models of every kind that ships.

#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace orrery;

namespace {

// Rooflines are bounds, and forests know products alone.
constexpr std::array methods{"llm-inference", "tile-wave",         "tile-hybrid",
                             "wave-scaling",  "interval-analysis", "mapping-search"};
constexpr std::array<std::string_view, 4> takes_directly{"tile-wave", "tile-hybrid", "wave-scaling",
                                                         "interval-analysis"};
constexpr std::array models{"resnet-50",     "resnext-50-32x4d", "mobilenet-v2", "efficientnet-b0",
                            "vit-b-16",      "dit-xl-2",         "bert-large",   "gpt-2",
                            "qwen3-30b-a3b", "mamba-130m",       "dlrm",         "gcn"};

}  // namespace

class TestMethodsAgree : public QObject {
    Q_OBJECT
private slots:
    void noneIsSeveralTimesTheOthers_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("model");
        for (const char* device : {"h100-sxm", "rtx-4090", "mi300x"})
            for (const char* model : models)
                QTest::addRow("%s on %s", model, device) << QString(device) << QString(model);
    }
    void noneIsSeveralTimesTheOthers() {
        QFETCH(QString, device);
        QFETCH(QString, model);
        const auto hardware = std::make_shared<const Hardware>(loadHardware(device.toStdString())->hardware);
        WorkloadOptions asked;
        asked.batch = 8;
        asked.sequence = 512;
        const auto workload = loadWorkload({model.toStdString(), asked});
        QVERIFY2(workload, workload ? "" : toText(workload.error()).c_str());
        const auto serial = makeSerialExecutor();
        std::vector<std::pair<double, std::string>> answers;
        for (const char* id : methods) {
            EstimateContext context{*serial};
            context.wantTimeline = false;
            const auto answer = estimate(*findMethod(id), Scenario{hardware, *workload}, context);
            if (answer) answers.emplace_back(answer->latency.value, id);
            // An answer that takes a convolution for no product says so, and says it of nothing else.
            const bool direct = model.startsWith("mobilenet") || model.startsWith("efficientnet");
            if (answer && (direct || model == "bert-large") && std::ranges::count(takes_directly, std::string_view(id)))
                QCOMPARE(std::ranges::any_of(answer->assumptions,
                                             [](const std::string& said) {
                                                 return said.find("computed directly") != std::string::npos;
                                             }),
                         direct);
        }
        QVERIFY(answers.size() >= 4);
        std::ranges::sort(answers);
        const double median = answers[answers.size() / 2].first;
        for (const auto& [seconds, id] : answers)
            QVERIFY2(seconds < 4 * median && median < 4 * seconds,
                     qPrintable(QString("%1: %2 s, median %3 s").arg(id.c_str()).arg(seconds).arg(median)));
    }
};

QTEST_GUILESS_MAIN(TestMethodsAgree)
#include "tst_methods_agree.moc"
