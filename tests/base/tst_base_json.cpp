#include "base/text/json_node.h"
#include "base/text/json_values.h"
#include "base/text/table.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace orrery;

class TestBaseJson : public QObject {
    Q_OBJECT
private slots:
    void treesKeepPlacesAndSpellings() {
        const auto tree =
            parseJson("{\n  \"a\": [1, 2.50, \"x\\n\"],\n  \"b\": {\"c\": null, \"d\": true}\n}", "f.json");
        QVERIFY(tree);
        const JsonNode* a = tree->find("a");
        QVERIFY(a && a->isArray());
        QCOMPARE(a->line, 2);
        QCOMPARE(a->column, 3);
        QCOMPARE(a->items[1].number, 2.5);
        QCOMPARE(a->items[1].text, std::string("2.50"));
        QCOMPARE(a->items[1].column, 12);
        QCOMPARE(a->items[2].text, std::string("x\n"));
        QVERIFY(a->items[0].isWhole() && !a->items[1].isWhole());
        const JsonNode* b = tree->find("b");
        QVERIFY(b->find("c")->isNull() && !b->given("c") && b->given("d")->truth);
        QVERIFY(!b->numberOf("d"));
        QCOMPARE(b->shown(), std::string("{\"c\":null,\"d\":true}"));
        QCOMPARE(b->shown(10), std::string("{\"c\":nu..."));
    }

    void valuesAreReadByNameAndTheFirstWrongOneIsKept() {
        const auto tree = parseJson(
            "{\"a\": 2.5, \"big\": 9223372036854775807, \"seed\": 18446744073709551615, \"none\": null,\n"
            "\"texts\": [\"x\", \"y\"], \"inner\": {\"b\": true}, \"rows\": [{\"n\": 1}, {\"n\": 1e3}]}");
        QVERIFY(tree);
        std::optional<Diagnostic> problem;
        const JsonValues json(*tree, problem);
        QCOMPARE(json.number("a"), 2.5);
        QCOMPARE(json.whole("big"), std::numeric_limits<std::int64_t>::max());
        QCOMPARE(json.seed("seed"), std::numeric_limits<std::uint64_t>::max());
        QCOMPARE(json.number("none", 7), 7.0);
        QVERIFY(json.texts("texts") == (std::vector<std::string>{"x", "y"}));
        QVERIFY(json.inner("inner").truth("b", false) && !json.inner("absent").has("b"));
        QCOMPARE(json.of(json.list("rows")[1]).whole("n"), std::int64_t{1000});
        QVERIFY(!problem);
        QCOMPARE(json.whole("a"), std::int64_t{0});
        QVERIFY(problem && problem->code == "json.value" && problem->place.line == 1);
        QCOMPARE(json.text("b"), std::string());
        QCOMPARE(problem->code, std::string("json.value"));  // the first
        problem.reset();
        json.inner("inner").text("c");
        QVERIFY(problem && problem->code == "json.missing-key" && problem->place.line == 2);
        problem.reset();
        json.numbers("texts");
        QVERIFY(problem && problem->code == "json.value");
    }
    void charactersBeyondTheFirstPlaneAreRead() {
        const auto tree = parseJson(R"(["\ud83d\ude00", "\ud83dx", "\u20ac"])");
        QVERIFY(tree);
        QCOMPARE(tree->items[0].text, std::string("\xF0\x9F\x98\x80"));
        QCOMPARE(tree->items[1].text, std::string("\xEF\xBF\xBDx"));
        QCOMPARE(tree->items[2].text, std::string("\xE2\x82\xAC"));
    }
    void limitsCanBeRaised() {
        QVERIFY(!parseJson("[1, 2, 3]", {}, "json", {.values = 3}));
        QVERIFY(parseJson("[1, 2, 3]", {}, "json", {.values = 4}));
        QVERIFY(!parseJson("[1, 2, 3]", {}, "json", {.bytes = 8}));
    }

    void brokenTextIsRefusedWithItsPlace_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        QTest::newRow("cut") << QByteArray("{\"a\":\n 1") << "json.syntax" << 2;
        QTest::newRow("words") << QByteArray("{\n\"a\": yes}") << "json.syntax" << 2;
        QTest::newRow("more") << QByteArray("{} {}") << "json.syntax" << 1;
        QTest::newRow("not UTF-8") << QByteArray("[\"\xff\"]") << "json.syntax" << 1;
        QTest::newRow("huge number") << QByteArray("[1e999]") << "json.number" << 1;
        QTest::newRow("deep") << QByteArray(jsonDeepest + 1, '[') << "json.too-deep" << 1;
        QTest::newRow("endless") << QByteArray(100'000'000, '[') << "json.too-large" << 0;
        QTest::newRow("many") << "[0" + QByteArray(",0").repeated(int(jsonMostNodes)) + "]"
                              << "json.too-large" << 1;
    }
    void brokenTextIsRefusedWithItsPlace() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto tree = parseJson(std::string_view(text.data(), std::size_t(text.size())), "f.json");
        QVERIFY(!tree);
        QCOMPARE(QString::fromStdString(tree.error().code), code);
        QCOMPARE(tree.error().place.line, line);
        QCOMPARE(tree.error().place.file, std::string("f.json"));
    }

    void theLastOfTwoMembersCounts() { QCOMPARE(parseJson("{\"a\": 1, \"a\": 2}")->numberOf("a").value_or(0), 2.0); }

    void tablesAreReadByName() {
        const auto table = read("b,name,a\n1,x,2\n\n3,y,4\n", {.columns = {{.name = "a"}, textColumn("name")}});
        QVERIFY(table);
        QCOMPARE(table->numbers[0], (std::vector<double>{2, 4}));
        QCOMPARE(table->texts[1], (std::vector<std::string>{"x", "y"}));
        QCOMPARE(table->lines, (std::vector<int>{2, 4}));
    }

    void tablesWithoutAWishAreAllNumbers() {
        const auto table = read("a;b\n1;\n-2e3;4\n", {});
        QVERIFY(table);
        QCOMPARE((**table->column("a"))[1], -2000.0);
        QVERIFY(std::isnan((**table->column("b"))[0]));
        QCOMPARE(table->column("c").error().code, std::string("tables.no-column"));
    }

    void brokenTablesAreRefusedWithTheirLine_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        QTest::newRow("nothing") << QByteArray() << "tables.empty" << 0;
        QTest::newRow("no rows") << QByteArray("a,b\n") << "tables.empty" << 0;
        QTest::newRow("no column") << QByteArray("b,c\n1,2\n") << "tables.no-column" << 1;
        QTest::newRow("short") << QByteArray("b,a\n1,2\n3\n") << "tables.short-row" << 3;
        QTest::newRow("word") << QByteArray("a\n1\nmany\n") << "tables.bad-number" << 3;
        QTest::newRow("nan") << QByteArray("a\nnan\n") << "tables.bad-number" << 2;
        QTest::newRow("out of bounds") << QByteArray("a\n-1\n") << "tables.bad-number" << 2;
        QTest::newRow("too long") << QByteArray("a\n1\n2\n3\n4\n") << "tables.too-large" << 5;
    }
    void brokenTablesAreRefusedWithTheirLine() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto table = read(text, {.columns = {{.name = "a"}}, .mostRows = 3});
        QVERIFY(!table);
        QCOMPARE(QString::fromStdString(table.error().code), code);
        QCOMPARE(table.error().place.line, line);
        QVERIFY(!table.error().expected.empty());
    }

    void anAbsentTableIsNamed() {
        const auto table = readTable("/no/such.csv", {.area = "x"});
        QCOMPARE(table.error().code, std::string("x.no-table"));
        QCOMPARE(table.error().place.file, std::string("/no/such.csv"));
    }

private:
    Expected<Table> read(const QByteArray& text, const TableSpec& spec) const {
        QFile file(dir_.filePath("t.csv"));
        if (!file.open(QIODevice::WriteOnly)) return fail("test", "cannot write");
        file.write(text);
        file.close();
        return readTable(file.fileName().toStdString(), spec);
    }
    QTemporaryDir dir_;
};

QTEST_GUILESS_MAIN(TestBaseJson)
#include "tst_base_json.moc"
