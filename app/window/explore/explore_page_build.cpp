#include "app/document/commands/search_edits.h"
#include "app/window/explore/explore_command.h"
#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "app/window/explore/learn_points.h"
#include "app/window/form_parts.h"
#include "app/window/lack.h"
#include "app/window/page_head.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/history_plot.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <QHBoxLayout>
#include <QMenu>
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
            tr("Search over designs, models and plans: knobs, Pareto front, and the effect of each knob"),
            QStringLiteral("view-filter"),
            {},
            true,
            {}};
}

void ExplorePage::build() {
    const int unit = ui::Theme::instance().unit();
    stack_ = new QStackedLayout(this);
    empty_ = new ui::EmptyPage(tr("Nothing is asked yet"), tr("Choose a design and a model in the library"));
    connect(empty_, &ui::EmptyPage::clicked, this, [this] { fillIn(studio_, lackOf(studio_.document)); });
    stack_->addWidget(empty_);
    auto* body = new QWidget(this);
    auto* row = new QHBoxLayout(body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    form_ = new ExploreForm(body);
    form_->setFixedWidth(static_cast<int>(40 * unit * ui::formGrowth(ui::Theme::instance().scale())));
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
    // Two lines: numbers are never cut, and the plot does not move when a point is chosen.
    chosenText_->setWordWrap(true);
    chosenText_->setMinimumHeight(2 * chosenText_->fontMetrics().lineSpacing());
    use_ = named(new QPushButton(tr("Use this design"), right), "explore.use", tr("Use this design"),
                 tr("Sets these values in the design, the model and the plan; one undo step"));
    use_->setEnabled(false);
    learn_ = new LearnPoints(studio_, right);
    foot->addWidget(chosenText_, 1);
    foot->addWidget(learn_);
    foot->addWidget(use_);
    column->addLayout(foot);
    row->addWidget(right, 1);
    stack_->addWidget(body);
    right->setMinimumWidth(40 * unit);
    connect(use_, &QPushButton::clicked, this, &ExplorePage::useChosen);
    connect(form_, &ExploreForm::edited, this, [this](const SearchSettings& settings, const QString& words) {
        SearchSettings next = settings;
        if (question_.settings.knobs.empty() && !next.knobs.empty() && studio_.document.hardware())
            startSearch(next, *studio_.document.hardware(), studio_.live.snapshot().get());
        studio_.apply(setSearchEdit(*studio_.document.state(), next, words));
    });
    connect(&work_, &Background::advanced, this, [this] {
        showFindings();
        showState();
    });
    connect(&work_, &Background::ended, this, [this] {
        showFindings();
        showOtherTabs();
        showState();
    });
}

QWidget* ExplorePage::buildHead(QWidget* parent) {
    auto* head = new PageHead(QStringLiteral("explore"), parent);
    headline_ = head->headline();
    sub_ = head->sub();
    export_ = head->addAbove("explore.export", tr("Export ▾"),
                             tr("This view as SVG, PDF, PNG or CSV; all points as CSV or JSON"));
    export_->setEnabled(false);
    auto* exports = new QMenu(export_);
    exports->setObjectName(QStringLiteral("explore.exportMenu"));
    export_->setMenu(exports);
    export_->setStyleSheet(QStringLiteral("QPushButton::menu-indicator { width: 0; image: none; }"));
    connect(exports, &QMenu::aboutToShow, this, [this, exports] { fillExports(exports); });
    bar_ = head->addProgress(tr("Points answered"), tr("Points answered so far"));
    command_ = new ExploreCommand(head);
    command_->setCommand(lastCommand_);
    head->addBelow(command_);
    go_ = head->addBelow("explore.go", tr("Search"),
                         tr("Evaluates the points on all CPU cores and keeps the Pareto front"));
    go_->setDefault(true);
    connect(go_, &QPushButton::clicked, this, &ExplorePage::start);
    return head;
}

QWidget* ExplorePage::buildViews(QWidget* parent) {
    const QString tip = tr("Pareto front, all knobs and objectives, each knob alone, history of the search");
    tabs_ = named(new QTabWidget(parent), "explore.views", tr("Views of the search"), tip);
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("explore.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Views of the search"));
    tabs_->tabBar()->setToolTip(tip);
    auto* split = named(new QSplitter(Qt::Vertical, tabs_), "explore.split", tr("Front"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    plot_ = new ui::SearchPlot(split);
    plot_->setTips([this](int point) { return pointTip(point); });
    table_ = new ui::CellsTable(QStringLiteral("explore.table"), tr("Points on the front"),
                                tr("Points of the Pareto front; click one to choose it"), split);
    split->addWidget(plot_);
    split->addWidget(table_);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    split->setSizes({420, 180});
    veil_ = new ui::Veil(tabs_);
    effects_ = new ui::EffectBars(tabs_);
    effects_->setEmptySentence(
        tr("How far each knob moves the first objective while the others stay at the value nearest to the drawing. "
           "Press Search."));
    parallel_ = new ui::ParallelPlot(tabs_);
    parallel_->setEmptySentence(
        tr("A line for each point across all knobs and objectives. Drag along an axis to keep the lines that pass "
           "there. Press Search."));
    history_ = new ui::HistoryPlot(tabs_);
    history_->setEmptySentence(tr("How soon the search found its best. Press Search."));
    refused_ = new ui::CellsTable(QStringLiteral("explore.refused"), tr("Points without an answer"),
                                  tr("Why points have no answer, and how many; click to choose the first"), tabs_);
    tabs_->addTab(split, tr("Front"));
    tabs_->addTab(parallel_, tr("All knobs"));
    tabs_->addTab(effects_, tr("Each knob alone"));
    tabs_->addTab(history_, tr("History"));
    tabs_->addTab(refused_, tr("No answer"));
    connect(tabs_, &QTabWidget::currentChanged, this, [this](int tab) {
        showTab(tab);
        choose(chosen_);
    });
    connect(parallel_, &ui::ParallelPlot::chosen, this, &ExplorePage::choose);
    connect(refused_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (row >= 0 && row < static_cast<int>(refusedRows_.size()))
            choose(refusedRows_[static_cast<std::size_t>(row)]);
    });
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
    connect(&studio.inspection, &Inspection::knobRequested, this, &ExplorePage::turnPath);
    connect(&studio.document, &Document::replaced, this, [this, changed] {
        work_.cancel();
        run_.reset();
        view_.reset();
        problem_.reset();
        chosen_ = -1;
        if (plot_) {
            plot_->setData(nullptr);
            table_->setCells({}, {});
            effects_->setBars({}, {});
            parallel_->setData(nullptr);
            history_->setCurves({}, {});
            refused_->setCells({}, {});
            choose(-1);
        }
        changed();
    });
    studio.actions.add({"explore.search",
                        tr("Explore"),
                        tr("&Search designs"),
                        tr("Vary knobs of the design, the model and the plan: Pareto front"),
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
    entry(tr("Sweep designs: front of the best (Pareto)"), FrontTab);
    entry(tr("Explore the design space: all knobs and objectives (parallel coordinates)"), ParallelTab);
    entry(tr("Sensitivity: each knob alone (tornado)"), EffectsTab);
    entry(tr("History of the search: best so far, hypervolume"), HistoryTab);
    return found;
}

}  // namespace orrery::app
