// Is a method with options read as it is written, said back in one form, and run with what was chosen?

#include "methods/method.h"
#include "study/study.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

MethodCard card(std::string_view id, std::vector<MethodOption> options) {
    MethodCard made{};
    made.id = id;
    made.version = "1";
    made.options = std::move(options);
    return made;
}

/// Answers as many seconds as the option says.
const std::vector<Method> methods{
    {card("clock",
          {{"seconds", "Seconds", {"1", "2", "3"}, "1", "How long."}, {"tick", "Tick", {"off", "on"}, "off", ""}}),
     [](const Scenario& scenario, EstimateContext& context) -> Expected<Estimate> {
         Estimate e;
         const auto rows = scenario.workload->costs.size();
         e.operators.seconds.assign(rows, 0);
         e.operators.bound.resize(rows);
         e.operators.flops.resize(rows);
         e.operators.bytes.resize(rows);
         e.latency = Seconds(std::stod(std::string(optionOf(methods.front().card, context, "seconds"))));
         e.interval = {e.latency, e.latency, IntervalKind::Bound, "test"};
         return e;
     }},
    {card("plain", {}),
     [](const Scenario&, EstimateContext&) -> Expected<Estimate> { return fail("test.refused", "no"); }}};

}  // namespace

class TestMethodChoice : public QObject {
    Q_OBJECT
private slots:
    void whatIsWrittenIsRead_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("canonical");
        QTest::newRow("plain") << "clock"
                               << "clock";
        QTest::newRow("empty options") << "clock()"
                                       << "clock";
        QTest::newRow("fallback") << "clock(seconds=1)"
                                  << "clock";
        QTest::newRow("spaces") << "  clock ( seconds = 2 ) "
                                << "clock(seconds=2)";
        QTest::newRow("order of the card") << "clock(tick=on,seconds=3)"
                                           << "clock(seconds=3, tick=on)";
        QTest::newRow("the last one counts") << "clock(seconds=2, seconds=3)"
                                             << "clock(seconds=3)";
    }
    void whatIsWrittenIsRead() {
        QFETCH(QString, text);
        QFETCH(QString, canonical);
        const auto choice = methodChoice(text.toStdString(), methods);
        QVERIFY2(choice, choice ? "" : toText(choice.error()).c_str());
        const auto said = toText(methods.front().card, choice->options);
        QCOMPARE(QString::fromStdString(said), canonical);
        const auto again = methodChoice(said, methods);
        QVERIFY(again);
        QCOMPARE(toText(methods.front().card, again->options), said);
    }
    void whatIsWrongIsRefused_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("method") << "clok"
                                << "method.unknown"
                                << "clock";
        QTest::newRow("nothing") << ""
                                 << "method.unknown"
                                 << "plain";
        QTest::newRow("key") << "clock(second=2)"
                             << "method.bad-option"
                             << "seconds";
        QTest::newRow("value") << "clock(seconds=4)"
                               << "method.bad-option"
                               << "1, 2, 3";
        QTest::newRow("no value") << "clock(seconds)"
                                  << "method.bad-option"
                                  << "1, 2, 3";
        QTest::newRow("no end") << "clock(seconds=2"
                                << "method.bad-option"
                                << "quotes";
        QTest::newRow("only open") << "clock("
                                   << "method.bad-option"
                                   << "key=value";
        QTest::newRow("after the end") << "clock(seconds=2)x"
                                       << "method.bad-option"
                                       << "do not end";
        QTest::newRow("none to choose") << "plain(a=b)"
                                        << "method.bad-option"
                                        << "no options";
    }
    void whatIsWrongIsRefused() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(QString, says);
        const auto choice = methodChoice(text.toStdString(), methods);
        QVERIFY(!choice);
        QCOMPARE(QString::fromStdString(choice.error().code), code);
        const auto said = QString::fromStdString(toText(choice.error()));
        QVERIFY2(said.contains(says), qPrintable(said));
    }
    void commasBetweenParenthesesDoNotSplit() {
        QCOMPARE(splitMethods("a, b(c=d, e=f) ,g"), (std::vector<std::string>{"a", "b(c=d, e=f)", "g"}));
        QCOMPARE(splitMethods("a(b=c"), (std::vector<std::string>{"a(b=c"}));
        QCOMPARE(splitMethods("a),b"), (std::vector<std::string>{"a)", "b"}));
        QCOMPARE(splitMethods(""), (std::vector<std::string>{""}));
    }
    void everyBuiltInOptionHasItsFallback() {
        for (const Method& method : builtinMethods()) {
            for (const MethodOption& option : method.card.options) {
                const auto where = std::string(method.card.id) + "." + std::string(option.key);
                const auto listed = std::count(option.choices.begin(), option.choices.end(), option.fallback);
                QVERIFY2(listed == 1 || (option.choices.empty() && !option.slot), where.c_str());  // any text
                QVERIFY2(!option.title.empty() && !option.meaning.empty(), where.c_str());
                for (const std::string_view word : option.choices) {
                    const auto text =
                        std::string(method.card.id) + "(" + std::string(option.key) + "=" + std::string(word) + ")";
                    QVERIFY2(methodChoice(text, builtinMethods()), text.c_str());
                }
            }
        }
    }
    void aChoiceIsFoundAndTitled() {
        QCOMPARE(findMethod("loop-nest(fusion=on)"), findMethod("loop-nest"));
        QVERIFY(!findMethod("loop-nets(fusion=on)"));
        // What older files call fusion is a chain between kernels; fusion is what runs inside one.
        QCOMPARE(toText(*methodChoice("loop-nest(fusion=on)", builtinMethods())), std::string("loop-nest(chains=on)"));
        QCOMPARE(toText(*methodChoice("loop-nest(fusion=off, fusion=none)", builtinMethods())),
                 std::string("loop-nest(fusion=none)"));
        QCOMPARE(methodTitle("loop-nest(fusion=on)"),
                 std::string(findMethod("loop-nest")->card.title) + " (fusion=on)");
        QCOMPARE(methodTitle("of-tomorrow(a=b)"), std::string("of-tomorrow(a=b)"));
    }
    void twoFillingsStandSideBySide() {
        Study study;
        study.methods = {"clock", "clock(seconds=3)", "clock(seconds=7)"};
        auto hardware = std::make_shared<Hardware>();
        hardware->name = "H";
        study.scenarios.push_back({hardware, fixture::workloadOf(fixture::chain(2, 64))});
        StudyOptions options;
        const auto executor = makeSerialExecutor();
        options.executor = executor.get();
        options.methods = methods;
        const auto results = runStudy(study, options);
        QCOMPARE(results.size(), std::size_t{3});
        QVERIFY(results[0].estimate && results[1].estimate);
        QCOMPARE(results[0].estimate->latency.value, 1.0);
        QCOMPARE(results[0].estimate->method, std::string("clock"));
        QCOMPARE(results[1].estimate->latency.value, 3.0);
        QCOMPARE(results[1].estimate->method, std::string("clock(seconds=3)"));
        QVERIFY(results[2].failure && results[2].failure->code == "method.bad-option");
    }
};

QTEST_GUILESS_MAIN(TestMethodChoice)
#include "tst_method_choice.moc"
