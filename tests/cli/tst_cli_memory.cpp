// DRAM and processing in memory on the command line: its JSON keeps its schema, a slip is refused with place and hint.

#include "support/cli_process.h"
#include "support/ruled_dram_fixture.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery::test;

class TestCliMemory : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    void write(const char* name, const std::string& text) {
        QFile file(folder_.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text.data(), static_cast<qint64>(text.size()));
    }
    Outcome dram(const QStringList& more) {
        return cli(QStringList{"dram", "--config", "ddr4.yaml", "--trace", "two.trace"} + more, folder_.path());
    }

private slots:
    void initTestCase() {
        write("ddr4.yaml", orrery::dramtest::ddr4Yaml());
        write("two.trace", "R 0x0\nR 0x20000\n");
        write("cut.trace", "R 0x0\nR 0x");
    }
    void jsonKeepsItsSchema() {
        const Outcome outcome = dram({"--no-refresh", "--mapping", "RoBaRaCoCh", "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "dram")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["done_cycles"], (Json{49, 123}));
        QCOMPARE(json["row_conflicts"], Json(1));
        QCOMPARE(json["commands"]["ACT"], Json(2));
        QCOMPARE(json["page"], Json("open"));
        QVERIFY(!json["bounds"][0]["words"].get<std::string>().empty());
    }
    // The parts of the energy are its sum, to the last bit; another width of device is another device, or none.
    void energyAddsUp() {
        const Outcome outcome = dram({"--json"});
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json energy = Json::parse(outcome.out.toStdString())["energy"];
        QCOMPARE(energy["currents"], Json("ddr4-8gb-x8-3200"));
        double sum = 0;
        for (const Json& part : energy["parts"]) sum += part["joules"].get<double>();
        QCOMPARE(sum, energy["joules"].get<double>());
        QVERIFY(std::abs(energy["pj_per_bit"].get<double>() / (sum * 1e12 / (2 * 512)) - 1) < 1e-12);
        std::string text = orrery::dramtest::ddr4Yaml();
        const std::string sixteen = "[1, 1, 4, 4, 65536";
        text.replace(text.find("dq: 8"), 5, "dq: 16");
        std::string wideText = text;  // as many bits behind twice the pins in half as many banks
        wideText.replace(wideText.find(sixteen), sixteen.size(), "[1, 1, 2, 4, 65536");
        write("wide.yaml", wideText);
        text.replace(text.find("dq: 16"), 6, "dq: 32");
        write("odd.yaml", text);
        const auto of = [&](const char* config, const QStringList& more) {
            return cli(QStringList{"dram", "--config", config, "--trace", "two.trace"} + more, folder_.path());
        };
        const Json wide = Json::parse(of("wide.yaml", {"--json"}).out.toStdString());
        QCOMPARE(wide["energy"]["currents"], Json("ddr4-8gb-x16-3200"));
        QCOMPARE(wide["energy"]["devices_per_rank"], Json(4.0));
        const Outcome odd = of("odd.yaml", {"--json"});
        for (const std::string& error : schemaErrors(odd.out.toStdString(), "dram")) QFAIL(error.c_str());
        QVERIFY(Json::parse(odd.out.toStdString())["energy"].is_null());
        QVERIFY2(of("odd.yaml", {}).out.contains("no supply currents of DDR4-3200 with 32 data pins"),
                 of("odd.yaml", {}).text());
        // Currents of another device are taken where they are asked for, with a word of what differs.
        const Outcome other = of("odd.yaml", {"--currents", "ddr4-8gb-x8-3200"});
        QVERIFY2(other.out.contains("pJ per bit") && other.out.contains("warning: the currents are of 8 data pins") &&
                     other.out.contains("warning: the currents are of 8 Gb, the memory is of 32 Gb"),
                 other.text());
        const Outcome otherJson = of("odd.yaml", {"--currents", "ddr4-8gb-x8-3200", "--json"});
        for (const std::string& error : schemaErrors(otherJson.out.toStdString(), "dram")) QFAIL(error.c_str());
        QCOMPARE(Json::parse(otherJson.out.toStdString())["energy_warnings"].size(), std::size_t{2});
        QVERIFY(!dram({"--currents", "ddr4-8gb-x8-3200"}).out.contains("warning"));
        const Outcome unknown = dram({"--currents", "ddr9"});
        QVERIFY2(unknown.exit != 0 && unknown.error.contains("ddr4-8gb-x8-2400"), unknown.text());
    }
    // A closed page needs reads and writes that close their row, which this configuration has by name alone.
    void aClosedPageNeedsItsCommands() {
        const Outcome refused = dram({"--page", "closed"});
        QVERIFY2(refused.exit != 0 && refused.error.contains("RDA") && refused.error.contains("ddr4.yaml"),
                 refused.text());
        QVERIFY(dram({"--page", "ajar"}).error.contains("open or closed"));
        QVERIFY2(dram({"--page", "open"}).out.contains("no order of these requests takes less"), refused.text());
    }
    void textSaysWhatHeldItBack() {
        const Outcome outcome = dram({"--injection", "chain"});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("nRC"), outcome.text());
    }
    void pimKeepsItsSchema_data() {
        QTest::addColumn<QString>("memory");
        QTest::addColumn<QString>("table");
        QTest::addColumn<QString>("column");
        QTest::addRow("upmem")
            << "--upmem"
            << "benchmark,num_dpus,data_param,cpu_to_dpu_bytes_per_dpu\nVA,4,2097152,4194316\nUNI,4,524288,0\n"
            << "pred_kernel_ms";
        QTest::addRow("attention") << "--attacc"
                                   << "L,nhead,dhead,dbyte,pim_type,power_constraint\n2048,64,128,2,BA,True\n"
                                   << "pred_cycle";
        QTest::addRow("system")
            << "--attacc"
            << "system,gpu,ngpu,model,word_bytes,lin,lout,batch,pim,power_limit,ff_parallel,pipeline\n"
               "dgx-attacc,A100a,8,GPT-175B,2,128,16,4,bg,True,True,True\ndgx,H100,8,OPT-66B,2,128,16,4,,,False,False\n"
            << "pred_g_time_ms";
    }
    void pimKeepsItsSchema() {
        QFETCH(QString, memory);
        QFETCH(QString, table);
        QFETCH(QString, column);
        write("rows.csv", table.toStdString());
        const Outcome json = cli({"pim", memory, "--csv", "rows.csv", "--json"}, folder_.path());
        QVERIFY2(json.exit == 0, json.text());
        for (const std::string& error : schemaErrors(json.out.toStdString(), "pim")) QFAIL(error.c_str());
        const Outcome text = cli({"pim", memory, "--csv", "rows.csv"}, folder_.path());
        // The rows as they were, with columns behind.
        const auto before = table.split('\n'), after = text.out.split('\n');
        QCOMPARE(after.size(), before.size());
        QVERIFY2(
            after[0].startsWith(before[0] + ",") && after[0].contains(column) && after[1].startsWith(before[1] + ","),
            text.text());
    }
    void pimRefusesSlipsWithTheirLine_data() {
        QTest::addColumn<QString>("memory");
        QTest::addColumn<QString>("table");
        QTest::addColumn<QString>("says");
        QTest::addRow("benchmark") << "--upmem"
                                   << "benchmark,num_dpus,data_param\nABC,1,64\nXYZ,1,64\n"
                                   << "rows.csv:3";
        QTest::addRow("no column") << "--upmem"
                                   << "benchmark,num_dpus\nVA,1\n"
                                   << "'data_param'";
        QTest::addRow("no number") << "--attacc"
                                   << "L,nhead,dhead,dbyte,pim_type,power_constraint\nmany,64,128,2,BA,True\n"
                                   << "'many'";
        QTest::addRow("no DPUs") << "--upmem"
                                 << "benchmark,num_dpus,data_param\nVA,0,64\n"
                                 << "rows.csv:2";
        QTest::addRow("place") << "--attacc"
                               << "L,nhead,dhead,dbyte,pim_type,power_constraint\n64,64,128,2,ROOF,True\n"
                               << "'ROOF'";
        QTest::addRow("no rows") << "--upmem"
                                 << "benchmark,num_dpus,data_param\n"
                                 << "no row";
    }
    void pimRefusesSlipsWithTheirLine() {
        QFETCH(QString, memory);
        QFETCH(QString, table);
        QFETCH(QString, says);
        write("rows.csv", table.toStdString());
        const Outcome outcome = cli({"pim", memory, "--csv", "rows.csv"}, folder_.path());
        QVERIFY2(outcome.exit == 1 && outcome.error.contains(says), outcome.text());
        QCOMPARE(cli({"pim", "--csv", "rows.csv"}, folder_.path()).exit, 2);
    }
    // One row that makes no sense leaves the others their answers.
    void pimAnswersTheOtherRows() {
        write("rows.csv", "benchmark,num_dpus,data_param\nXYZ,1,64\nVA,1,65536\nVA,0,64\n");
        const Outcome text = cli({"pim", "--upmem", "--csv", "rows.csv"}, folder_.path());
        const auto lines = text.out.split('\n');
        QVERIFY2(text.exit == 0 && lines.size() == 5, text.text());
        QVERIFY2(text.error.contains("rows.csv:2") && text.error.contains("rows.csv:4"), text.text());
        QVERIFY2(lines[1].startsWith("XYZ,1,64,") && lines[1].count(',') == lines[2].count(','), text.text());
        QVERIFY2(lines[2].startsWith("VA,1,65536,") && lines[2].endsWith("measured rows"), text.text());
        const Outcome json = cli({"pim", "--upmem", "--csv", "rows.csv", "--json"}, folder_.path());
        for (const std::string& error : schemaErrors(json.out.toStdString(), "pim")) QFAIL(error.c_str());
        const Json rows = Json::parse(json.out.toStdString())["rows"];
        QVERIFY(rows.size() == 3 && rows[0].contains("error") && rows[1]["pred_kernel_ms"] > 0);
    }
    // Every command of the two pages of the handbook, in their order, in one folder.
    void theHandbooksCommandsRun() {
        const QTemporaryDir folder;
        const auto put = [&](const char* name, const std::string& text) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text.data(), static_cast<qint64>(text.size()));
        };
        for (const char* rules : {"ddr4_3200.yaml", "hbm2_2000.yaml"}) put(rules, orrery::dramtest::ddr4Yaml());
        put("stream.trace", "R 0x0\nR 0x40\nR 0x80\n");
        put("chase.trace", "R 0x0\nR 0x20000\n");
        put("prim.csv", "benchmark,num_dpus,data_param,cpu_to_dpu_bytes_per_dpu\nVA,4,2097152,4194316\n");
        put("attention.csv", "L,nhead,dhead,dbyte,pim_type,power_constraint\n2048,64,128,2,BA,True\n");
        for (const auto& [page, commands] : {std::pair{"memory", 3}, std::pair{"pim", 7}}) {
            QFile file(QString(ORRERY_SOURCE "/resources/handbook/%1.md").arg(page));
            QVERIFY(file.open(QIODevice::ReadOnly));
            int ran = 0;
            for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
                if (!line.startsWith("orrery-cli ")) continue;
                QStringList words = QProcess::splitCommand(line);
                words.removeFirst();
                const Outcome outcome = cli(words, folder.path());
                QVERIFY2(outcome.sound() && outcome.exit == 0, (line.toUtf8() + '\n' + outcome.text()).constData());
                ++ran;
            }
            QCOMPARE(ran, commands);
        }
    }
    void slipsAreRefused() {
        QVERIFY2(dram({"--mapping", "RoCoBa"}).error.contains("MOP4CLXOR"), dram({"--mapping", "RoCoBa"}).text());
        QVERIFY(dram({"--injection", "every-3"}).error.contains("every10"));
        const Outcome cut = cli({"dram", "--config", "ddr4.yaml", "--trace", "cut.trace"}, folder_.path());
        QVERIFY2(cut.exit == 1 && cut.error.contains("cut.trace:2"), cut.text());
        const Outcome none = cli({"dram", "--config", "none.yaml", "--trace", "two.trace"}, folder_.path());
        QVERIFY2(none.exit == 1 && none.error.contains("none.yaml"), none.text());
    }
};

QTEST_GUILESS_MAIN(TestCliMemory)
#include "tst_cli_memory.moc"
