// Is every figure of the handbook's page on edge devices what the program says today? Each row of its table names a
// set; the question behind it stands here. All of them take a quarter of an hour: `ORRERY_ALL_FIGURES=1` asks them,
// otherwise a few are. `ORRERY_WRITE_FIGURES=1` prints the rows as they should read.

#include "support/cli_process.h"

#include <QFile>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace orrery;
using namespace orrery::test;

namespace {

struct Figures {
    const char* set;
    QList<int> samples;
    const char* table;
    QString options;
};

const char* const helpDevices =
    "--target titan_rtx_256 --target gold_6226 --target fpga --target pixel2 --target raspi4 --target eyeriss --known "
    "1080ti_1 --known 1080ti_32 --known 1080ti_256 --known silver_4114 --known silver_4210r --known samsung_a50 "
    "--known pixel3 --known essential_ph_1 --known samsung_s7 --pool 0:900 --test 900:1900 --trim 0.1 --repeats 50";
const char* const pi5 = "hwnasbench360/pi5_given.csv";
const char* const oneThread =
    "--network standard_name --device board --device dpu_config --value fps_1thread --rates --whole board --choose";

QList<Figures> figures() {
    const QString last = "--pool 0:1000 --test 1000:1500", any = "--repeats 5";
    return {
        {"NAS-Bench-201, HELP's protocol", {10, 5, 0}, "help/nasbench201_latency_ms.csv", helpDevices},
        {"NAS-Bench-201, each of 21 devices", {10, 30, 100}, "help/nasbench201_latency_ms.csv", {}},
        {"HELP's protocol, graph network",
         {10, 5, 0},
         "help/nasbench201_latency_ms.csv",
         helpDevices + QString(" --model graph")},
        {"NAS-Bench-201, 21 devices, graph network", {10, 100}, "help/nasbench201_latency_ms.csv", "--model graph"},
        {"FBNet, each of 21 devices", {10}, "help/fbnet_latency_ms.csv", {}},
        {"FBNet, 21 devices, graph network", {10}, "help/fbnet_latency_ms.csv", "--model graph"},
        {"OFA, each of ten GPU columns", {10, 30}, "help/ofa_latency_ms.csv", {}},
        {"OFA, ten GPU columns, graph network", {10}, "help/ofa_latency_ms.csv", "--model graph"},
        {"Raspberry Pi 5, eight columns", {10, 30, 100, 3000}, pi5, {}},
        {"Raspberry Pi 5, eight columns, chosen", {10}, pi5, "--choose"},
        {"Pi 5, LiteRT from ONNX Runtime, chosen",
         {10},
         pi5,
         "--choose --target pi5_litert_cifar100_ms --known pi5_onnx_cifar100_ms"},
        {"Pi 5, LiteRT from ONNX Runtime",
         {10},
         pi5,
         "--repeats 20 --target pi5_litert_cifar100_ms --known pi5_onnx_cifar100_ms"},
        {"Pi 5, ONNX Runtime from LiteRT",
         {10},
         pi5,
         "--repeats 20 --target pi5_onnx_cifar100_ms --known pi5_litert_cifar100_ms"},
        {"Pi 5, LiteRT, new input",
         {10},
         pi5,
         "--repeats 20 --target pi5_litert_ninapro_ms --known pi5_litert_cifar100_ms"},
        {"Pi 5, ONNX Runtime, new input",
         {10},
         pi5,
         "--repeats 20 --target pi5_onnx_ninapro_ms --known pi5_onnx_cifar100_ms"},
        {"HAT decoder, Pi 4, en-de", {30, 1000}, "hat/wmt14ende_cpu_raspberrypi.csv", last},
        {"HAT decoder, Pi 4, en-de, any rows", {30, 1000}, "hat/wmt14ende_cpu_raspberrypi.csv", any},
        {"HAT decoder, Pi 4, en-fr", {30, 1000}, "hat/wmt14enfr_cpu_raspberrypi.csv", last},
        {"HAT decoder, Pi 4, en-fr, any rows", {30, 1000}, "hat/wmt14enfr_cpu_raspberrypi.csv", any},
        {"HAT decoder, Titan Xp, en-de", {30, 1000}, "hat/wmt14ende_gpu_titanxp.csv", last},
        {"HAT decoder, Titan Xp, en-de, any rows", {30, 1000}, "hat/wmt14ende_gpu_titanxp.csv", any},
        {"HAT decoder, Titan Xp, en-fr", {30, 1000}, "hat/wmt14enfr_gpu_titanxp.csv", last},
        {"HAT decoder, Titan Xp, en-fr, any rows", {30, 1000}, "hat/wmt14enfr_gpu_titanxp.csv", any},
        {"HAT decoder, Titan Xp, de-en", {30, 1000}, "hat/iwslt14deen_gpu_titanxp.csv", last},
        {"HAT decoder, Titan Xp, de-en, any rows", {30, 1000}, "hat/iwslt14deen_gpu_titanxp.csv", any},
        {"HAT decoder, Xeon, en-de", {30, 1000}, "hat/wmt14ende_cpu_xeon.csv", last},
        {"HAT decoder, Xeon, en-de, any rows", {30, 1000}, "hat/wmt14ende_cpu_xeon.csv", any},
        {"ncnn without int8, chosen", {3, 5}, "ncnn/ncnn_benchmark_ms.csv", "--without int8 --choose"},
        {"ncnn, int8 alone, chosen", {3, 5}, "ncnn/ncnn_benchmark_ms.csv", "--only int8 --choose"},
        {"YOLO on eight boards, chosen", {5}, "deeplite/yolo_latency_ms.csv", "--choose"},
        {"YOLO on eight boards, drawn", {5, 30}, "deeplite/yolo_latency_ms.csv", "--repeats 2"},
        {"Xilinx DPUs, one thread, chosen", {5}, "dpu/vitis_ai_2.5_model_zoo.csv", oneThread},
        {"Xilinx DPUs, all threads, chosen", {5}, "dpu/vitis_ai_2.5_model_zoo.csv", "--choose"},
        {"Synaptics NPUs, CPUs, GPUs, chosen", {5}, "synap/npu_latency_ms.csv", "--choose"},
        {"timm on Jetson and VIM3, chosen", {5}, "deeplite/imagenet_latency_ms.csv", "--choose"},
        {"the same beside timm's own benchmark, chosen",
         {5},
         "deeplite/imagenet_latency_ms.csv",
         "--choose --beside " ORRERY_REFERENCE "/devices/timm_throughput.csv"},
        {"Hailo's five chips, chosen", {5}, "../devices/hailo_fps.csv", "--choose"},
    };
}

QString shareText(const Json& value, int digits = 1) {
    return value.is_number() ? QString::number(100 * value.get<double>(), 'f', digits) + " %" : QString("–");
}

QStringList cellsOf(const Json& mean, std::size_t targets) {
    return {QString::number(targets),
            shareText(mean["mape"]),
            shareText(mean["median"]),
            QString::number(mean["spearman"].get<double>(), 'f', 3),
            shareText(mean["coverage"]),
            shareText(mean["far_flagged"], 0),
            shareText(mean["flag_precision"], 0),
            shareText(mean["simple"]["mape"]),
            QString::number(mean["simple"]["spearman"].get<double>(), 'f', 3)};
}

// Another compiler adds in another order: the last digit that is shown may differ.
bool nearly(const QString& shown, const QString& seen) {
    if (shown == seen) return true;
    const QString a = QString(shown).remove(" %"), b = QString(seen).remove(" %");
    const auto digits = b.contains('.') ? b.size() - b.indexOf('.') - 1 : 0;
    bool good = false, other = false;
    return std::abs(a.toDouble(&good) - b.toDouble(&other)) < 1.5 * std::pow(10.0, -double(digits)) && good && other;
}

}  // namespace

class TstCliEdgeFigures : public QObject {
    Q_OBJECT

private slots:
    void everyFigureOfTheHandbookIsWhatIsSaid_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("samples");
        const auto all = figures();
        const bool every =
            qEnvironmentVariableIsSet("ORRERY_ALL_FIGURES") || qEnvironmentVariableIsSet("ORRERY_WRITE_FIGURES");
        const QStringList few{"NAS-Bench-201, HELP's protocol, 10", "Pi 5, LiteRT from ONNX Runtime, 10",
                              "HAT decoder, Titan Xp, de-en, 1000", "ncnn without int8, chosen, 3",
                              "Hailo's five chips, chosen, 5"};
        for (int i = 0; i < all.size(); ++i) {
            for (const int samples : all[i].samples) {
                const QString name = QString("%1, %2").arg(all[i].set).arg(samples);
                if (every || few.contains(name)) QTest::addRow("%s", qPrintable(name)) << i << samples;
            }
        }
    }
    void everyFigureOfTheHandbookIsWhatIsSaid() {
        QFETCH(int, at);
        QFETCH(int, samples);
        const Figures asked = figures()[at];
        const QString table = QString(ORRERY_REFERENCE "/edge/") + asked.table;
        if (!QFile::exists(table)) QSKIP("the reference data is not here");
        QStringList words{"edge", table, "--samples", QString::number(samples), "--seed", "1", "--json", "-"};
        words += asked.options.split(' ', Qt::SkipEmptyParts);
        const Outcome outcome = cli(words, {}, 600000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = Json::parse(outcome.out.toStdString());
        const QStringList seen = cellsOf(json["mean"], json["targets"].size());
        const QString row =
            QString("| %1 | %2 | %3 |").arg(QString(asked.set), QString::number(samples), seen.join(" | "));
        if (qEnvironmentVariableIsSet("ORRERY_WRITE_FIGURES")) {
            fprintf(stdout, "%s\n", qPrintable(row));
            return;
        }
        const QString start = QString("| %1 | %2 |").arg(asked.set).arg(samples);
        for (const QString& line : handbook()) {
            if (!line.startsWith(start)) continue;
            const QStringList shown = line.mid(start.size()).split('|');
            for (int c = 0; c < seen.size(); ++c)
                QVERIFY2(c < shown.size() && nearly(shown[c].trimmed(), seen[c]),
                         qPrintable("seen " + row + ", the handbook has " + line));
            return;
        }
        QFAIL(qPrintable("the handbook has no row " + row));
    }

    // A figure that nobody measures would grow old.
    void everyRowOfTheHandbookHasItsQuestion() {
        bool inside = false;
        int rows = 0;
        for (const QString& line : handbook()) {
            if (line.startsWith("## ")) inside = line == "## How well";
            if (!inside || !line.startsWith("| ") || line.startsWith("| set ")) continue;
            const QStringList cells = line.split('|');
            bool known = false;
            for (const Figures& each : figures())
                known = known || (cells[1].trimmed() == each.set && each.samples.contains(cells[2].trimmed().toInt()));
            QVERIFY2(known, qPrintable(line));
            ++rows;
        }
        QVERIFY(rows > 20);
    }

private:
    static QStringList handbook() {
        QFile file(ORRERY_SOURCE "/resources/handbook/edge.md");
        if (!file.open(QIODevice::ReadOnly)) return {};
        return QString::fromUtf8(file.readAll()).split('\n');
    }
};

QTEST_GUILESS_MAIN(TstCliEdgeFigures)
#include "tst_cli_edge_figures.moc"
