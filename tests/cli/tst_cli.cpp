#include "methods/method.h"
#include "store/project/project.h"
#include "store/runs/run_store.h"
#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest/QtTest>

#include <cmath>
#include <csignal>

using namespace orrery;
using namespace orrery::test;

namespace {

const QStringList commandNames{"methods", "hardware", "workloads", "import",    "run",    "study",   "export",
                               "project", "map",      "evaluate",  "calibrate", "array",  "advise",  "fidelity",
                               "drift",   "adapters", "power",     "schedules", "dram",   "block",   "core",
                               "gpu",     "pim",      "edge",      "benchmark", "survey", "transfer"};

QStringList runOf(const QStringList& more) {
    return QStringList{"run", "--hardware", "a100-80-sxm", "--workload", "llama-2-7b"} + more;
}

}  // namespace

class TestCli : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }

private slots:
    void helpOfEveryCommandHasExamplesThatParse_data() {
        QTest::addColumn<QString>("name");
        for (const QString& name : commandNames) QTest::newRow(qPrintable(name)) << name;
    }
    void helpOfEveryCommandHasExamplesThatParse() {
        QFETCH(QString, name);
        const Outcome all = cli({"--help"});
        QVERIFY2(all.exit == 0 && all.error.isEmpty(), all.text());
        QVERIFY2(all.out.contains("\n  " + name), qPrintable(name));
        const Outcome one = cli({name, "--help"});
        QVERIFY2(one.exit == 0 && one.error.isEmpty(), one.text());
        QVERIFY2(one.out.contains("examples:\n  orrery-cli " + name), one.text());
        QVERIFY2(!one.out.contains("[["), one.text());
        for (const QString& line : one.out.split('\n')) {
            if (!line.startsWith("  orrery-cli ")) continue;
            QStringList words = QProcess::splitCommand(QString(line.section('>', 0, 0)).replace('\'', '"'));
            words.removeFirst();
            // The whole suite is half a minute of a release build, and minutes of one with sanitisers: one part of it.
            if (name == "benchmark" && !words.contains("--part"))
                words << "--part"
                      << "kernels-arrays";
            const Outcome example = cli(words, folder_.path(), 120000);
            // Its files may not be there, but the line itself must be right, and answer if it names none.
            QVERIFY2(example.sound() && example.exit != 2, qPrintable(line + "\n" + QString(example.text())));
            const bool needsFile = line.contains(".onnx") || line.contains(".json") || line.contains(".yaml") ||
                                   line.contains(".sqlite") || line.contains(".orrery") || line.contains(".cfg") ||
                                   line.contains(".m ") || line.contains(".csv") || line.contains(".g ");
            QVERIFY2(needsFile || example.exit == 0, qPrintable(line + "\n" + QString(example.text())));
        }
    }
    void theVersionIsPrinted() { QVERIFY(cli({"--version"}).out.startsWith("orrery-cli ")); }
    void wrongUsageIsExitTwoWithAHint_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QStringList& arguments, const char* says) {
            QTest::newRow(name) << arguments << QString(says);
        };
        row("nothing", {}, "usage:");
        row("unknown command", {"rum"}, "`run`");
        row("unknown option", runOf({"--metod", "roofline"}), "`--method`");
        row("missing value", runOf({"--batch"}), "needs a value");
        row("tables are written where it is said", {"drift", "old.csv", "--csv"}, "needs a value");
        row("missing option", {"run", "--hardware", "h100-sxm"}, "--workload");
        row("missing argument", {"import"}, "FILE");
        row("one too many", {"methods", "roofline", "extra"}, "too many");
        row("a switch with a value", {"methods", "--json=yes"}, "takes no value");
        row("twice", runOf({"--batch", "1", "--batch", "2"}), "twice");
        row("no number", runOf({"--batch", "many"}), "whole number");
        row("negative", runOf({"--batch", "-4"}), "whole number");
        row("no dtype", runOf({"--weights", "fp17"}), "`fp16`");
        row("no scaled dtype", runOf({"--weights", "fp8-blok"}), "`fp8-block`");
        row("no software", runOf({"--software", "24.0"}), "names no software");
        row("no option of software", runOf({"--software", "vLLM(graph=on)"}), "`graphs`");
        row("no phase", runOf({"--phase", "decoding"}), "`decode`");
        row("no binding", runOf({"--bind", "batch"}), "name=whole number");
        row("no setting", runOf({"--set", "hbm"}), "path=value");
        row("no format", {"export", "x.sqlite", "--format", "cvs"}, "`csv`");
    }
    void wrongUsageIsExitTwoWithAHint() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const Outcome outcome = cli(arguments);
        QVERIFY2(outcome.sound() && outcome.exit == 2, outcome.text());
        QVERIFY2(outcome.out.isEmpty() && outcome.error.contains(says), outcome.text());
    }
    void questionsThatCannotBeAnsweredAreExitOne_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QStringList& arguments, const char* says) {
            QTest::newRow(name) << arguments << QString(says);
        };
        row("unknown hardware", {"run", "--hardware", "h100-smx", "--workload", "resnet-50"}, "`h100-sxm`");
        row("unknown workload", {"run", "--hardware", "h100-sxm", "--workload", "resnet-5"}, "resnet-50");
        row("unknown method", runOf({"--method", "rooflin"}), "`roofline`");
        row("unknown card", {"methods", "rooflin"}, "`roofline`");
        row("unknown option of a method", runOf({"--method", "roofline,loop-nest(fuson=on)"}), "`fusion`");
        row("unknown value of an option", runOf({"--method", "loop-nest(fusion=maybe)"}),
            "one of epilogue, none, compile");
        row("options without an end", runOf({"--method", "loop-nest(fusion=on"}), "do not end");
        row("unknown attribute", runOf({"--set", "hbm2e.bandwith=1 TB/s"}), "bandwidth");
        row("wrong unit", runOf({"--set", "hbm2e.bandwidth=1 TBps"}), "TB/s");
        row("missing file", {"import", "/no/such/model.onnx"}, "/no/such/model.onnx");
        row("missing study", {"study", "/no/such.yaml", "--out", "/tmp"}, "/no/such.yaml");
        row("missing database", {"export", "/no/such.sqlite", "--list"}, "/no/such.sqlite");
        row("a folder", {"import", "/tmp"}, "/tmp");
        row("only an unfit method",
            {"run", "--hardware", "h100-sxm", "--workload", "resnet-50", "--method", "llm-inference"}, "llm-inference");
        row("no folder", runOf({"--out", "/proc/none"}), "/proc/none");
    }
    void questionsThatCannotBeAnsweredAreExitOne() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const Outcome outcome = cli(arguments);
        QVERIFY2(outcome.sound() && outcome.exit == 1, outcome.text());
        QVERIFY2(outcome.error.contains(says), outcome.text());
    }
    void listsAreTablesAndJson() {
        for (const char* name : {"methods", "hardware", "workloads"}) {
            const Outcome table = cli({name}), json = cli({name, "--json"});
            QVERIFY2(table.exit == 0 && table.error.isEmpty() && table.out.startsWith("id"), table.text());
            const Json parsed = Json::parse(json.out.toStdString(), nullptr, false);
            QVERIFY2(parsed.is_object() && parsed["version"] == 1, json.text());
            QCOMPARE(parsed[name].size() + 1, static_cast<std::size_t>(table.out.count('\n')));
            for (const Json& each : parsed[name]) QVERIFY(table.out.contains(QString::fromStdString(each["id"])));
        }
    }
    // Every command that answers in JSON writes it to standard output when no file is said, and when `-` is.
    void jsonWithoutAFileIsPrinted_data() {
        QTest::addColumn<QStringList>("arguments");
        const auto row = [](const QStringList& arguments) { QTest::newRow(qPrintable(arguments[0])) << arguments; };
        row(runOf({}));
        row({"search", ORRERY_SOURCE "/presets/searches/edge-chip.yaml", "--agent", "random", "--evaluations", "4"});
        row({"advise", "--hardware", "a100-80-sxm", "--workload", "bert-large"});
        row({"methods"});
        row({"hardware", "h100-sxm"});
        row({"block", "--core", "skl", "--hex", "4801c8"});
    }
    void jsonWithoutAFileIsPrinted() {
        QFETCH(QStringList, arguments);
        for (const QStringList& last : {QStringList{"--json"}, QStringList{"--json", "-"}}) {
            const Outcome outcome = cli(arguments + last, folder_.path(), 60000);
            QVERIFY2(outcome.exit == 0, outcome.text());
            QVERIFY2(Json::parse(outcome.out.toStdString(), nullptr, false).is_object(), outcome.text());
        }
        // An input is no place for it.
        const QString input = folder_.filePath("input.csv");
        QVERIFY(QFile(input).open(QIODevice::WriteOnly));
        const Outcome drift = cli({"drift", "--json", input, input});
        QVERIFY2(drift.exit == 2 && drift.error.contains("write over"), drift.text());
    }
    void aMethodShowsItsOptions() {
        const Outcome card = cli({"methods", "loop-nest"});
        QVERIFY2(card.exit == 0 && card.out.contains("chains") && card.out.contains("off, on"), card.text());
        const Json json = Json::parse(cli({"methods", "loop-nest", "--json"}).out.toStdString(), nullptr, false);
        QCOMPARE(json["methods"].size(), std::size_t{1});
        QVERIFY(json["methods"][0]["cost"]["per_kernel_s"].get<double>() > 0);
        QVERIFY(!json["methods"][0].contains("cost_here_s"));
        const Json asked =
            Json::parse(cli({"methods", "--hardware", "tpu-v3", "--workload", "resnet-50", "--json"}).out.toStdString(),
                        nullptr, false);
        for (const Json& each : asked["methods"]) {
            const Method* method = findMethod(each["id"].get<std::string>());
            QCOMPARE(each["cost_here_s"].is_null(), !method->card.answers(TaskKind::Pass));
        }
        for (const Json& option : json["methods"][0]["options"]) {
            const auto choices = option["choices"].get<std::vector<std::string>>();
            QVERIFY(std::count(choices.begin(), choices.end(), option["fallback"].get<std::string>()) == 1);
        }
    }
    // Two fillings of one method stand side by side, in the text, the files and the database.
    void aMethodIsAskedWithOptions() {
        const QString study = path("fused.yaml");
        QFile file(study);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            "orrery: study/1\nname: fusion\nhardware: [eyeriss-like]\n"
            "workloads: [{source: alexnet, weights: int16, activations: int16}]\n"
            "methods: [loop-nest, 'loop-nest( fusion = on , mapper=annealing)']\n");
        file.close();
        const Outcome ran = cli({"study", study, "--out", path("fused")}, {}, 60000);
        const std::string fused = "loop-nest(chains=on)";  // as the option is called today
        QVERIFY2(ran.exit == 0 && ran.out.contains(QString::fromStdString(fused)), ran.text());
        QVERIFY(QFile::exists(path("fused") + "/operators-loop-nest-chains=on.csv"));
        const Outcome csv =
            cli({"export", path("fused") + "/runs.sqlite", "--format", "json", "--method", "loop-nest(chains=on)"});
        QVERIFY2(csv.exit == 0, csv.text());
        const Json run = Json::parse(csv.out.toStdString(), nullptr, false);
        QCOMPARE(run["estimates"].size(), std::size_t{1});
        QCOMPARE(run["estimates"][0]["method"].get<std::string>(), fused);
        const Outcome both =
            cli({"run", "--hardware", "eyeriss-like", "--workload", "alexnet", "--weights", "int16", "--activations",
                 "int16", "--method", "loop-nest,loop-nest(fusion=on,mapper=genetic)", "--json", "-"},
                {}, 60000);
        const Json answers = Json::parse(both.out.toStdString(), nullptr, false);
        QCOMPARE(answers["estimates"].size(), std::size_t{2});
        QCOMPARE(answers["estimates"][1]["method"].get<std::string>(),
                 std::string("loop-nest(mapper=genetic, chains=on)"));
    }
    void aDeviceShowsItsPeaks() {
        const Outcome outcome = cli({"hardware", "h100-sxm"});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("3.35 TB/s") && outcome.out.contains("hbm3"),
                 outcome.text());
        const Json json = Json::parse(cli({"hardware", "h100-sxm", "--json"}).out.toStdString(), nullptr, false);
        QCOMPARE(json["device"]["levels"][0]["bandwidth_bytes_per_s"], 3.35e12);
    }
    void aNetworkShowsItsFacts() {
        const Outcome outcome = cli({"hardware", "tpu-v4-cube"});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("torus 4 × 4 × 4") && outcome.out.contains("1.6 TB/s"),
                 outcome.text());
        const Json json = Json::parse(cli({"hardware", "tpu-v4-cube", "--json"}).out.toStdString(), nullptr, false);
        QCOMPARE(json["networks"][0]["diameter"], 6);
        QCOMPARE(json["networks"][0]["bisection_bytes_per_s"], 32 * 50e9);
        QVERIFY(cli({"hardware", "dgx-1-v100"}).out.contains("links between parts: "));
    }
    void aRunAnswersOnStandardOutputAlone() {
        const Outcome outcome = cli(runOf({"--phase", "decode", "--seq", "512", "--method", "roofline"}));
        QVERIFY2(outcome.exit == 0, outcome.text());
        QVERIFY2(outcome.out.contains("Llama-2 7B") && outcome.out.contains("roofline") && outcome.out.contains("…"),
                 outcome.text());
        QVERIFY2(!outcome.error.contains('\r') && !outcome.error.contains('\x1b'),
                 "progress or colour without a terminal");
    }
    void whyShowsWhatMakesAPrice() {
        const Outcome why = cli(runOf({"--method", "tile-wave", "--why", "o_proj"}));
        QVERIFY2(why.exit == 0 && why.out.contains("gemm ") && why.out.contains("32 times"), why.text());
        const Outcome json = cli(runOf({"--method", "tile-wave", "--why", "o_proj", "--json", "-"}));
        QVERIFY2(json.exit == 0, json.text());
        const auto story = QJsonDocument::fromJson(json.out.toUtf8()).array().at(0).toObject();
        const auto kernel = story["kernels"].toArray().at(0).toObject();
        QVERIFY2(kernel["terms"].toArray().size() > 2 && kernel["seconds"].toDouble() > 0, json.text());
        QCOMPARE(cli(runOf({"--why", "nonesuch"})).exit, 2);
        const Outcome roofline = cli(runOf({"--method", "roofline", "--why", "o_proj"}));
        QVERIFY2(roofline.exit == 0 && roofline.out.contains("ridge"), roofline.text());
        QCOMPARE(cli(runOf({"--method", "llm-analysis", "--why", "o_proj"})).exit, 1);
    }
    void jsonFitsTheSchemaAndStandsAlone() {
        const Outcome outcome = cli(runOf({"--json", "-", "--batch", "2"}));
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "run")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["scenario"]["workload"]["batch"], 2);
        QVERIFY(json["estimates"].size() >= 2);
        for (const Json& each : json["estimates"]) {
            QVERIFY(each["latency_low_s"] <= each["latency_s"] && each["latency_s"] <= each["latency_high_s"]);
            QVERIFY(!each["operators"].empty());
        }
    }
    void aWhatIfChangesTheAnswerAndIsSaid() {
        const auto latency = [](const Json& json) { return json["estimates"][0]["latency_s"].get<double>(); };
        const QStringList asked = {"--json", "-", "--method", "roofline"};
        const Json plain = Json::parse(cli(runOf(asked)).out.toStdString());
        const Outcome changed = cli(runOf(asked + QStringList{"--what-if", "{retype: MatMul, type: fp32}"}));
        QVERIFY2(changed.exit == 0, changed.text());
        for (const std::string& error : schemaErrors(changed.out.toStdString(), "run")) QFAIL(error.c_str());
        const Json json = Json::parse(changed.out.toStdString());
        QCOMPARE(json["scenario"]["workload"]["what_if"].size(), std::size_t(1));
        QVERIFY(!plain["scenario"]["workload"].contains("what_if"));
        QVERIFY(latency(json) > latency(plain));
        const Outcome wrong = cli(runOf({"--what-if", "{retype: Matmull, type: fp32}"}));
        QVERIFY2(wrong.exit == 2 && wrong.error.contains("Matmull"), wrong.text());
    }
    void importFitsTheSchema() {
        const Outcome outcome = cli({"import", "resnet-50", "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "import")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["unresolved"], 0);
        // He et al. (2016), version 1.5 as in torchvision: 4.09 G multiply-accumulates, 25.6 M parameters.
        QCOMPARE(json["macs"].get<std::int64_t>(), 4'089'184'256);
        QVERIFY(std::fabs(json["parameters"].get<double>() / 25'557'032 - 1) < 0.005);
        const Outcome table = cli({"import", "resnet-50"});
        QVERIFY2(table.out.contains("4,089,184,256"), table.text());
    }
    void aBatchIsSetOnAFile() {
        const QString vit = QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx");
        const auto figures = [&](const QStringList& more) {
            const Outcome outcome = cli(QStringList{"import", vit, "--json"} + more);
            const Json json = outcome.exit == 0 ? Json::parse(outcome.out.toStdString()) : Json();
            return std::pair(json.value("macs", 0.0), json.value("parameters", 0.0));
        };
        const auto one = figures({"--bind", "batch=1"}), eight = figures({"--batch", "8"});
        QVERIFY(one.first > 0);
        QCOMPARE(eight, std::pair(8 * one.first, one.second));
        const Outcome unlike = cli({"import", vit, "--bind", "batch=4", "--batch", "8"});
        QVERIFY2(unlike.exit != 0 && unlike.error.contains("leading extent"), unlike.text());
    }
    // The types of an ONNX file are chosen, or what cannot be chosen is said: never passed over.
    void typesAreSetOnAFile() {
        const QString vit = QStringLiteral(ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx");
        const auto weights = [&](const QStringList& more) {
            const Outcome outcome = cli(QStringList{"import", vit, "--json"} + more);
            return outcome.exit == 0 ? Json::parse(outcome.out.toStdString()).value("weight_bytes", 0.0) : 0.0;
        };
        const double own = weights({});
        QVERIFY(own > 0);
        // Indices among the constants, some bytes, keep their type.
        const double half = weights({"--weights", "fp16", "--activations", "fp16"});
        QVERIFY(half < 0.51 * own && half >= own / 2);
        QCOMPARE(half - weights({"--weights", "int8", "--activations", "int8"}), (own - half) / 2);
        // Activations take all of the graph with them, weights of products may have a type of their own.
        QCOMPARE(weights({"--activations", "fp16"}), half);
        const double narrow = weights({"--weights", "int8", "--activations", "fp16"});
        QVERIFY(narrow < 0.6 * half && narrow > half / 2);
        QVERIFY(weights({"--weights", "int8"}) < own / 2);
        for (const QStringList& more :
             {QStringList{"--weights", "fp16"}, QStringList{"--weights", "fp16", "--activations", "fp32"},
              QStringList{"--weights", "fp8-row", "--activations", "fp8-row"}}) {
            const Outcome refused = cli(QStringList{"import", vit} + more);
            QVERIFY2(refused.exit == 2 && refused.error.contains("--activations"), refused.text());
        }
    }
    void anArrayFitsTheSchema_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<double>("cycles");
        // Closed form of an output-stationary 32 × 32 array: 8 × 4 folds of 256 + 62 cycles, less one; the waits at 10
        // words per cycle are those of SCALE-Sim's golden file.
        QTest::newRow("ideal") << QStringList{"--config", "os.cfg", "--closed-form"} << 10175.0;
        QTest::newRow("ten words per cycle") << QStringList{"--config", "os.cfg"} << 52447.0;
        QTest::newRow("banks") << QStringList{"--config", "banked.cfg", "--layout", "gemm_layout.csv"} << 0.0;
    }
    void anArrayFitsTheSchema() {
        QFETCH(QStringList, more);
        QFETCH(double, cycles);
        const Outcome outcome = cli(QStringList{"array", "--topology", "gemm.csv", "--gemm", "--json"} + more,
                                    ORRERY_TEST_DATA "/scalesim");
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "array")) QFAIL(error.c_str());
        const Json compute = Json::parse(outcome.out.toStdString())["layers"][0]["compute"];
        if (cycles > 0) QCOMPARE(compute["Total Cycles"].get<double>(), cycles);
        QCOMPARE(compute["Total Cycles"].get<double>() - compute["Stall Cycles"].get<double>(), 10175.0);
        const Outcome text =
            cli(QStringList{"array", "--topology", "gemm.csv", "--gemm"} + more, ORRERY_TEST_DATA "/scalesim");
        QVERIFY2(text.exit == 0 && text.out.contains("Total Cycles"), text.text());
    }
    void whatIsSparseIsMappedAsSuch() {
        const QString file = path("sparse.yaml");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(
            "densities: {Inputs: 0.5}\nsparse_optimizations:\n  targets:\n    - name: filter_spad\n"
            "      action-optimization: [{type: skipping, options: [{target: Weights, condition-on: [Inputs]}]}]\n");
        out.close();
        const QStringList question{"map",   "--hardware",    "eyeriss-like", "--workload", "alexnet", "--weights",
                                   "int16", "--activations", "int16",        "--operator", "conv3",   "--evaluations",
                                   "50",    "--json"};
        const Outcome dense = cli(question, {}, 60000),
                      sparse = cli(question + QStringList{"--sparse", file}, {}, 60000);
        QVERIFY2(dense.exit == 0 && sparse.exit == 0, sparse.text());
        const Json all = Json::parse(dense.out.toStdString()), half = Json::parse(sparse.out.toStdString());
        QCOMPARE(half["macs"], all["macs"]);
        // Utilisation counts operations that are carried out: all of them, or about the half that is left.
        const auto work = [](const Json& counts) {
            return counts["cycles"].get<double>() * counts["utilization"].get<double>() * 168;
        };
        QVERIFY(std::abs(work(all) - all["macs"].get<double>()) < 1e-6 * work(all));
        QVERIFY2(work(half) < 0.99 * work(all), sparse.text());
        const Outcome unknown = cli(question + QStringList{"--sparse", ORRERY_TEST_DATA "/timeloop/product.yaml"});
        QVERIFY2(unknown.exit == 1 && unknown.error.contains("densities"), unknown.text());
        const Outcome missing = cli(question + QStringList{"--sparse", "/no/such.yaml"});
        QVERIFY2(missing.exit == 1 && missing.error.contains("/no/such.yaml"), missing.text());
    }
    void anArrayWithoutItsLayoutSaysSo() {
        const Outcome outcome =
            cli({"array", "--config", "banked.cfg", "--topology", "gemm.csv", "--gemm"}, ORRERY_TEST_DATA "/scalesim");
        QVERIFY2(outcome.exit == 1 && outcome.error.contains("layout file"), outcome.text());
    }
    void settingAnAttributeChangesTheAnswer() {
        const auto latency = [&](const QStringList& more) {
            const Outcome outcome =
                cli(runOf(QStringList{"--phase", "decode", "--method", "roofline", "--json", "-"} + more));
            return Json::parse(outcome.out.toStdString())["estimates"][0]["latency_s"].get<double>();
        };
        // Decoding is bound by memory: twice the bandwidth halves it.
        const double usual = latency({}), twice = latency({"--set", "hbm2e.bandwidth=4.078 TB/s"});
        QVERIFY2(std::fabs(usual / twice - 2) < 0.02, qPrintable(QString("%1 against %2").arg(usual).arg(twice)));
        QVERIFY(latency({"--batch", "64"}) > usual);
        QVERIFY(latency({"--weights", "int4"}) < usual);
    }
    void aReportFolderHasEverything() {
        const Outcome outcome =
            cli(runOf({"--out", path("report/deep"), "--json", path("own.json"), "--phase", "decode"}));
        QVERIFY2(outcome.exit == 0, outcome.text());
        const QDir report(path("report/deep"));
        for (const char* name :
             {"report.html", "estimates.csv", "run.json", "operators-roofline.csv", "trace-roofline.json",
              "operators-hierarchical-roofline.csv", "trace-llm-inference.json"}) {
            QVERIFY2(report.exists(name), name);
        }
        for (const QString& trace : report.entryList({"trace-*.json"})) {
            QVERIFY(
                !Json::parse(readFile(report.filePath(trace).toStdString()).value(), nullptr, false).is_discarded());
        }
        QCOMPARE(readFile(path("own.json").toStdString()).value(),
                 readFile(report.filePath("run.json").toStdString()).value());
        QVERIFY(readFile(report.filePath("report.html").toStdString())->find("Llama-2 7B") != std::string::npos);
    }
    void aStudyIsStoredAndExportedAgain() {
        QVERIFY(saveFileAtomically(
            path("study.yaml").toStdString(),
            "orrery: study/1\nname: Sweep\nhardware: [a100-80-sxm]\nworkloads: [{source: llama-2-7b, phase: decode}]\n"
            "methods: [roofline, llm-inference]\nsweep: {batch: [1, 8], hbm2e.bandwidth: [1 TB/s, 2 TB/s]}\n"));
        const Outcome study = cli({"study", "study.yaml", "--out", "results"}, folder_.path());
        QVERIFY2(study.exit == 0 && study.out.count("roofline") == 4, study.text());
        const std::string json = readFile(path("results/run.json").toStdString()).value();
        for (const std::string& error : schemaErrors(json, "study")) QFAIL(error.c_str());
        QCOMPARE(Json::parse(json)["runs"].size(), std::size_t{4});

        const Outcome list = cli({"export", "results/runs.sqlite", "--list"}, folder_.path());
        QVERIFY2(list.exit == 0 && list.out.contains("finished") && list.out.contains("Sweep"), list.text());
        const Outcome again = cli({"export", "results/runs.sqlite", "--format", "json"}, folder_.path());
        QCOMPARE(again.out.toStdString(), json);
        const Outcome csv = cli({"export", "results/runs.sqlite", "--format", "csv"}, folder_.path());
        QCOMPARE(csv.out.toStdString(), readFile(path("results/estimates.csv").toStdString()).value());
        const Outcome all = cli({"export", "results/runs.sqlite", "--run", "1", "--out", "again"}, folder_.path());
        QVERIFY2(all.exit == 0 && QDir(path("again")).exists("operators-4-llm-inference.csv"), all.text());
        const Outcome trace = cli({"export", "results/runs.sqlite", "--format", "trace"}, folder_.path());
        QVERIFY2(trace.exit == 1 && trace.error.contains("--timelines"), trace.text());
        QCOMPARE(cli({"export", "results/runs.sqlite", "--run", "9", "--format", "csv"}, folder_.path()).exit, 1);
    }
    void anInterruptKeepsWhatIsFinished() {
        QString values = "1";
        for (int i = 2; i <= 6000; ++i) values += QString(", %1").arg(i);
        QVERIFY(saveFileAtomically(
            path("long.yaml").toStdString(),
            ("orrery: study/1\nhardware: [h100-sxm]\nworkloads: [resnet-50]\nmethods: [roofline]\nsweep: {sm.count: [" +
             values + "]}\n")
                .toStdString()));
        QProcess process;
        process.setWorkingDirectory(folder_.path());
        process.start(ORRERY_CLI, {"study", "long.yaml", "--out", "interrupted"});
        QVERIFY(process.waitForStarted());
        const std::string database = path("interrupted/runs.sqlite").toStdString();
        const auto stored = [&]() -> std::size_t {
            if (!QFile::exists(QString::fromStdString(database))) return 0;
            auto store = RunStore::open(database);
            if (!store) return 0;
            const auto runs = (*store)->runs();
            return runs && !runs->empty() ? runs->front().results : 0;
        };
        QTRY_VERIFY_WITH_TIMEOUT(stored() > 0 || process.state() == QProcess::NotRunning, 60000);
        QCOMPARE(process.state(), QProcess::Running);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(60000));
        const QString error = QString::fromUtf8(process.readAllStandardError());
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 1, qPrintable(error));
        QVERIFY2(error.contains("interrupted"), qPrintable(error));
        QVERIFY(stored() > 0 && stored() < 6000);
        QVERIFY(QFile::exists(path("interrupted/estimates.csv")));
    }
    void aProjectIsListedAndUpgraded() {
        QVERIFY(QFile::copy(ORRERY_TEST_DATA "/projects/project_0.yaml", path("old.yaml")));
        const Outcome listed = cli({"project", "old.yaml"}, folder_.path());
        QVERIFY2(listed.exit == 0 && listed.out.contains("Small chip") && listed.error.contains("`devices`"),
                 listed.text());
        QVERIFY(readFile(path("old.yaml").toStdString())->find("project/0") != std::string::npos);
        QCOMPARE(cli({"project", "old.yaml", "--upgrade"}, folder_.path()).exit, 0);
        const Outcome after = cli({"project", "old.yaml"}, folder_.path());
        QVERIFY2(after.exit == 0 && !after.error.contains("`devices`") && after.out.contains("Chat on Small chip"),
                 after.text());
    }
    // Listed all the same: a project is put right by what stands in it.
    void aModelThatIsNotThereIsSaid() {
        QVERIFY(saveFileAtomically(path("gone.yaml").toStdString(),
                                   "orrery: project/1\nhardware: [{preset: h100-sxm}]\n"
                                   "workloads: [{name: A, source: gone/model.onnx}, {name: B, source: vgg-16}]\n"
                                   "scenarios: [{hardware: NVIDIA H100 SXM, workload: A}]\n"));
        const Outcome listed = cli({"project", "gone.yaml"}, folder_.path());
        QVERIFY2(listed.exit == 0 && listed.out.contains("workload  A"), listed.text());
        QVERIFY2(listed.error.contains("gone/model.onnx") && listed.error.contains("“A”"), listed.text());
        QVERIFY2(!listed.error.contains("vgg-16"), listed.text());
    }
    void aProjectIsAnswered() {
        QVERIFY(saveFileAtomically(path("two.yaml").toStdString(),
                                   "orrery: project/1\nname: Two\nhardware: [{preset: h100-sxm}]\n"
                                   "workloads: [{source: resnet-50, batch: 8}, {name: V, source: vgg-16}]\n"
                                   "scenarios: [{hardware: NVIDIA H100 SXM, workload: resnet-50}, "
                                   "{hardware: NVIDIA H100 SXM, workload: V}]\nmethods: [roofline, of-tomorrow]\n"));
        const Outcome outcome = cli({"project", "two.yaml", "--out", "two"}, folder_.path());
        QVERIFY2(outcome.exit == 0 && outcome.error.contains("`of-tomorrow`"), outcome.text());
        const std::string json = readFile(path("two/run.json").toStdString()).value();
        for (const std::string& error : schemaErrors(json, "study")) QFAIL(error.c_str());
        const Json runs = Json::parse(json)["runs"];
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(runs[0]["scenario"]["workload"]["batch"], 8);
        QCOMPARE(runs[1]["scenario"]["name"], "V on NVIDIA H100 SXM");
        QVERIFY(QFile::exists(path("two/trace-2-roofline.json")));
        QVERIFY(saveFileAtomically(path("none.yaml").toStdString(), "orrery: project/1\n"));
        QCOMPARE(cli({"project", "none.yaml", "--out", "none"}, folder_.path()).exit, 1);
    }
    void aFullDiskIsReported() {
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        process.start(ORRERY_CLI, {"methods"});
        QVERIFY(process.waitForFinished(10000));
        QCOMPARE(process.exitCode(), 1);
        QVERIFY(process.readAllStandardError().contains("cannot be written"));
    }
    void aReaderThatGoesAwayEndsItQuietly() {
        // The pause lets the reader go first; the status is what a shell sees of a program ended by SIGPIPE.
        const auto ended = [](const QString& command, const char* streams) {
            QTemporaryDir folder;
            QProcess shell;
            shell.setWorkingDirectory(folder.path());
            shell.start("sh", {"-c", QStringLiteral("{ sleep 0.2; '%1' %2 %3; echo $? > status; } | true")
                                         .arg(QStringLiteral(ORRERY_CLI), command, QLatin1String(streams))});
            shell.waitForFinished(20000);
            const auto text = [&](const char* name) {
                return QString::fromStdString(readFile(folder.filePath(name).toStdString()).value_or(""));
            };
            return std::pair(text("status").toInt(), text("said"));
        };
        for (const char* command : {"methods", "hardware", "run --hardware h100-sxm --workload llama-2-7b --json -"}) {
            const auto [status, said] = ended(command, "2> said");
            QCOMPARE(status, 128 + SIGPIPE);
            QVERIFY2(!said.contains("standard output"), qPrintable(said));
        }
        // Nor is a message to nobody a reason to crash.
        QCOMPARE(ended("run --hardware h100-sxm --workload nonesuch", "2>&1").first, 1);
        QCOMPARE(ended("nonesuch", "2>&1").first, 2);
    }
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
