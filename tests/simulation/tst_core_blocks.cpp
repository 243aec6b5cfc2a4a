#include "base/text/csv_stream.h"
#include "simulation/cpu/block/block.h"
#include "simulation/cpu/core/block_ops.h"

#include <QFile>
#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

struct BothModels {
    double bound = 0;      ///< the block model's, of a loop: issue, ports, dependence
    double simulated = 0;  ///< cycles per iteration
    bool known = false;
};

class BlockPair {
public:
    explicit BlockPair(const std::string& core) : core_(*block::loadCore(core)), analyser_(core_) {
        const auto like = loadMachine("skylake-server");
        if (!like) qFatal("%s", toText(like.error()).c_str());
        machine_ = machineOf(*core_, *like);
        machine_.caches.resize(1);  // all lies in the first
    }
    BothModels of(std::string_view hex) {
        BothModels both;
        const auto bytes = block::readHex(hex);
        block::Code code;
        if (!bytes || !block::decode(*bytes, code)) return both;
        block::Prediction answer;
        analyser_.predict(code, answer);
        both.known = answer.unknown.empty();
        for (const auto bound : {block::Bound::Issue, block::Bound::Ports, block::Bound::Dependence})
            both.bound = std::max(both.bound, answer.bounds[static_cast<std::size_t>(bound)]);
        both.simulated = cyclesOf(machine_, opsOf(*core_, code), 400);
        return both;
    }

private:
    std::shared_ptr<const block::Core> core_;
    block::Analyser analyser_;
    Machine machine_;
};

}  // namespace

class TestCoreBlocks : public QObject {
    Q_OBJECT

private slots:
    // Loops whose data lie in the first cache: both models say the same within 3 %.
    void loopsEqualTheBlockModel_data() {
        QTest::addColumn<QString>("hex");
        QTest::newRow("a chain of two") << "4801d84829d8";
        QTest::newRow("four additions") << "4801d84801d94801da4801de";
        QTest::newRow("a product") << "480fafc3";
        QTest::newRow("two loads") << "488b03488b4b08";
        QTest::newRow("a store") << "488903";
        QTest::newRow("shifts and additions") << "48c1e00448c1e1044801da4801de4801df";
        QTest::newRow("two products of floats") << "0f59c10f59d3";
        QTest::newRow("a sum of floats") << "0f58c1";
        QTest::newRow("scale and add a stream, store it elsewhere") << "0f10030f59c10f58c20f118300fcffff4883c310";
        QTest::newRow("dot product of two chains") << "0f10030f59c30f58e00f104b100f59cb0f58e94883c320";
        QTest::newRow("loads and additions") << "488b4308488b4b104801c848894318";
        QTest::newRow("no operations") << "90909090";
    }
    void loopsEqualTheBlockModel() {
        QFETCH(QString, hex);
        for (const char* core : {"skl", "hsw"}) {
            BlockPair models(core);
            const auto both = models.of(hex.toStdString());
            QVERIFY2(both.known && both.bound > 0, core);
            QVERIFY2(
                std::fabs(both.simulated - both.bound) <= 0.03 * both.bound,
                qPrintable(QString("%1: %2 simulated, %3 by bounds").arg(core).arg(both.simulated).arg(both.bound)));
        }
    }

    // The same over blocks of real programs, every 120th: what differs are chains through several registers of
    // different latency, and bounds that meet.
    void blocksOfProgramsMostlyAgree() {
        const QString file = QStringLiteral(ORRERY_REFERENCE "/cpu/bhive/blocks.csv");
        if (!QFile::exists(file)) QSKIP("no reference data");
        BlockPair models("skl");
        auto stream = CsvStream::open(file.toStdString());
        QVERIFY(stream.has_value() && *stream->next());
        std::size_t column = 0;
        while (stream->cells()[column] != "hex") ++column;
        int row = 0, compared = 0, near = 0, faster = 0;
        while (*stream->next()) {
            if (row++ % 120 != 0) continue;
            const auto both = models.of(stream->cells()[column]);
            if (!both.known || both.bound <= 0) continue;
            ++compared;
            near += std::fabs(both.simulated - both.bound) <= 0.03 * both.bound;
            faster += both.simulated < 0.97 * both.bound;
        }
        QVERIFY(compared > 200);
        qInfo("%d of %d within 3 %%, %d faster than the bounds", near, compared, faster);
        QVERIFY(near >= 80 * compared / 100);
    }
};

QTEST_GUILESS_MAIN(TestCoreBlocks)
#include "tst_core_blocks.moc"
