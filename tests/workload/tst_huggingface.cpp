// Is a config.json read as the model that its authors published? And is a wrong one refused with a place and a hint?

#include "workload/importers.h"
#include "workload/workload.h"

#include <QDirIterator>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

QString configOf(const QString& model) {
    return QString(ORRERY_TEST_DATA "/huggingface/%1/config.json").arg(model);
}

WorkloadPtr load(const QString& model, WorkloadOptions options = {}) {
    auto loaded = loadWorkload({configOf(model).toStdString(), options});
    if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
    return loaded ? *loaded : nullptr;
}

}  // namespace

class TestHuggingFace : public QObject {
    Q_OBJECT
private slots:
    // Counts that the hub shows for each checkpoint's tensors; DeepSeek-V3's of its main model, without the layer that
    // predicts a second token.
    void parameters_data() {
        QTest::addColumn<double>("published");
        QTest::addColumn<double>("share");
        QTest::newRow("Llama-2-7b-hf") << 6738415616.0 << 0.0;
        QTest::newRow("Meta-Llama-3-8B") << 8030261248.0 << 0.0;
        QTest::newRow("Mistral-7B-v0.1") << 7241732096.0 << 0.0;
        QTest::newRow("Mixtral-8x7B-v0.1") << 46702792704.0 << 0.0;
        QTest::newRow("Qwen2-7B") << 7615616512.0 << 0.0;
        QTest::newRow("Qwen1.5-MoE-A2.7B") << 14315784192.0 << 0.0;
        QTest::newRow("Qwen3-8B") << 8190735360.0 << 0.0;
        QTest::newRow("Qwen3-30B-A3B") << 30532122624.0 << 0.0;
        QTest::newRow("gemma-2b") << 2506172416.0 << 0.0;
        QTest::newRow("gemma-2-9b") << 9241705984.0 << 0.0;
        QTest::newRow("gemma-3-1b-pt") << 999885952.0 << 0.0;
        QTest::newRow("gpt2") << 124439808.0 << 0.0;
        QTest::newRow("gpt-neox-20b") << 20554567680.0 << 0.0;
        QTest::newRow("opt-125m") << 125239296.0 << 0.0;
        QTest::newRow("opt-350m") << 331196416.0 << 0.0;
        QTest::newRow("bert-base-uncased") << 109482240.0 << 0.0;
        QTest::newRow("DeepSeek-V2") << 235741434880.0 << 0.0;
        QTest::newRow("DeepSeek-V2-Lite") << 15706484224.0 << 0.0;
        QTest::newRow("DeepSeek-V3") << 671e9 << 0.005;
        QTest::newRow("Phi-3-mini-4k-instruct") << 3821079552.0 << 0.0;
    }
    void parameters() {
        QFETCH(double, published);
        QFETCH(double, share);
        const auto workload = load(QTest::currentDataTag(), {.sequence = 32});
        QVERIFY(workload);
        const double counted = workload->totals.parameters;
        QVERIFY2(std::abs(counted - published) <= share * published, qPrintable(QString::number(counted, 'f', 0)));
        QCOMPARE(workload->totals.unresolved, 0.0);
        QCOMPARE(workload->name, std::string(QTest::currentDataTag()));
    }
    void aConfigAndTheBuiltInModelAreTheSame_data() {
        QTest::addColumn<QString>("config");
        QTest::newRow("llama-2-7b") << "Llama-2-7b-hf";
        QTest::newRow("llama-3-8b") << "Meta-Llama-3-8B";
        QTest::newRow("mixtral-8x7b") << "Mixtral-8x7B-v0.1";
        QTest::newRow("qwen3-30b-a3b") << "Qwen3-30B-A3B";
        QTest::newRow("gemma-2-9b") << "gemma-2-9b";
        QTest::newRow("gpt-2") << "gpt2";
        QTest::newRow("deepseek-v3") << "DeepSeek-V3";
    }
    void aConfigAndTheBuiltInModelAreTheSame() {
        QFETCH(QString, config);
        for (const Phase phase : {Phase::Forward, Phase::Prefill, Phase::Decode}) {
            const WorkloadOptions options{.batch = 4, .sequence = 512, .phase = phase};
            const auto read = load(config, options);
            const auto built = loadWorkload({QTest::currentDataTag(), options});
            QVERIFY(read && built);
            QCOMPARE(read->totals.macs, (*built)->totals.macs);
            QCOMPARE(read->totals.weightBytesRead, (*built)->totals.weightBytesRead);
            QCOMPARE(read->totals.kvBytes, (*built)->totals.kvBytes);
            QCOMPARE(read->totals.activationBytes, (*built)->totals.activationBytes);
        }
    }
    void aSlidingWindowBoundsTheCache() {
        const auto mistral = load("Mistral-7B-v0.1", {.sequence = 20000, .phase = Phase::Decode});
        QCOMPARE(mistral->totals.kvBytes, 4096.0 * 128 * 1024);  // 32 layers × 2 × 8 heads × 128 × 2 bytes
    }
    void theLanguagePartOfAModelThatSeesIsReadAlone() {
        // Gemma 3 4B: 4.30 B on the hub, of which SigLIP's 0.417 B and the projector's 0.003 B are not text.
        const auto gemma = load("gemma-3-4b-pt", {.sequence = 32});
        QVERIFY(gemma);
        QVERIFY2(std::abs(gemma->totals.parameters / 3.880e9 - 1) < 0.001,
                 qPrintable(QString::number(gemma->totals.parameters, 'f', 0)));
        QCOMPARE(gemma->warnings.front().code, std::string("huggingface.text-only"));
        QCOMPARE(gemma->warnings.front().place.line, 6);
    }
    void aQuantisedCheckpointIsNoted() {
        const auto deepSeek = load("DeepSeek-V3", {.sequence = 32});
        QVERIFY(!deepSeek->warnings.empty());
        QCOMPARE(deepSeek->warnings.front().code, std::string("huggingface.quantised"));
        QCOMPARE(deepSeek->warnings.front().severity, Severity::Note);
    }
    void anEncoderHasNoDecodePhase() {
        const auto wrong = loadWorkload({configOf("bert-base-uncased").toStdString(), {.phase = Phase::Decode}});
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().place.path, std::string("options/phase"));
    }

    void badFilesAreRefused_data() {
        QTest::addColumn<QString>("path");
        QDirIterator files(ORRERY_TEST_DATA "/bad/json", {"*.json"}, QDir::Files);
        while (files.hasNext()) {
            const QString path = files.next();
            QTest::newRow(qPrintable(files.fileName())) << path;
        }
    }
    void badFilesAreRefused() {
        QFETCH(QString, path);
        const auto wrong = loadWorkload({path.toStdString(), {}});
        QVERIFY(!wrong);
        const Diagnostic& why = wrong.error();
        QCOMPARE(why.severity, Severity::Error);
        QVERIFY2(why.code.starts_with("json.") || why.code.starts_with("huggingface."), why.code.c_str());
        QVERIFY(why.code != "huggingface.failed");
        QCOMPARE(why.place.file, path.toStdString());
        QVERIFY2(why.place.line > 0, toText(why).c_str());
        QVERIFY(!why.message.empty());
        QVERIFY(!why.expected.empty());
        QVERIFY(!why.hint.empty());
    }
    void thereAreBadFiles() { QVERIFY(QDir(ORRERY_TEST_DATA "/bad/json").count() > 20); }
    void complaintsPointAtTheKey() {
        const auto wrong = loadWorkload({ORRERY_TEST_DATA "/bad/json/negative_layers.json", {}});
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().place.path, std::string("num_hidden_layers"));
        QFile file(ORRERY_TEST_DATA "/bad/json/negative_layers.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = file.readAll().split('\n');
        QVERIFY(lines[wrong.error().place.line - 1].contains("num_hidden_layers"));
    }
    void complaintsOfTheParserPointAtTheSpot() {
        const auto number = loadWorkload({ORRERY_TEST_DATA "/bad/json/number_overflow.json", {}});
        QCOMPARE(number.error().place.line, 2);
        QCOMPARE(number.error().place.column, 17);
        const auto comment = loadWorkload({ORRERY_TEST_DATA "/bad/json/comment.json", {}});
        QCOMPARE(comment.error().place.line, 1);
        QCOMPARE(comment.error().place.column, 3);
    }
    void aHugeFileIsNotRead() {
        QTemporaryDir folder;
        const QString path = folder.filePath("config.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(file.resize(20 << 20));
        file.close();
        const auto wrong = loadWorkload({path.toStdString(), {}});
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().code, std::string("json.too-large"));
    }
    void aMissingFileAndAFolderAreRefused() {
        const auto missing = loadWorkload({"/no/such/config.json", {}});
        QVERIFY(!missing);
        QCOMPARE(missing.error().code, std::string("workload.unknown"));
        const auto folder = loadWorkload({ORRERY_TEST_DATA, {}});
        QVERIFY(!folder);
        QCOMPARE(folder.error().code, std::string("workload.not-a-file"));
    }
};

QTEST_GUILESS_MAIN(TestHuggingFace)
#include "tst_huggingface.moc"
