// Every value of a serving question on the form and in the undo list, from its one row in serving/fields.

#include "app/document/commands/serving_edits.h"
#include "app/window/serving/serving_form.h"
#include "serving/fields/field_changes.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"

#include <QtWidgets>

#include <set>

using namespace orrery;
using namespace orrery::app;

namespace {

// One item in every list, and what makes whole sections stand there.
ServingStudy fullQuestion() {
    ServingStudy study;
    study.scenario.transfer.emplace();
    study.scenario.failures.emplace_back();
    study.scenario.tenants.push_back({.name = "chat", .adapters = 3});
    study.scenario.stages.push_back({.name = "index", .seconds = 0.1});
    return study;
}

bool onForm(const ListedField& row) {
    const bool section = !row.spec->section.empty() || !row.table->section.empty();
    // The capacity is asked for on the search tab.
    return row.spec->isScalar() && row.spec->inForm && section && row.table->section != "capacity";
}
// As the form's controls name it: the first item of a list.
std::string pathOnForm(std::string path) {
    for (const char* list : {"tenants/", "stages/", "failures/"})
        if (path.starts_with(list)) path.insert(path.find('/'), "[1]");
    return path;
}

}  // namespace

class TestServingFormFields : public QObject {
    Q_OBJECT

    QWidget* editorOf(const std::string& path) {
        for (QWidget* each : form_->findChildren<QWidget*>())
            if (each->property(fieldProperty).toString().toStdString() == path) return each;
        return nullptr;
    }
    void eachOnForm() {
        QTest::addColumn<QString>("path");
        for (const ListedField& row : servingFields())
            if (onForm(row)) QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    static const ListedField& rowOf(const QString& path) {
        for (const ListedField& row : servingFields())
            if (row.path == path.toStdString()) return row;
        qFatal("no field %s", qPrintable(path));
    }

private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        form_ = std::make_unique<ServingForm>();
    }
    void init() { form_->setQuestion(fullQuestion()); }
    void cleanupTestCase() { form_.reset(); }

    void everyValueHasAnEditorThatExplainsIt_data() { eachOnForm(); }
    void everyValueHasAnEditorThatExplainsIt() {
        QFETCH(QString, path);
        const FieldSpec& spec = *rowOf(path).spec;
        const QWidget* editor = editorOf(pathOnForm(path.toStdString()));
        QVERIFY2(editor, "nothing on the form edits it");
        QCOMPARE(editor->accessibleName().isEmpty(), false);
        QVERIFY2(editor->objectName().startsWith("serving."), qPrintable(editor->objectName()));
        // Replicas say which of the two pools they are of.
        if (path == "pools/replicas") return;
        // A choice of methods tells first what the chosen one is.
        QVERIFY2(editor->toolTip().contains(ui::windowText(spec.meaning)), qPrintable(editor->toolTip()));
    }

    // It scrolls up and down alone: what is wider than it would be cut, its numbers with it.
    void aLongNameMakesItNoWider() {
        form_->setFixedWidth(static_cast<int>(38 * ui::Theme::instance().unit()));
        form_->resize(form_->width(), 600);
        form_->show();
        ServingStudy study = fullQuestion();
        for (const char* file : {"", "/tmp/AzureLLMInferenceTrace_conversations_of_a_whole_week_2024.csv.gz"}) {
            study.traffic.trace.file = file;
            study.traffic.arrivals.kind = *file ? ArrivalKind::Trace : ArrivalKind::Poisson;
            form_->setQuestion(study);
            QTest::qWait(50);
            QVERIFY2(form_->widget()->width() <= form_->viewport()->width(),
                     qPrintable(QStringLiteral("%1 in %2, `%3`")
                                    .arg(form_->widget()->width())
                                    .arg(form_->viewport()->width())
                                    .arg(file)));
        }
        form_->hide();
    }

    // What its editor says is what the question becomes, and back; nothing else changes.
    void anEditReachesTheQuestion_data() { eachOnForm(); }
    void anEditReachesTheQuestion() {
        QFETCH(QString, path);
        const std::string at = pathOnForm(path.toStdString());
        const FieldSpec& spec = *rowOf(path).spec;
        QWidget* editor = editorOf(at);
        QVERIFY(editor);
        QSignalSpy spy(form_.get(), &ServingForm::edited);
        const FieldValue before = fieldValue(form_->question(), at);
        if (auto* box = qobject_cast<QSpinBox*>(editor)) {
            box->setValue(box->value() + (box->value() < box->maximum() ? 1 : -1));
        } else if (auto* check = qobject_cast<QCheckBox*>(editor)) {
            check->click();
        } else if (auto* choice = qobject_cast<QComboBox*>(editor)) {
            // A trace is asked for with a dialog.
            const int other = choice->currentIndex() == 0 ? 1 : 0;
            QVERIFY(choice->count() > 1);
            choice->setCurrentIndex(other);
            emit choice->activated(other);
        } else if (auto* edit = qobject_cast<ui::ValueEdit*>(editor)) {
            const double low = spec.range.low, high = std::min(spec.range.high, low + 10);
            emit edit->committed(QString::fromStdString(fieldText(spec, low + 0.3 * (high - low))));
        } else if (auto* line = qobject_cast<QLineEdit*>(editor)) {
            line->setText("other");
            line->setModified(true);
            emit line->editingFinished();
        } else {
            QCOMPARE(path, QString("traffic/arrivals/rate"));  // a slider, see tst_studio_serving
            return;
        }
        QCOMPARE(spy.count(), 1);
        QVERIFY(fieldValue(form_->question(), at) != before);
        ServingStudy expected = fullQuestion();
        setField(expected, at, fieldValue(form_->question(), at));
        if (path != "router/id" && path != "pools/clock" && path != "pools/speculation/draft_model")
            QVERIFY(form_->question() == expected);
        // Shown again, it says the same and tells nobody.
        const ServingStudy now = form_->question();
        spy.clear();
        form_->setQuestion(now);
        QVERIFY(form_->question() == now);
        QCOMPARE(spy.count(), 0);
    }

    // What is out of range stays where it is typed, and says what would be right.
    void whatIsOutOfRangeIsNotTaken_data() { eachOnForm(); }
    void whatIsOutOfRangeIsNotTaken() {
        QFETCH(QString, path);
        const std::string at = pathOnForm(path.toStdString());
        const FieldSpec& spec = *rowOf(path).spec;
        QWidget* editor = editorOf(at);
        if (auto* box = qobject_cast<QSpinBox*>(editor)) {
            const int first = spec.ordinal ? 1 : 0;
            QVERIFY(path == "pools/replicas" || box->minimum() == static_cast<int>(spec.range.low) + first);
            QVERIFY(box->maximum() <= spec.range.high + first);
        } else if (auto* edit = qobject_cast<ui::ValueEdit*>(editor)) {
            edit->show();
            QString typed = QString::fromStdString(fieldText(spec, spec.range.low - 1));
            // A bare number over a share in per cent is meant in per cent.
            bool bare = false;
            if (const double number = typed.toDouble(&bare); bare && edit->text().endsWith('%'))
                typed = QString("%1 %").arg(100 * number);
            edit->setText(typed);
            QTest::keyClick(edit, Qt::Key_Return);
            QVERIFY(edit->diagnostic().has_value());
            QVERIFY(form_->question() == fullQuestion());
        }
    }

    // The undo list calls it by its title.
    void anEditIsNamedByItsTitle_data() {
        QTest::addColumn<QString>("path");
        for (const ListedField& row : servingFields())
            if (row.spec->isScalar()) QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    void anEditIsNamedByItsTitle() {
        QFETCH(QString, path);
        const FieldSpec& spec = *rowOf(path).spec;
        const ServingStudy before = fullQuestion();
        ServingStudy after = before;
        FieldValue value = fieldValue(before, path.toStdString());
        if (auto* number = std::get_if<double>(&value)) *number += 0.25;
        if (auto* whole = std::get_if<std::int64_t>(&value)) *whole = *whole == 0 ? 1 : *whole - 1;
        if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
        if (auto* text = std::get_if<std::string>(&value)) *text += "x";
        QVERIFY(setField(after, path.toStdString(), value));
        ProjectState state;
        state.serving = before;
        const auto edit = setServingEdit(state, after);
        QVERIFY(edit.has_value());
        QVERIFY2(edit->subject.endsWith(QString::fromUtf8(spec.title.data(), qsizetype(spec.title.size()))),
                 qPrintable(edit->subject));
        QVERIFY2(!edit->from.isEmpty() && !edit->to.isEmpty(), qPrintable(edit->text()));
        QVERIFY(!edit->target.isEmpty());
    }

    // No two values are called alike in the list.
    void titlesTellValuesApart() {
        std::set<std::string> titles;
        const ServingStudy before = fullQuestion();
        for (const ListedField& row : servingFields()) {
            if (!row.spec->isScalar()) continue;
            const FieldChange change{
                row.path, (row.path.find('/') != std::string::npos) ? row.path.substr(0, row.path.rfind('/')) : "",
                row.spec, row.table,
                {},       {}};
            QVERIFY2(titles.insert(titleOf(change)).second, (row.path + ": " + titleOf(change)).c_str());
        }
    }

    void editsThatBelongTogetherAreSaidTogether() {
        const auto said = [](auto change) {
            const ServingStudy before = fullQuestion();
            ServingStudy after = before;
            change(after);
            ProjectState state;
            state.serving = before;
            return setServingEdit(state, after)->text();
        };
        QCOMPARE(said([](ServingStudy& s) { s.scenario.pools[0].plan.tensor = 4; }), QString("Tensor parallel 1 → 4"));
        QCOMPARE(said([](ServingStudy& s) { s.scenario.promise.ttft = 0.5; }),
                 QString("Time to first token none → 500 ms"));
        QCOMPARE(said([](ServingStudy& s) {
                     s.scenario.pools[0].admission.queue = 5;
                     s.scenario.pools[0].admission.dropLate = true;
                 }),
                 QString("Queue"));
        // A clock that is fixed has a share from then on: one thing to say.
        QCOMPARE(said([](ServingStudy& s) {
                     s.scenario.pools[0].clock = ClockPolicy::Fixed;
                     s.scenario.pools[0].clockShare = 0.8;
                 }),
                 QString("Clock policy as fast as power lets it → fixed"));
        // A price that goes with its device is no change of its own.
        QVERIFY(said([](ServingStudy& s) {
                    s.scenario.pools[0].hardware = "h100-sxm";
                    s.scenario.pools[0].dollarsPerHour = 2;
                }).startsWith("Serving device"));
        QVERIFY(said([](ServingStudy& s) {
                    s.scenario.pools[0].scheduler.id = "sarathi";
                    s.scenario.pools[0].scheduler.chunk = 256;
                }).startsWith("Scheduler "));
        QVERIFY(said([](ServingStudy& s) { s.scenario.tenants.emplace_back(); }).contains("1 → 2"));
        QVERIFY(said([](ServingStudy& s) {
                    s.scenario.pools.push_back(s.scenario.pools[0]);
                    s.scenario.pools[0].role = ReplicaRole::Prefill;
                    s.scenario.pools[0].name = "prefill";
                    s.scenario.pools[1].role = ReplicaRole::Decode;
                }) == "Prefill and decode apart");
    }

private:
    std::unique_ptr<ServingForm> form_;
};

QTEST_MAIN(TestServingFormFields)
#include "tst_serving_form_fields.moc"
