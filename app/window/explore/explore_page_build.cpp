#include "app/document/commands/project_edits.h"
#include "app/document/commands/search_edits.h"
#include "app/window/explore/explore_command.h"
#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "store/project/search_file.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/search_plot.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

namespace orrery::app {

PageCard ExplorePage::card() const {
    return {QStringLiteral("explore"),
            tr("Explore"),
            tr("Which of many designs, models and plans: knobs, the front of the best, and what each knob does"),
            QStringLiteral("view-filter"),
            {},
            true,
            {}};
}

void ExplorePage::build() {
    if (form_) return;
    const int unit = ui::Theme::instance().unit();
    stack_ = new QStackedLayout(this);
    empty_ = new ui::EmptyPage(tr("Nothing is asked yet"), tr("Choose a design and a model in the library"));
    stack_->addWidget(empty_);
    auto* body = new QWidget(this);
    auto* row = new QHBoxLayout(body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    form_ = new ExploreForm(body);
    form_->setFixedWidth(static_cast<int>(40 * unit * ui::Theme::instance().scale()));
    row->addWidget(form_);
    auto* right = new QWidget(body);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, unit, unit, 0);
    column->setSpacing(unit);
    column->addWidget(buildHead(right));
    column->addWidget(buildViews(right), 1);
    auto* foot = new QHBoxLayout;
    chosenText_ =
        new ui::Label(tr("Click a dot or a row to choose a point"), ui::FontRole::Body, ui::Tone::Muted, right);
    chosenText_->setObjectName(QStringLiteral("explore.chosen"));
    chosenText_->setElided(true);
    use_ = named(new QPushButton(tr("Use this design"), right), "explore.use", tr("Use this design"),
                 tr("Sets these values in the design, the model and the plan; one step of the undo list"));
    use_->setEnabled(false);
    foot->addWidget(chosenText_, 1);
    foot->addWidget(use_);
    column->addLayout(foot);
    row->addWidget(right, 1);
    stack_->addWidget(body);
    right->setMinimumWidth(40 * unit);
    connect(use_, &QPushButton::clicked, this, &ExplorePage::useChosen);
    connect(form_, &ExploreForm::edited, this, [this](const SearchSettings& settings, const QString& words) {
        studio_.apply(setSearchEdit(*studio_.document.state(), settings, words));
    });
    connect(&work_, &Background::advanced, this, [this] {
        showFindings();
        showState();
    });
    connect(&work_, &Background::ended, this, [this] {
        showFindings();
        showState();
    });
}

QWidget* ExplorePage::buildHead(QWidget* parent) {
    auto* head = new QWidget(parent);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    headline_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, head);
    headline_->setObjectName(QStringLiteral("explore.headline"));
    headline_->setElided(true);
    sub_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, head);
    sub_->setObjectName(QStringLiteral("explore.sub"));
    sub_->setElided(true);
    words->addWidget(headline_);
    words->addWidget(sub_);
    row->addLayout(words, 1);
    bar_ = named(new QProgressBar(head), "explore.progress", tr("Points answered"), tr("Points answered so far"));
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedWidth(120);
    bar_->hide();
    row->addWidget(bar_);
    command_ = new ExploreCommand(head);
    command_->setCommand(lastCommand_);
    row->addWidget(command_, 0, Qt::AlignTop);
    export_ = named(new QPushButton(tr("Export …"), head), "explore.export", tr("Export"),
                    tr("The picture as SVG, PDF or PNG; all points as CSV or JSON"));
    export_->setEnabled(false);
    row->addWidget(export_, 0, Qt::AlignTop);
    go_ = named(new QPushButton(tr("Search"), head), "explore.go", tr("Search"),
                tr("Answers the points on all cores and keeps the front"));
    go_->setDefault(true);
    row->addWidget(go_, 0, Qt::AlignTop);
    connect(go_, &QPushButton::clicked, this, &ExplorePage::start);
    connect(export_, &QPushButton::clicked, this, &ExplorePage::exportAs);
    return head;
}

QWidget* ExplorePage::buildViews(QWidget* parent) {
    const QString tip = tr("The front of the best, and each knob alone");
    tabs_ = named(new QTabWidget(parent), "explore.views", tr("Views of the search"), tip);
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("explore.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Views of the search"));
    tabs_->tabBar()->setToolTip(tip);
    auto* split = named(new QSplitter(Qt::Vertical, tabs_), "explore.split", tr("Front"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    plot_ = new ui::SearchPlot(split);
    plot_->setEmptySentence(
        tr("Every combination by two of its numbers, and the front of the best. Add knobs at the "
           "left, then press Search."));
    table_ = new ui::CellsTable(QStringLiteral("explore.table"), tr("Points of the front"),
                                tr("Points that no other one beats; a click chooses one"), split);
    split->addWidget(plot_);
    split->addWidget(table_);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    split->setSizes({420, 180});
    effects_ = new ui::EffectBars(tabs_);
    effects_->setEmptySentence(
        tr("How far each knob moves the first objective while the others stand as drawn. Press Search."));
    tabs_->addTab(split, tr("Front"));
    tabs_->addTab(effects_, tr("Each knob alone"));
    connect(plot_, &ui::SearchPlot::chosen, this, &ExplorePage::choose);
    connect(table_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (row >= 0 && row < static_cast<int>(rows_.size())) choose(rows_[static_cast<std::size_t>(row)]);
    });
    return tabs_;
}

void ExplorePage::join(Studio& studio) {
    const auto changed = [this] {
        stale_ = true;
        soon_.start();
    };
    for (const auto signal : {&Document::hardwareChanged, &Document::workloadChanged, &Document::scenarioChanged,
                              &Document::searchChanged, &Document::servingChanged})
        connect(&studio.document, signal, this, changed);
    connect(&studio.live, &LiveController::workloadReady, this, changed);
    connect(&studio.inspection, &Inspection::turnRequested, this, &ExplorePage::turn);
    connect(&studio.document, &Document::replaced, this, [this, changed] {
        work_.cancel();
        run_.reset();
        view_.reset();
        problem_.reset();
        chosen_ = -1;
        if (plot_) {
            plot_->setData({});
            table_->setCells({}, {});
            effects_->setBars({}, {});
            choose(-1);
        }
        changed();
    });
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this](const Example& example) {
        if (!example.exploring) return;
        studio_.layouts.showProject();
        studio_.router.show(this);
        studio_.docks.setAside(true);
    });
    studio.actions.add({"explore.search",
                        tr("Explore"),
                        tr("&Search designs"),
                        tr("Sweep knobs of the design, the model and the plan: the front of the best"),
                        {},
                        {}},
                       [this] { studio_.router.show(this); });
}

std::vector<ui::PaletteEntry> ExplorePage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto entry = [&](const QString& text, int tab) {
        found.push_back({text, tr("Explore"), {}, {}, [this, tab] {
                             studio_.router.show(this);
                             if (tabs_) tabs_->setCurrentIndex(tab);
                         }});
    };
    entry(tr("Sweep designs: front of the best (Pareto)"), 0);
    entry(tr("Sensitivity: each knob alone (tornado)"), 1);
    return found;
}

bool ExplorePage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("search");
}

// The question of the file becomes the project's, with its knobs: a few steps of the undo list.
void ExplorePage::open(const QString& path) {
    auto loaded = readSearchFile(path.toStdString());
    if (!loaded) {
        studio_.messages.complain(loaded.error());
        emit opened(path, false);
        return;
    }
    const Scenario& base = loaded->problem.space.base();
    Document& document = studio_.document;
    if (loaded->problem.source) {
        studio_.messages.complain({Severity::Error,
                                   "explore.table",
                                   "a search over a table has no design that the window could show",
                                   "a search of a drawing",
                                   "`orrery-cli search FILE` answers it",
                                   {path.toStdString(), 0, 0, {}}});
        emit opened(path, false);
        return;
    }
    if (std::holds_alternative<ServingRun>(base.task)) {
        studio_.messages.complain({Severity::Error,
                                   "explore.serving",
                                   "a search of a serving run is asked on the command line",
                                   "a pass or a training step",
                                   "`orrery-cli search FILE`",
                                   {path.toStdString(), 0, 0, {}}});
        emit opened(path, false);
        return;
    }
    const bool made =
        studio_.apply(addHardwareEdit(*document.state(), *base.hardware)) &&
        studio_.apply(addWorkloadEdit(*document.state(), {base.workload->name, base.workload->recipe, {}})) &&
        studio_.apply(setPlanEdit(*document.state(), base.plan)) &&
        studio_.apply(setTaskEdit(*document.state(), toText(base.task))) &&
        studio_.apply(setSearchEdit(*document.state(), loaded->settings, tr("Open the search %1").arg(path)));
    if (made && !base.software.empty()) {
        studio_.messages.say(Severity::Warning, tr("The file asks of %1; here it is of no software in particular")
                                                    .arg(QString::fromStdString(toText(base.software))));
    }
    if (made) {
        studio_.layouts.showProject();
        studio_.router.show(this);
        studio_.docks.setAside(true);
        studio_.messages.log(Severity::Note, tr("Opened %1").arg(path));
    }
    emit opened(path, made);
}

}  // namespace orrery::app
