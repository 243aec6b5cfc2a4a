#include "app/window/compare/compare_page.h"

#include "app/document/commands/comparison_edits.h"
#include "app/window/compare/compare_table.h"
#include "app/window/exports.h"
#include "app/window/lack.h"
#include "app/window/studio.h"
#include "base/text/latex_table.h"
#include "hardware/files/catalogue.h"
#include "store/export/comparison_exports.h"
#include "store/project/scenario_baseline.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/veil.h"

#include <QComboBox>
#include <QFileInfo>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedLayout>
#include <QTabWidget>

#include <algorithm>
#include <map>

namespace orrery::app {

ComparePage::ComparePage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("comparePage"));
    setAccessibleName(tr("Compare"));
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &ComparePage::follow);
}

ComparePage::~ComparePage() = default;

void ComparePage::join(Studio& studio) {
    const auto changed = [this] {
        stale_ = true;
        soon_.start();
    };
    connect(&studio.document, &Document::projectChanged, this, changed);
    connect(&studio.document, &Document::replaced, this, [this, changed] {
        for (Background* each : {&work_, &changing_, &evening_}) each->cancel();
        view_.reset();
        question_ = {};
        even_.reset();
        chosen_ = -1;
        dropHeat();
        if (table_) {
            table_->setCells({}, {});
            showDetails();
            veil_->lift();
        }
        changed();
    });
    // A project that holds cases against a baseline opens here.
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this](const Example&) {
        if (!baselineOf(studio_.document.state()->scenarios)) return;
        studio_.layouts.showProject();
        studio_.router.show(this);
        studio_.docks.setAside(true);
    });
    studio.actions.add({"compare.keep",
                        tr("Compare"),
                        tr("&Keep this as A"),
                        tr("Copies the question as it is now. Later changes are compared with it"),
                        {},
                        {}},
                       [this] {
                           studio_.router.show(this);
                           keep();
                       });
}

std::vector<ui::PaletteEntry> ComparePage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto entry = [&](const QString& text, int tab) {
        found.push_back({text, tr("Compare"), {}, {}, [this, tab] {
                             studio_.router.show(this);
                             if (tabs_) tabs_->setCurrentIndex(tab);
                         }});
    };
    entry(tr("A against B: where the time goes (waterfall)"), 0);
    entry(tr("Difference of two designs: parts and times"), 1);
    entry(tr("Break-even: what would have to change for B to win"), 2);
    return found;
}

void ComparePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

const CaseQuestion* ComparePage::caseAt(int at) const {
    return at >= 0 && at < static_cast<int>(question_.cases.size()) ? &question_.cases[static_cast<std::size_t>(at)]
                                                                    : nullptr;
}

void ComparePage::follow() {
    stale_ = true;
    if (!isVisible() || !table_) return;
    stale_ = false;
    CompareQuestion question = compareQuestion(studio_.document);
    stack_->setCurrentIndex(question.cases.empty() || question.methods.empty() ? 0 : 1);
    const Lack lack = lackOf(studio_.document);
    const bool refused = lack == Lack::Methods && !studio_.document.state()->methods.empty();
    empty_->setTexts(tr("Nothing is asked yet"),
                     refused                 ? tr("The task of the first scenario cannot be compared.")
                     : lack == Lack::Methods ? tr("Choose methods that answer.")
                     : lack == Lack::Numbers ? tr("Parts of the design have no numbers yet.")
                     : lack == Lack::Model   ? tr("Choose a model in the library.")
                     : lack == Lack::Device  ? tr("Choose a design in the library.")
                                             : tr("Choose a design and a model in the library."));
    empty_->setButton(refused ? QString() : offerFor(lack));
    if (question == question_ && (view_ || refusal_ || work_.isRunning())) return showHead();
    const bool sameCases = question.cases.size() == question_.cases.size();
    question_ = std::move(question);
    if (!sameCases) chosen_ = -1;
    if (stack_->currentIndex() == 1) ask();
    showHead();
}

void ComparePage::ask() {
    if (view_) veil_->dropSoon(tr("This answers the previous question. The new answer is on its way."));
    const auto calibrations = studio_.live.calibrations();
    work_.ask(
        [question = question_, cache = studio_.cache, calibrations](std::stop_token stop, Progress& progress) {
            return compareNow(question, *cache, calibrations.get(), stop, progress);
        },
        [this](Expected<CompareViewPtr> found) { take(std::move(found)); }, Background::Newest::LetsItFinish);
}

void ComparePage::take(Expected<CompareViewPtr> found) {
    refusal_.reset();
    if (!found) {
        refusal_ = found.error();
        if (view_)
            veil_->drop(tr("This is the answer to the previous question. The new question has no answer: see above."));
        return showHead();
    }
    view_ = std::move(*found);
    veil_->lift();
    if (chosen_ < 0 || chosen_ >= static_cast<int>(view_->comparison.cases.size()) ||
        (chosen_ == static_cast<int>(view_->comparison.baseline) && view_->comparison.cases.size() > 1)) {
        // The question of the window, where it is not itself the baseline.
        chosen_ = view_->comparison.baseline == 0 && view_->comparison.cases.size() > 1 ? 1 : 0;
    }
    showTable();
    showHead();
    showDetails();
    if (heated_) showHeat();
}

void ComparePage::showTable() {
    CompareCells cells = compareCells(*view_);
    const bool another = table_->model()->rowCount() != static_cast<int>(cells.rows.size());
    table_->setCells(std::move(cells.heads), std::move(cells.rows));
    if (another) {
        table_->resizeColumnsToContents();
        for (int column = 0; column < table_->model()->columnCount(); ++column)
            table_->setColumnWidth(column, std::clamp(table_->columnWidth(column) + 12, 64, 420));
    }
    const QSignalBlocker quiet(table_);
    table_->setCurrentRow(chosen_);
}

void ComparePage::showHead() {
    if (!table_) return;
    const bool busy = isBusy();
    bar_->setVisible(busy);
    stop_->setVisible(busy);
    bar_->setValue(static_cast<int>(work_.fraction() * 1000));
    const bool several = view_ && view_->comparison.cases.size() > 1;
    const CaseQuestion* shown = caseAt(chosen_);
    open_->setEnabled(shown && shown->scenario != 0);
    remove_->setEnabled(shown && shown->scenario != 0);
    heat_->setEnabled(several && view_->comparison.baseline != 0);
    export_->setEnabled(view_ && !refusal_ && view_->question == question_);
    if (refusal_) {
        headline_->setFullText(ui::windowText(refusal_->message));
        sub_->setTone(ui::Tone::Bad);
        return sub_->setFullText(ui::windowText(refusal_->hint));
    }
    sub_->setTone(ui::Tone::Muted);
    if (!view_) {
        headline_->setFullText(tr("A against B"));
        return sub_->setFullText(tr("Asking …"));
    }
    const CaseComparison& all = view_->comparison;
    if (!several) {
        headline_->setFullText(tr("Nothing to compare %1 with yet").arg(ui::qs(all.base().asked.name)));
        return sub_->setFullText(
            tr("Press Keep this as A and change the design, or add another design. Then the numbers of both are shown "
               "side by side."));
    }
    if (chosen_ < 0 || chosen_ == static_cast<int>(all.baseline)) {
        headline_->setFullText(tr("%1 is the baseline").arg(ui::qs(all.base().asked.name)));
        return sub_->setFullText(tr("Choose a row to see what differs"));
    }
    const AnsweredCase& its = all.cases[static_cast<std::size_t>(chosen_)];
    headline_->setFullText(tr("%1: %2").arg(ui::qs(its.asked.name), ui::qs(verdictText(all.base(), its))));
    QString said = tr("against %1").arg(ui::qs(all.base().asked.name));
    said += all.oneMethod ? tr(" · both by %1").arg(ui::qs(methodTitle(all.base().method)))
                          : tr(" · No single method answers all cases. Part of a difference may come from the methods");
    if (!(view_->question == question_)) said += tr(" · answers the previous question");
    sub_->setFullText(said);
}

void ComparePage::choose(int at) {
    if (!view_ || at < 0 || at >= static_cast<int>(view_->comparison.cases.size()) || at == chosen_) return;
    chosen_ = at;
    showHead();
    showDetails();
}

void ComparePage::keep() {
    studio_.apply(keepCaseEdit(*studio_.document.state()));
}

void ComparePage::pin(int at) {
    const CaseQuestion* chosen = caseAt(at);
    if (!chosen || !view_ || !(view_->question == question_)) return;
    studio_.apply(pinCaseEdit(*studio_.document.state(), chosen->scenario));
}

void ComparePage::removeChosen() {
    const CaseQuestion* chosen = caseAt(chosen_);
    if (!chosen) return;
    const int scenario = chosen->scenario;
    chosen_ = -1;
    studio_.apply(removeCaseEdit(*studio_.document.state(), scenario));
}

void ComparePage::openChosen() {
    if (const CaseQuestion* chosen = caseAt(chosen_))
        studio_.apply(openCaseEdit(*studio_.document.state(), chosen->scenario));
}

void ComparePage::fillAddMenu() {
    addMenu_->clear();
    const ProjectStatePtr state = studio_.document.state();
    addMenu_->addSection(tr("Of the project"));
    for (int i = 0; i < static_cast<int>(state->hardware.size()); ++i) {
        addMenu_->addAction(ui::qs(state->hardware[static_cast<std::size_t>(i)]->name), this,
                            [this, i] { studio_.apply(addCaseOfDesignEdit(*studio_.document.state(), i)); });
    }
    addMenu_->addSection(tr("Of the library"));
    std::map<std::string, QMenu*> groups;
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        QMenu*& group = groups[entry.group];
        if (!group) {
            group = addMenu_->addMenu(ui::qs(entry.group));
            group->setToolTipsVisible(true);
        }
        QAction* action = group->addAction(ui::qs(entry.name), this, [this, id = entry.id] {
            auto loaded = loadHardware(id);
            if (!loaded) return studio_.messages.complain(loaded.error());
            studio_.apply(addCaseEdit(*studio_.document.state(), std::move(loaded->hardware)));
        });
        action->setToolTip(ui::qs(entry.description));
    }
}

QString ComparePage::exportTo(const QString& file) {
    if (!view_) return tr("there is no answer yet");
    if (!isCurrent()) return tr("the view shows the answer to the previous question");
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("csv") && ending != QLatin1String("json") && ending != QLatin1String("tex"))
        return waterfall_->exportTo(file);
    std::string text = comparisonCsv(view_->comparison);
    if (ending == QLatin1String("json")) {
        std::vector<CaseFindings> findings;
        for (std::size_t i = 0; i < view_->differences.size(); ++i) {
            const auto& difference = view_->differences[i][static_cast<std::size_t>(std::max(0, by_->currentIndex()))];
            CaseFindings found{.other = i, .difference = difference};
            if (static_cast<int>(i) == chosen_) {
                found.changes = effects_;
                if (even_ && *even_) {
                    found.breakEven = **even_;
                    found.breakEvenOf = evenMover_.toStdString();
                }
            }
            if (found.difference || found.changes || found.breakEven) findings.push_back(std::move(found));
        }
        text = comparisonJson(view_->comparison, findings);
    }
    if (ending == QLatin1String("tex")) text = latexTable(text);
    return ui::writeText(file, QByteArray::fromStdString(text));
}

void ComparePage::exportAs() {
    exportWith(studio_, *this, tr("Export the comparison"), QStringLiteral("comparison.svg"),
               tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of the table (*.csv);;TEX table (*.tex);;JSON (*.json)"),
               [this](const QString& file) { return exportTo(file); });
}

// The page follows the document only while it is seen: what it holds itself against is asked for anew.
bool ComparePage::isCurrent() const {
    return view_ && !refusal_ && view_->question == compareQuestion(studio_.document);
}

bool ComparePage::showsAnswer() const {
    return view_ && view_->comparison.cases.size() >= 2 && waterfall_ && isCurrent();
}

Expected<QStringList> ComparePage::report(const QString& folder) {
    if (!showsAnswer()) return QStringList();
    QStringList files;
    for (const char* name : {"comparison.svg", "comparison.csv"}) {
        const QString file = folder + QLatin1Char('/') + QLatin1String(name);
        if (const QString problem = exportTo(file); !problem.isEmpty()) return Unexpected(exportFailed(file, problem));
        files << file;
    }
    return files;
}

}  // namespace orrery::app
