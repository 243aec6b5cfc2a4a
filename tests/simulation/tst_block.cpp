#include "base/random.h"
#include "base/text/csv_stream.h"
#include "simulation/cpu/block/block.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <bit>
#include <cmath>

using namespace orrery;
using namespace orrery::block;

namespace {

std::shared_ptr<const Core> coreOf(const std::string& id) {
    static std::map<std::string, std::shared_ptr<const Core>> all;
    auto& one = all[id];
    if (!one) {
        auto loaded = loadCore(id);
        if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
        one = *loaded;
    }
    return one;
}

Prediction answerOf(const std::string& core, const std::string& hex) {
    Analyser analyser(coreOf(core));
    Code code;
    const auto bytes = readHex(hex);
    if (!bytes || !decode(*bytes, code)) qFatal("%s is no code", hex.c_str());
    Prediction answer;
    analyser.predict(code, answer);
    return answer;
}

double boundOf(const std::string& core, const std::string& hex, Bound bound) {
    return answerOf(core, hex).bounds[static_cast<std::size_t>(bound)];
}

bool near(double a, double b) {
    return std::fabs(a - b) < 1e-6 * std::max(1.0, std::fabs(b));
}

}  // namespace

class TestBlock : public QObject {
    Q_OBJECT

private slots:
    // The share of each instruction on each port: a spread of the loads that were balanced, on ports that may take it.
    void portsOfInstructionsSumToThePorts() {
        RandomStream random(7);
        for (int round = 0; round < 500; ++round) {
            std::vector<PortUse> uses;
            const std::uint64_t count = 1 + random.below(30);
            for (std::uint64_t i = 0; i < count; ++i)
                uses.push_back({static_cast<std::uint16_t>(1 + random.below(1023)),
                                0.5 * static_cast<double>(1 + random.below(8))});
            std::array<double, mostPorts> load{}, sum{};
            balancePorts(uses, load);
            const auto spread = spreadPorts(uses);
            QCOMPARE(spread.size(), uses.size());
            for (std::size_t u = 0; u < uses.size(); ++u) {
                double row = 0;
                for (std::size_t p = 0; p < mostPorts; ++p) {
                    QVERIFY(spread[u][p] >= -1e-9);
                    QVERIFY(spread[u][p] < 1e-9 || (uses[u].ports >> p & 1));
                    row += spread[u][p];
                    sum[p] += spread[u][p];
                }
                QVERIFY(near(row, uses[u].uops));
            }
            for (std::size_t p = 0; p < mostPorts; ++p) QVERIFY(near(sum[p], load[p]));
        }
        Analyser analyser(coreOf("skl"));
        Code code;
        // addsd xmm0, xmm1; mov [rdi], rax; xor eax, eax: floating point on 0 and 1, a store on 4 and an address port,
        // an idiom on none.
        QVERIFY(decode(readHex("f20f58c1 488907 31c0").value(), code));
        Prediction answer;
        analyser.predict(code, answer);
        const auto by = analyser.portsByInstruction();
        QCOMPARE(by.size(), std::size_t{3});
        QVERIFY(near(by[0][0] + by[0][1], 1));
        QVERIFY(near(by[1][4], 1));
        QVERIFY(near(by[1][2] + by[1][3] + by[1][7], 1));
        for (const double cycles : by[2]) QVERIFY(near(cycles, 0));
    }

    // Worked by hand from widths, ports and latencies of the manuals.
    void blocksWorkedByHand_data() {
        QTest::addColumn<QString>("core");
        QTest::addColumn<QString>("hex");
        QTest::addColumn<int>("bound");
        QTest::addColumn<double>("cycles");
        const auto row = [](const char* name, const char* core, const char* hex, Bound bound, double cycles) {
            QTest::newRow(name) << core << hex << static_cast<int>(bound) << cycles;
        };
        const Bound pre = Bound::Predecode, dec = Bound::Decode, issue = Bound::Issue, ports = Bound::Ports,
                    chain = Bound::Dependence;
        row("16 one-byte instructions a line, 4 cycles", "skl", "90", pre, 4.0 / 16);
        row("8 of two bytes a line, 2 cycles", "skl", "01c3", pre, 2.0 / 8);
        row("16 of three bytes in 3 lines: 1, 2 and 2 cycles", "skl", "4801d8", pre, 5.0 / 16);
        row("4 of four bytes a line, 1 cycle", "skl", "488b4308", pre, 1.0 / 4);
        row("16 of five bytes in 5 lines of 1 cycle", "skl", "b805000000", pre, 5.0 / 16);
        row("16 of seven bytes in 7 lines of 1 cycle", "skl", "48c7c005000000", pre, 7.0 / 16);
        row("2 of eight bytes a line, 1 cycle", "hsw", "488b8424d0010000", pre, 1.0 / 2);
        row("4 length-changing prefixes a line: 12 cycles and 1", "skl", "66b80500", pre, 13.0 / 4);
        row("66h without a 16-bit immediate changes no length", "skl", "6689d890", pre, 8.0 / 4 / 4);
        row("one multiplier", "skl", "480fafc3480fafcb", ports, 2);
        row("two loads on two ports", "skl", "488b03488b4b08", ports, 1);
        row("one store a cycle", "skl", "488903", ports, 1);
        row("four additions on four ports", "hsw", "4801d84801d94801da4801de", ports, 1);
        row("four additions on three ports", "ivb", "4801d84801d94801da4801de", ports, 4.0 / 3);
        row("two shifts on two ports", "skl", "48c1e00448c1e104", ports, 1);
        row("two shifts and three additions: four ports hold five", "skl", "48c1e00448c1e1044801da4801de4801df", ports,
            5.0 / 4);
        row("two products on two ports", "hsw", "0f59c10f59d3", ports, 1);
        row("two products on one port", "ivb", "0f59c10f59d3", ports, 2);
        row("two sums on two ports", "skl", "0f58c10f58d3", ports, 1);
        row("two sums on one port", "hsw", "0f58c10f58d3", ports, 2);
        row("two shuffles on port 5", "skl", "660f70c11b660f70d31b", ports, 2);
        row("two shuffles on two ports", "ivb", "660f70c11b660f70d31b", ports, 1);
        row("the divider of floats", "skl", "f30f5ec1", ports, 3);
        row("a zero idiom needs no port", "skl", "31c0", ports, 0);
        row("an eliminated move needs no port", "skl", "4889d8", ports, 0);
        row("general moves are not eliminated on Ice Lake", "icl", "4889d8", ports, 1.0 / 4);
        row("a NOP needs no port, not even for its operand", "ivb", "0f1f00", ports, 0);
        row("SETcc takes the first decoder", "skl", "0f94c0", dec, 1);
        row("five simple instructions, four decoders", "skl", "9090909090", dec, 5.0 / 4);
        row("TEST may not use Haswell's last decoder", "hsw", "4885c04989c48b4c240c", dec, 1);
        row("but Skylake's", "skl", "4885c04989c48b4c240c", dec, 3.0 / 4);
        row("eight slots, four wide", "skl", "9090909090909090", issue, 2);
        row("eight slots, five wide", "icl", "9090909090909090", issue, 8.0 / 5);
        row("a comparison and its branch are one slot", "skl", "4839d87400", issue, 1.0 / 4);
        row("push, pop and the sum for the stack pointer between", "skl", "4883c410415e", issue, 3.0 / 4);
        row("an indexed load splits off a three-operand sum", "skl", "c5f058048b", issue, 2.0 / 4);
        row("a plain one does not", "skl", "c5f05803", issue, 1.0 / 4);
        row("Ivy Bridge splits every indexed store", "ivb", "48890c0b", issue, 2.0 / 4);
        row("Haswell does not", "hsw", "48890c0b", issue, 1.0 / 4);
        row("a sum waits one cycle", "skl", "4801d8", chain, 1);
        row("a product waits three", "skl", "480fafc3", chain, 3);
        row("a cleared register waits for nothing", "skl", "31c04801d8", chain, 0);
        row("a sum of floats, Skylake", "skl", "0f58c1", chain, 4);
        row("a sum of floats, Haswell", "hsw", "0f58c1", chain, 3);
        row("a product of floats, Haswell", "hsw", "0f59c1", chain, 5);
        row("a chased pointer, no index", "skl", "488b00", chain, 4);
        row("a chased pointer with an index", "skl", "488b0408", chain, 5);
        row("the carry, one cycle", "skl", "4811d8", chain, 1);
        row("the carry, two cycles", "hsw", "4811d8", chain, 2);
        row("POPCNT waits for its target", "skl", "f3480fb8c3", chain, 3);
        row("but not on Ice Lake", "icl", "f3480fb8c3", chain, 0);
        row("a sum in memory: forwarding and one", "skl", "480103", chain, 5);
        row("a sum in memory, Haswell", "hsw", "480103", chain, 6);
        row("a store and its load", "skl", "488903488b03", chain, 4);
        row("a store and a load beside it", "skl", "48894308488b03", chain, 0);
        row("push and pop of one register", "hsw", "5058", chain, 5);
        row("the sum for the stack pointer is in its chain", "skl", "4883c410415e", chain, 2);
    }
    void blocksWorkedByHand() {
        QFETCH(QString, core);
        QFETCH(QString, hex);
        QFETCH(int, bound);
        QFETCH(double, cycles);
        const double found = boundOf(core.toStdString(), hex.toStdString(), static_cast<Bound>(bound));
        QVERIFY2(near(found, cycles), qPrintable(QString("%1, not %2").arg(found).arg(cycles)));
    }
    // A load of eight bytes of which a store wrote one waits until that has retired and written.
    void aStoreInsideALoadBlocksIt() { QVERIFY(boundOf("skl", "8803488b03", Bound::Dependence) >= 12); }
    void theAnswerIsTheLargestBoundAndSaysWhich() {
        const auto answer = answerOf("skl", "480fafc3");
        QCOMPARE(answer.binding, Bound::Dependence);
        QVERIFY(near(answer.cycles, 3) && answer.low <= answer.cycles && answer.cycles <= answer.high);
        QCOMPARE(answerOf("skl", "488903488943084889431048894318").binding, Bound::Ports);
    }
    // A load, a sum and a store of the same data: three steps, and their cycles are the bound.
    void theChainIsListedStepByStep() {
        Analyser analyser(coreOf("skl"));
        Code code;
        Prediction answer;
        const auto sum = [&](const char* hex) {
            if (!decode(*readHex(hex), code)) return -1.0;
            analyser.predict(code, answer);
            double cycles = 0;
            for (const auto& link : analyser.chain(code)) cycles += link.cycles;
            return cycles;
        };
        QVERIFY(near(sum("488b034801c8488903"), 5) && near(answer.bounds[4], 5));
        const auto chain = analyser.chain(code);
        QCOMPARE(chain.size(), std::size_t(3));
        QVERIFY(chain[0].instruction != chain[1].instruction && chain[1].instruction != chain[2].instruction);
        QVERIFY(near(sum("480fafc34801d8"), 4));
        QVERIFY(near(sum("488b034889c1"), 0) && analyser.chain(code).empty());
    }
    // Two copies are the same stream: lines fall alike, and twice the work takes twice the time.
    void aBlockTwiceIsTwiceTheWork() {
        RandomStream random(5, 0);
        for (int i = 0; i < 300; ++i) {
            std::string hex;
            static constexpr std::array<const char*, 9> parts{
                "90", "01c3", "4801d8", "488b4308", "b805000000", "66b80500", "0fafc3", "4889c3", "488b8424d0010000"};
            const int count = 1 + static_cast<int>(random.below(9));
            for (int k = 0; k < count; ++k) hex += parts[random.below(parts.size())];
            const auto once = answerOf("hsw", hex), twice = answerOf("hsw", hex + hex);
            for (const Bound bound : {Bound::Predecode, Bound::Issue, Bound::Ports}) {
                const auto b = static_cast<std::size_t>(bound);
                QVERIFY2(near(2 * once.bounds[b], twice.bounds[b]), (hex + " " + std::string(toText(bound))).c_str());
            }
        }
    }
    // Against all subsets of the ports, not only unions of what occurs.
    void portBoundsAreThoseOfAllSetsOfPorts() {
        RandomStream random(11, 0);
        for (int i = 0; i < 500; ++i) {
            std::vector<PortUse> uses;
            const int count = 1 + static_cast<int>(random.below(8));
            double sum = 0;
            for (int k = 0; k < count; ++k) {
                uses.push_back({static_cast<std::uint16_t>(1 + random.below(255)), 1.0 + double(random.below(3))});
                sum += uses.back().uops;
            }
            double most = 0;
            for (unsigned set = 1; set < 256; ++set) {
                double inside = 0;
                for (const auto& use : uses) inside += (use.ports & ~set) == 0 ? use.uops : 0;
                most = std::max(most, inside / std::popcount(set));
            }
            QVERIFY(near(portBound(uses), most));
            std::array<double, mostPorts> load;
            balancePorts(uses, load);
            double total = 0, top = 0;
            for (const double each : load) total += each, top = std::max(top, each);
            QVERIFY(near(total, sum) && near(top, most));
            auto more = uses;
            more.push_back({uses.front().ports, 1});
            QVERIFY(portBound(more) >= portBound(uses));
        }
    }
    void aWiderCoreIsNeverSlower() {
        for (const char* hex : {"4801d84801d94801da4801de", "488b03488b4b084801d8480fafc3", "0f94c04801d8488903"}) {
            double before = 1e9;
            for (const double width : {2.0, 3.0, 4.0, 6.0, 8.0}) {
                auto core = std::make_shared<Core>(*coreOf("skl"));
                core->rules.issueWidth = width;
                Analyser analyser(core);
                Code code;
                QVERIFY(decode(*readHex(hex), code).has_value());
                Prediction answer;
                analyser.predict(code, answer);
                QVERIFY(answer.cycles <= before);
                before = answer.cycles;
            }
        }
    }
    void randomBytesAreCodeOrADiagnostic() {
        RandomStream random(17, 0);
        Analyser skl(coreOf("skl")), zen(coreOf("zen"));
        Code code;
        Prediction answer;
        int read = 0;
        for (int i = 0; i < 20000; ++i) {
            std::vector<std::uint8_t> bytes(1 + random.below(24));
            for (auto& each : bytes) each = static_cast<std::uint8_t>(random.below(256));
            const auto ok = decode(bytes, code);
            if (!ok) {
                QCOMPARE(ok.error().code, std::string("block.unknown-instruction"));
                QVERIFY(ok.error().place.path.starts_with("byte "));
                continue;
            }
            ++read;
            for (Analyser* analyser : {&skl, &zen}) {
                analyser->predict(code, answer);
                QVERIFY(std::isfinite(answer.cycles) && answer.cycles > 0 && answer.cycles < 1e5);
            }
        }
        QVERIFY(read > 500);
    }
    void mistakesAreToldWithTheirPlace() {
        const auto digit = readHex("4801d8 4g");
        QVERIFY(!digit && digit.error().code == "block.hex" && digit.error().place.column == 9);
        QCOMPARE(readHex("480").error().code, std::string("block.hex"));
        QCOMPARE(readHex(" ").error().code, std::string("block.empty"));
        QCOMPARE(readHex(std::string(10000, '9')).error().code, std::string("block.too-long"));
        Code code;
        const auto cut = decode(*readHex("4801d8480f"), code);
        QVERIFY(!cut && cut.error().place.path == "byte 3");
        QCOMPARE(loadCore("pentium").error().code, std::string("block.unknown-core"));
    }
    void portTablesOfOthersAreReadAndRefusedByLine() {
        const QTemporaryDir folder;
        const auto write = [&](const char* text) {
            QFile file(folder.filePath("t.csv"));
            if (file.open(QIODevice::WriteOnly)) file.write(text);
            return file.fileName().toStdString();
        };
        // One port for what has four: the bound follows the table.
        const auto own =
            loadCore("skl", write("instruction,ports,latency\n\"ADD_01 (R64, R64)\",3*p1,REG0>REG0:7 REG1>REG0:7\n"));
        QVERIFY(own.has_value());
        Analyser analyser(*own);
        Code code;
        Prediction answer;
        QVERIFY(decode(*readHex("4801d8"), code).has_value());
        analyser.predict(code, answer);
        QVERIFY(near(answer.bounds[3], 3) && near(answer.cycles, 7) && answer.unknown.empty());
        QVERIFY(decode(*readHex("480fafc3"), code).has_value());
        analyser.predict(code, answer);
        QCOMPARE(answer.unknown.size(), std::size_t(1));
        const auto ports =
            loadCore("skl", write("instruction,ports\n\"ADD (R64, R64)\",1*p0\n\"SUB (R64, R64)\",1*x9\n"));
        QVERIFY(!ports && ports.error().code == "block.ports" && ports.error().place.line == 3);
        QCOMPARE(loadCore("skl", write("name,ports\nADD,1*p0\n")).error().code, std::string("block.table"));
        QVERIFY(!loadCore("skl", write("")));
    }
    void everyCoreThatShipsLoads() {
        QVERIFY(coreIds().size() >= 7);
        for (const auto& id : coreIds()) QVERIFY2(loadCore(id).has_value(), id.c_str());
    }
    void formsAreWrittenAsTheyAreRead() {
        for (const auto& form : coreOf("skl")->forms) {
            FormKey key, again;
            QVERIFY2(readForm(form.name, key) && readForm(toText(key), again) && key == again, form.name.c_str());
        }
    }
    void mixesGrowWithTheirInstructions() {
        const auto core = coreOf("skl");
        const auto few = readMix("0 1 2", core->mixes), more = readMix("0 1 2 2", core->mixes);
        QVERIFY(few && more);
        QVERIFY(predictMix(core->mixes, *few).cycles <= predictMix(core->mixes, *more).cycles);
        QCOMPARE(readMix("0 x", core->mixes).error().place.column, 3);
        QCOMPARE(readMix("0 99999", core->mixes).error().code, std::string("mix.unknown-id"));
        QCOMPARE(readMix("", core->mixes).error().code, std::string("mix.ids"));
    }
    // Measured blocks of BHive: error, order, coverage and interval as the handbook states them.
    void measuredBlocksAreMet_data() {
        QTest::addColumn<QString>("core");
        for (const char* core : {"ivb", "hsw", "skl"}) QTest::newRow(core) << core;
    }
    void measuredBlocksAreMet() {
        QFETCH(QString, core);
        const std::string path = std::string(ORRERY_REFERENCE) + "/cpu/bhive/blocks.csv";
        if (!QFile::exists(QString::fromStdString(path))) QSKIP("no reference data");
        auto stream = CsvStream::open(path);
        QVERIFY(stream && stream->next().value_or(false));
        std::size_t column = 0;
        for (std::size_t i = 0; i < stream->cells().size(); ++i)
            column = stream->cells()[i] == core.toStdString() ? i : column;
        Analyser analyser(coreOf(core.toStdString()));
        Code code;
        Prediction answer;
        double error = 0;
        std::vector<std::pair<double, double>> order;
        int count = 0, inside = 0, known = 0;
        for (int row = 0; stream->next().value_or(false); ++row) {
            if (stream->cells()[column].empty()) continue;
            const double measured = std::stod(std::string(stream->cells()[column])) / 100;
            QVERIFY(decode(*readHex(stream->cells()[0]), code).has_value());
            analyser.predict(code, answer);
            error += std::fabs(answer.cycles - measured) / measured;
            inside += answer.low <= measured && measured <= answer.high;
            known += answer.unknown.empty();
            if (row % 9 == 0) order.emplace_back(answer.cycles, measured);
            ++count;
        }
        // Kendall's tau-b over every ninth block: pairs in the same order less pairs in the other one.
        double agree = 0, tiedOurs = 0, tiedTheirs = 0, pairs = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double ours = order[i].first - order[j].first, theirs = order[i].second - order[j].second;
                agree += ours * theirs > 0 ? 1 : ours * theirs < 0 ? -1 : 0;
                tiedOurs += ours == 0, tiedTheirs += theirs == 0, ++pairs;
            }
        }
        const double tau = agree / std::sqrt((pairs - tiedOurs) * (pairs - tiedTheirs));
        qInfo("%s: %.2f %% of %d blocks, tau %.3f", qPrintable(core), 100 * error / count, count, tau);
        QVERIFY2(tau > 0.94 - 0.003, qPrintable(QString::number(tau)));  // the sample's own spread
        QVERIFY2(error / count < 0.055, qPrintable(QString("%1 %").arg(100 * error / count)));
        QVERIFY2(inside > 0.85 * count && inside < 0.95 * count,
                 qPrintable(QString("%1 of %2").arg(inside).arg(count)));
        QVERIFY(known > 0.98 * count);
    }
};

QTEST_GUILESS_MAIN(TestBlock)
#include "tst_block.moc"
