// Can every shipped lesson be done, and does it check what it says? Each is done once by its own changes: no task is
// done before anything was done for it, all are done afterwards, and every number of the text can be computed.

#include "base/executor.h"
#include "base/text/condition.h"
#include "hardware/files/catalogue.h"
#include "methods/system/planned_fleet.h"
#include "serving/serving_simulation.h"
#include "store/lessons/lesson_facts.h"
#include "support/near.h"

#include <QtTest/QtTest>

#include <filesystem>

using namespace orrery;

namespace {

/// What the window would know of the project's first question.
LessonFacts factsOf(const Project& project) {
    LessonFacts facts;
    const ScenarioRef& ref = project.scenarios.front();
    const auto design = std::ranges::find(project.hardware, ref.hardware, &Hardware::name);
    const auto recipe = std::ranges::find(project.workloads, ref.workload, &ProjectWorkload::name);
    const auto workload = loadWorkload(recipe->recipe);
    if (!workload) return facts;
    Scenario scenario{std::make_shared<const Hardware>(*design), *workload, ref.plan};
    if (!ref.task.empty()) scenario.task = parseTask(ref.task).value();
    addDesignFacts(facts, *design);
    addQuestionFacts(facts, **workload, ref.plan);
    const auto executor = makeDefaultExecutor();
    for (const std::string& text : project.methods) {
        const MethodChoice choice = methodChoice(text, builtinMethods()).value();
        EstimateContext context{*executor, {}};
        context.options = choice.options;
        const auto answer = estimate(*findMethod(choice.id), scenario, context);
        if (answer) addAnswerFacts(facts, text, *answer);
    }
    if (!project.serving) return facts;
    addServingQuestion(facts, *project.serving);
    const ServingStudy& study = *project.serving;
    auto stream = requestsOf(study.scenario, study.traffic, study.seed);
    const auto planned = fleetOf(study.scenario, scenario.hardware);
    if (!stream || !planned) return facts;
    const auto result = simulate(planned->fleet, std::make_shared<const RequestStream>(std::move(*stream)), {});
    if (result) addServingFacts(facts, 0, measure(*result, *planned->fleet));
    return facts;
}

constexpr std::string_view smallYaml = R"(orrery: lesson/1
title: Small
project:
  orrery: project/1
  hardware: [{preset: t4}]
  workloads: [{name: R, source: resnet-50}]
  scenarios: [{hardware: NVIDIA T4, workload: R}]
  methods: [roofline]
steps:
  - title: One
    tasks:
      - task: "Make it two."
        when: batch == 2
        do: {batch: "2"}
      - ask: "How many?"
        answer: batch
)";
constexpr std::string_view smallText = "# Small\n\n## One\n\nThe batch is {{batch}}, {{batch / 4 | share}} of four.\n";

}  // namespace

class TestLessons : public QObject {
    Q_OBJECT
private slots:
    void conditionsCompareArithmetic() {
        const auto holds = [](std::string_view text) {
            const auto condition = Condition::parse(text);
            return condition && condition->holds([](std::string_view name) -> std::optional<double> {
                if (name == "a") return 2;
                if (name == "b.c") return 3;
                return std::nullopt;
            });
        };
        QVERIFY(holds("a < b.c"));
        QVERIFY(holds("a * 1.5 == b.c"));
        QVERIFY(holds("a <= 2 and b.c >= 3"));
        QVERIFY(!holds("a < b.c and a > b.c"));
        QVERIFY(!holds("a > 0 and unknown > 0"));
        QVERIFY(!holds("a / 0 > 1 and a > 5"));
        for (const char* bad : {"", "a", "a < ", "< a", "a << b", "a and b"}) QVERIFY2(!Condition::parse(bad), bad);
    }

    void aLessonIsReadAndJudged() {
        const auto lesson = readLesson(smallYaml, smallText, "small.yaml");
        QVERIFY2(lesson, lesson ? "" : toText(lesson.error()).c_str());
        QCOMPARE(lesson->head.id, std::string("small"));
        LessonState state;
        state.now = state.start = state.before = factsOf(lesson->project);
        const auto& tasks = lesson->steps.front().tasks;
        QVERIFY(!isDone(tasks[0], state));
        QCOMPARE(toText(lesson->steps.front().text, state), std::string("The batch is 1, 25 % of four."));
        const auto after = doChange(lesson->project, "batch", "2");
        state.now = factsOf(after.value());
        QVERIFY(isDone(tasks[0], state));
        QVERIFY(isRight(tasks[1], 2, state) == true);
        QVERIFY(isRight(tasks[1], 3, state) == false);
        QVERIFY(state("start.batch") == 1 && state("batch") == 2);
        const std::string paper = handOut(*lesson, state.start);
        QVERIFY(paper.find("☐ Make it two.") != std::string::npos && paper.find("How many?") != std::string::npos);
    }

    // A hand-out is what the lesson begins with: neither what was made of the project since, nor what is asked for.
    void handOutsHaveNoAnswers() {
        constexpr std::string_view yaml = R"(orrery: lesson/1
title: Small
project:
  orrery: project/1
  name: P
  hardware: [{preset: t4}]
  workloads: [{name: R, source: resnet-50}]
  scenarios: [{hardware: NVIDIA T4, workload: R}]
steps:
  - title: One
    tasks:
      - ask: "What is asked, in thousandths?"
        answer: 1000 * asked
  - title: Two
    tasks:
      - {task: "Make it two.", when: batch == 2}
  - title: Three
    tasks:
      - {ask: "How many times?", answer: asked / start.asked}
)";
        constexpr std::string_view text =
            "## One\nGiven {{given}}, asked {{asked}}, unknown {{unknown}}.\n"
            "## Two\nBegan with {{before.given}} of {{start.given}}, now {{given}}.\n"
            "## Three\nBegan with {{before.given}} of {{start.given}}, now {{given}}; asked {{start.asked}}, "
            "{{asked}}.\n";
        const auto lesson = readLesson(yaml, text, "small.yaml");
        QVERIFY2(lesson, lesson ? "" : toText(lesson.error()).c_str());
        const std::string paper = handOut(*lesson, {{"given", 17}, {"asked", 23}});
        const auto has = [&](std::string_view words) { return paper.find(words) != std::string::npos; };
        QVERIFY2(has("Given 17, asked ……………, unknown …………….") && has("Began with 17 of 17, now …………….") &&
                     has("Began with …………… of 17, now ……………; asked ……………, ……………."),
                 paper.c_str());
        QVERIFY2(!has("23"), paper.c_str());
    }
    void theShippedHandOutsTellNoAnswer() {
        const auto heads = shippedLessons();
        const auto paperOf = [&](std::string_view id, LessonFacts& start) {
            const Lesson lesson = readLessonFile(std::ranges::find(heads, id, &LessonHead::id)->file).value();
            start = factsOf(lesson.project);
            return handOut(lesson, start);
        };
        LessonFacts start;
        const std::string roofline = paperOf("roofline", start);
        const auto printed = [&](std::string_view fact, Dimension dimension) {
            return roofline.find(formatMeasure(start.at(std::string(fact)), dimension)) != std::string::npos;
        };
        QVERIFY2(printed("roofline.flops", Dimension::Operations) && printed("roofline.bytes", Dimension::Data),
                 roofline.c_str());
        QVERIFY2(!printed("roofline.intensity", Dimension::Intensity), roofline.c_str());
        const std::string errors = paperOf("errors", start);
        QVERIFY2(errors.find("of …………… distinct kernels") != std::string::npos, errors.c_str());
    }

    void badLessonsAreRefused_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("code");
        QTest::newRow("no such kind") << "lesson/1"
                                      << "lesson/9"
                                      << "";
        QTest::newRow("no project") << "project:"
                                    << "projekt:"
                                    << "";
        QTest::newRow("another heading") << "title: One"
                                         << "title: Two"
                                         << "lesson.text";
        QTest::newRow("no comparison") << "when: batch == 2"
                                       << "when: batch"
                                       << "condition.syntax";
        QTest::newRow("no task") << "task: \"Make it two.\""
                                 << "hint: \"Make it two.\""
                                 << "lesson.task";
        QTest::newRow("no arithmetic") << "answer: batch"
                                       << "answer: 3 +"
                                       << "reference.expression";
        QTest::newRow("no scenario") << "scenarios: [{hardware: NVIDIA T4, workload: R}]"
                                     << "scenarios: []"
                                     << "lesson.scenario";
    }
    void badLessonsAreRefused() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, code);
        QString yaml = QString::fromUtf8(smallYaml.data(), qsizetype(smallYaml.size()));
        QVERIFY(yaml.contains(from));
        const auto lesson = readLesson(yaml.replace(from, to).toStdString(), smallText, "small.yaml");
        QVERIFY(!lesson);
        if (!code.isEmpty()) QCOMPARE(QString::fromStdString(lesson.error().code), code);
        QCOMPARE(lesson.error().place.file, std::string("small.yaml"));
    }
    void badTextIsRefused() {
        for (const char* text : {"", "## One\n\n{{batch", "## One\n\n{{batch | apples}}", "## One\n## Two\n"})
            QVERIFY2(!readLesson(smallYaml, text), text);
    }

    void tenLessonsShip() {
        const auto heads = shippedLessons();
        QCOMPARE(heads.size(), std::size_t{10});
        for (std::size_t i = 0; i < heads.size(); ++i) {
            QCOMPARE(heads[i].order, int(i) + 1);
            QVERIFY(!heads[i].summary.empty() && heads[i].minutes > 0);
        }
    }

    void everyLessonIsDoneOnce_data() {
        QTest::addColumn<QString>("file");
        for (const LessonHead& head : shippedLessons())
            QTest::newRow(head.id.c_str()) << QString::fromStdString(head.file);
    }
    void everyLessonIsDoneOnce() {
        QFETCH(QString, file);
        const auto lesson = readLessonFile(file.toStdString());
        QVERIFY2(lesson, lesson ? "" : toText(lesson.error()).c_str());
        Project project = lesson->project;
        LessonState state;
        state.now = state.start = factsOf(project);
        for (const LessonStep& step : lesson->steps) {
            state.before = state.now;
            for (const LessonTask& task : step.tasks)
                QVERIFY2(!isDone(task, state), ("done before it was begun: " + task.text).c_str());
            for (const LessonTask& task : step.tasks) {
                for (const auto& [key, value] : task.changes) {
                    auto after = doChange(project, key, value);
                    QVERIFY2(after, after ? "" : toText(after.error()).c_str());
                    project = std::move(*after);
                }
            }
            state.now = factsOf(project);
            for (const LessonTask& task : step.tasks) {
                QVERIFY(!task.hint.empty());
                if (task.when) {
                    std::string seen;
                    for (const std::string& name : task.when->names())
                        seen += name + " = " + (state(name) ? std::to_string(*state(name)) : "unknown") + "\n";
                    QVERIFY2(isDone(task, state), (task.text + "\n" + seen).c_str());
                } else {
                    const auto value = evaluate(task.answer->value, state);
                    QVERIFY2(value, task.text.c_str());
                    QVERIFY(isRight(task, *value, state) == true);
                    QVERIFY(isRight(task, *value * 1.5 + 1, state) == false);
                    qInfo("%s: %s → %g", lesson->head.id.c_str(), task.text.c_str(), *value);
                }
            }
            const std::string text = toText(step.text, state);
            QVERIFY2(text.find("…") == std::string::npos, text.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestLessons)
#include "tst_lessons.moc"
