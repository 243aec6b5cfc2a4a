// Do tables become LaTeX that compiles and says the same, and do archives hold what was put into them?

#include "base/text/latex_table.h"
#include "base/text/tar_members.h"
#include "base/text/tar_writer.h"

#include <QtTest/QtTest>

#include <limits>

using namespace orrery;

class TestWrittenTexts : public QObject {
    Q_OBJECT
private slots:
    void aTableSaysTheSameInLatex() {
        const std::string tex = latexTable("name,time s,100 %\r\n\"a, \"\"b\"\"_1\",1.5,x\r\n\"c\nd\",,y & z\r\n");
        QVERIFY(tex.find("\\begin{tabular}{lrl}") != std::string::npos);
        QVERIFY(tex.find("name & time s & 100 \\% \\\\\n\\midrule\n") != std::string::npos);
        QVERIFY(tex.find("a, \"b\"\\_1 & 1.5 & x \\\\\n") != std::string::npos);
        QVERIFY(tex.find("c d &  & y \\& z \\\\\n\\bottomrule\n\\end{tabular}\n") != std::string::npos);
    }
    void whatLatexReadsAsACommandIsEscaped() {
        QCOMPARE(latexText("a\\b{c}$d#e~f^g"), std::string("a\\textbackslash{}b\\{c\\}\\$d\\#e\\textasciitilde{}f"
                                                           "\\textasciicircum{}g"));
    }
    void numbersOfAPaperHaveNoE() {
        QCOMPARE(latexNumber(480, 2), std::string("480"));
        QCOMPARE(latexNumber(484, 2), std::string("480"));
        QCOMPARE(latexNumber(9.996), std::string("10.0"));
        QCOMPARE(latexNumber(0.01234), std::string("0.0123"));
        QCOMPARE(latexNumber(999999), std::string("$1.00\\cdot10^{6}$"));
        QCOMPARE(latexNumber(-4.8e7, 2), std::string("$-4.8\\cdot10^{7}$"));
        QCOMPARE(latexNumber(0), std::string("0"));
        QCOMPARE(latexNumber(std::numeric_limits<double>::infinity()), std::string("--"));
        const std::string tex = latexTable("name,time\ne5,1.5e-05\n1e,2\n");
        QVERIFY(tex.find("e5 & $1.5\\cdot10^{-5}$ \\\\\n1e & 2") != std::string::npos);
    }
    void aTableOfManyRowsGoesOverPages() {
        std::string csv = "n\n";
        for (int i = 0; i < 41; ++i) csv += std::to_string(i) + "\n";
        const std::string tex = latexTable(csv);
        QVERIFY(tex.find("\\begin{longtable}{r}") != std::string::npos);
        QVERIFY(tex.find("\\endhead\n") != std::string::npos);
        QVERIFY(tex.find('&') == std::string::npos);
        QVERIFY(latexTable("a,b\n").find("\\begin{tabular}{ll}") != std::string::npos);
        QCOMPARE(latexTable(""), std::string());
    }
    // Ours and tar's own reading of it.
    void anArchiveHoldsWhatWasPutIntoIt() {
        const std::string text(1300, 'x');
        const auto packed = packedTar({{"README.txt", "hello\n"}, {"files/x.yaml", text}, {"empty", ""}}, 1700000000);
        QVERIFY(packed.has_value());
        QCOMPARE(*packed, *packedTar({{"README.txt", "hello\n"}, {"files/x.yaml", text}, {"empty", ""}}, 1700000000));
        QTemporaryDir folder;
        const QString file = folder.filePath("a.tar.gz");
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(packed->data(), qint64(packed->size()));
        out.close();
        QProcess tar;
        tar.setWorkingDirectory(folder.path());
        tar.start("tar", {"xzf", file});
        if (!tar.waitForStarted()) QSKIP("there is no tar");
        QVERIFY(tar.waitForFinished());
        QCOMPARE(tar.readAllStandardError(), QByteArray());
        QFile back(folder.filePath("files/x.yaml"));
        QVERIFY(back.open(QIODevice::ReadOnly));
        QCOMPARE(back.readAll().toStdString(), text);
        tar.start("gzip", {"-dk", file});
        QVERIFY(tar.waitForFinished());
        QFile plain(folder.filePath("a.tar"));
        QVERIFY(plain.open(QIODevice::ReadOnly));
        const std::string bytes = plain.readAll().toStdString();
        const auto members = tarMembers(bytes, "a.tar");
        QVERIFY2(members, members ? "" : members.error().message.c_str());
        QCOMPARE(members->size(), std::size_t{3});
        QCOMPARE((*members)[1].name, std::string("files/x.yaml"));
        QCOMPARE(std::string((*members)[0].text), std::string("hello\n"));
    }
    void noNameLeadsOutOfTheArchivesFolder() {
        for (const std::string& name :
             {std::string("../x"), std::string("/etc/x"), std::string(), std::string(100, 'a')})
            QVERIFY2(!packedTar({{name, ""}}, 0), name.c_str());
    }
};

QTEST_GUILESS_MAIN(TestWrittenTexts)
#include "tst_written_texts.moc"
