// A device that was told from samples, kept as a file: does it answer as it was told, for its networks and for nothing
// else?

#include "hardware/files/catalogue.h"
#include "learning/edge/device_file.h"
#include "learning/edge/space_features.h"
#include "methods/method.h"
#include "support/schema_check.h"
#include "workload/workload.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <array>
#include <cmath>
#include <memory>

using namespace orrery;

namespace {

constexpr const char* firstCell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|avg_pool_3x3~2|";
constexpr const char* otherCell = "|skip_connect~0|+|nor_conv_1x1~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|";

// Two devices over a few cells, and three samples of a third.
DeviceFile toldDevice() {
    const auto space = *spaceFeatures("nasbench201");
    FeatureRows rows{space.names.size(), {}, space.core};
    std::vector<std::vector<double>> devices(2);
    constexpr std::array<const char*, 5> ops{"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
    for (int i = 0; i < 40; ++i) {
        std::string code;
        for (int node = 1, e = 0; node < 4; ++node) {
            code += node > 1 ? "+" : "";
            for (int from = 0; from < node; ++from, ++e)
                code += std::string("|") + ops[static_cast<std::size_t>((i * 7 + e * (i % 4 + 1)) % 5)] + "~" +
                        std::to_string(from);
            code += "|";
        }
        (void)appendFeatures(space, code, rows.values);
        const auto row = rows.row(rows.rows() - 1);
        devices[0].push_back(3 + row[1] + 4 * row[2] + 0.2 * row[3]);
        devices[1].push_back(9 + 2 * row[1] + 5 * row[2] + row[3]);
    }
    const auto prior = DevicePrior::learn(rows, devices, space.analytic);
    FeatureRows few{rows.columns,
                    {rows.values.begin(), rows.values.begin() + static_cast<std::ptrdiff_t>(3 * rows.columns)},
                    rows.core};
    DeviceFile file;
    file.device = "board";
    file.table = "t.csv";
    file.space = "nasbench201";
    file.samples = 3;
    file.knownDevices = 2;
    file.model = *prior->condition(few, std::array{2 * devices[0][0], 2 * devices[0][1], 2 * devices[0][2]});
    return file;
}

}  // namespace

class TestDeviceFileMethod : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    std::string written(const char* name, const std::string& text) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
        file.write(QByteArray::fromStdString(text));
        return file.fileName().toStdString();
    }
    static Expected<Estimate> asked(const std::string& source, const std::string& file) {
        auto workload = loadWorkload({.source = source, .options = {}, .whatIfs = {}});
        if (!workload) return Unexpected(workload.error());
        const auto serial = makeSerialExecutor();
        EstimateContext context{.executor = *serial, .options = {{"file", file}}};
        auto design = loadHardware("jetson-agx-orin");
        if (!design) return Unexpected(design.error());
        const auto hardware = std::make_shared<const Hardware>(std::move(design->hardware));
        return estimate(*findMethod("edge-device"), {.hardware = hardware, .workload = *workload}, context);
    }

private slots:
    void aFileAnswersAsItWasTold() {
        const DeviceFile device = toldDevice();
        const std::string text = writeDeviceFile(device);
        for (const std::string& error : test::schemaErrors(text, "device")) QFAIL(error.c_str());
        const auto read = readDeviceFile(written("board.json", text));
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        for (const char* code : {firstCell, otherCell}) {
            const auto before = device.tell(code), after = read->tell(code);
            QVERIFY(before && after);
            QCOMPARE(after->mean, before->mean);
            QCOMPARE(after->low, before->low);
            QCOMPARE(after->high, before->high);
            QCOMPARE(read->tell(std::string("nasbench201:") + code)->mean, before->mean);
        }
        QVERIFY(!read->tell("fbnet:7 8 1 8 4 8 8 8 7 4 1 4 7 3 2 7 3 2 4 2 4 5"));
        QVERIFY(!read->tell(std::string("nasbench201@1x52x16:") + firstCell));
        QCOMPARE(writeDeviceFile(*read), text);
    }

    void theMethodTellsItsNetworksAndNothingElse() {
        const DeviceFile device = toldDevice();
        const std::string file = written("board.json", writeDeviceFile(device));
        const auto answer = asked(std::string("nasbench201:") + firstCell, file);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        const Predicted said = *device.tell(firstCell);
        QVERIFY(std::abs(answer->latency.value / (1e-3 * said.mean) - 1) < 1e-12);
        QVERIFY(answer->interval.low <= answer->latency && answer->latency <= answer->interval.high);
        QVERIFY(!answer->assumptions.empty());
        const auto other = asked("resnet-50", file);
        QVERIFY(!other);
        QCOMPARE(other.error().code, std::string("edge.other-network"));
        QCOMPARE(asked("resnet-50", "").error().code, std::string("edge.no-file"));
    }

    void brokenFilesAreRefused() {
        const std::string good = writeDeviceFile(toldDevice());
        for (const std::string& text :
             {std::string("{}"), std::string("[1]"), std::string("{\"format\": \"orrery-device\", \"version\": 1}"),
              std::string("{\"format\": \"orrery-device\", \"version\": 1, \"device\": \"a\", \"networks\": "
                          "[{\"network\": \"n\", \"latency\": 3, \"low\": 4, \"high\": 5}]}"),
              QString::fromStdString(good).replace("\"rank\":", "\"rank\":1").toStdString(),
              QString::fromStdString(good).replace("\"nasbench201\"", "\"fbnet\"").toStdString()}) {
            const auto read = readDeviceFile(written("bad.json", text));
            QVERIFY(!read);
            QVERIFY2(read.error().code == "edge.device-file", read.error().code.c_str());
        }
        QVERIFY(!readDeviceFile(written("bad.json", good.substr(0, good.size() / 2))));
        QVERIFY(!readDeviceFile("absent.json"));
    }
};

QTEST_GUILESS_MAIN(TestDeviceFileMethod)
#include "tst_device_file_method.moc"
