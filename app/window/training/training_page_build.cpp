#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_replication.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "app/window/training/cases_view.h"
#include "app/window/training/command_twin.h"
#include "app/window/training/exchange_player.h"
#include "app/window/training/plan_finder.h"
#include "app/window/training/plan_form.h"
#include "app/window/training/training_page.h"
#include "app/window/training/training_start.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/training/cluster_map.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/step_timeline.h"
#include "widgets/training/time_split.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSlider>
#include <QStackedLayout>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::app {

void TrainingPage::build() {
    const int unit = ui::Theme::instance().unit();
    const double scale = ui::Theme::instance().scale();
    stack_ = new QStackedLayout(this);
    start_ = new TrainingStartPage(this);
    auto* body = new QWidget(this);
    auto* row = new QHBoxLayout(body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    form_ = new PlanForm(body);
    form_->setFixedWidth(static_cast<int>(44 * unit * ui::formGrowth(scale)));
    form_->setFills(fills_);
    row->addWidget(form_);
    auto* right = new QWidget(body);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, unit, unit, 0);
    column->setSpacing(unit);
    column->addWidget(buildHead(right));
    cards_ = new ui::StepCards(right);
    column->addWidget(cards_);
    split_ = new ui::TimeSplit(right);
    split_->hide();
    column->addWidget(split_);
    column->addWidget(buildViews(right), 1);
    row->addWidget(right, 1);
    stack_->addWidget(start_);
    stack_->addWidget(body);
    cases_ = new CasesView(this);
    stack_->addWidget(cases_);
    // What a view would like is more than a small window has: it scrolls or elides.
    right->setMinimumWidth(40 * unit);
    cases_->setMinimumWidth(40 * unit);
    connect(cases_, &CasesView::closed, this, [this] {
        casesOpen_ = false;
        showQuestion();
    });

    connect(start_, &TrainingStartPage::started, this, &TrainingPage::start);
    connect(start_, &TrainingStartPage::refused, this,
            [this](const Diagnostic& why) { studio_.messages.complain(why); });
    connect(form_, &PlanForm::planEdited, this, &TrainingPage::applyPlan);
    connect(form_, &PlanForm::stepEdited, this, [this](const TrainingStep& step) { applyStep(question_.plan, step); });
    connect(form_, &PlanForm::optionsEdited, this, [this](const WorkloadOptions& options) {
        studio_.apply(setWorkloadOptionsEdit(*studio_.document.state(), question_.workloadIndex, options));
    });
    connect(form_, &PlanForm::nodesEdited, this, [this](qint64 nodes) {
        if (const auto node = nodeComponent(question_))
            studio_.apply(setCountEdit(*studio_.document.state(), question_.hardwareIndex, *node, nodes));
    });
    connect(form_, &PlanForm::otherPriceEdited, this, [this](double dollars) {
        studio_.apply(setPriceEdit(*studio_.document.state(), question_.otherPriceOf, dollars));
    });
    connect(form_, &PlanForm::priceEdited, this, [this](double dollars) {
        studio_.apply(setPriceEdit(*studio_.document.state(), question_.priceOf, dollars));
    });
    connect(&studio_.linkMoment, &LinkMoment::changed, this, [this] {
        if (isVisible()) showMap();
    });
}

QWidget* TrainingPage::buildHead(QWidget* parent) {
    auto* head = new QWidget(parent);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    headline_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, head);
    headline_->setObjectName(QStringLiteral("training.headline"));
    headline_->setElided(true);
    sub_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, head);
    sub_->setObjectName(QStringLiteral("training.sub"));
    sub_->setElided(true);
    words->addWidget(headline_);
    words->addWidget(sub_);
    row->addLayout(words, 1);
    pin_ = named(new QPushButton(tr("Pin this plan"), head), "training.pin", tr("Pin this plan"),
                 tr("Keeps this plan for comparison: every figure then shows the difference"));
    pin_->setCheckable(true);
    auto* twin = named(new QPushButton(tr("Command line"), head), "training.command", tr("Copy as command line"),
                       tr("Copies the commands that ask the same without a window: this step, and the search for "
                          "better plans"));
    row->addWidget(twin, 0, Qt::AlignTop);
    connect(twin, &QPushButton::clicked, this, [this] {
        if (question_.lacks != TrainingLacks::Nothing) return;
        const QString text = stepCommand(question_, studio_.document.state()->methods) + QLatin1Char('\n') +
                             finder_->command() + QLatin1Char('\n');
        QGuiApplication::clipboard()->setText(text);
        studio_.messages.say(Severity::Note, tr("Copied two commands: the step, and the search for better plans"), text,
                             QStringLiteral("training.command"));
    });
    row->addWidget(pin_, 0, Qt::AlignTop);
    auto* out =
        new ui::IconButton(QStringLiteral("document-export"), tr("Export the view, the figures or the timeline"),
                           QStringLiteral("training.export"), head);
    row->addWidget(out, 0, Qt::AlignTop);
    connect(out, &QToolButton::clicked, this, &TrainingPage::exportFront);
    connect(pin_, &QPushButton::toggled, this, &TrainingPage::pin);
    return head;
}

QWidget* TrainingPage::buildViews(QWidget* parent) {
    tabs_ = named(new QTabWidget(parent), "training.views", tr("Views of the step"),
                  tr("Step over time, memory, devices, better plans"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("training.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Views of the step"));
    tabs_->tabBar()->setToolTip(tr("Step over time, memory, devices, better plans"));
    timeline_ = new ui::StepTimeline(tabs_);
    memory_ = new ui::StageMemoryPlot(tabs_);
    figures_ =
        new ui::CellsTable(QStringLiteral("training.figures"), tr("Figures"),
                           tr("Every figure of this plan and of the pinned one; hover a name to read it"), tabs_);
    veil_ = new ui::Veil(timeline_);
    tabs_->addTab(timeline_, tr("Over time"));
    tabs_->addTab(memory_, tr("Memory"));
    tabs_->addTab(buildMap(tabs_), tr("Devices"));
    finder_ = new PlanFinder(studio_.cache, tabs_);
    tabs_->addTab(finder_, tr("Better plans"));
    tabs_->addTab(figures_, tr("Figures"));
    tabs_->setCurrentIndex(tab_);
    connect(finder_, &PlanFinder::used, this, [this](const StepPlan& plan) {
        TrainingStep step = question_.step;
        step.recompute = plan.recompute;
        // What it is better in, and why, is seen beside the plan of before.
        if (!pinned_) pin(true);
        applyStep(plan.plan, step);
    });
    return tabs_;
}

QWidget* TrainingPage::buildMap(QWidget* parent) {
    auto* page = new QWidget(parent);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(4);
    colours_ = namedChoice(page, "training.map.colours", tr("Coloured by"), tr("Meaning of the colour of a device"));
    colours_->addItem(tr("coloured by stage"), static_cast<int>(ui::ClusterMap::Colouring::Stage));
    colours_->addItem(tr("coloured by tensor part"), static_cast<int>(ui::ClusterMap::Colouring::Tensor));
    colours_->addItem(tr("coloured by copy"), static_cast<int>(ui::ClusterMap::Colouring::Data));
    colours_->addItem(tr("coloured by context part"), static_cast<int>(ui::ClusterMap::Colouring::Context));
    colours_->setMinimumContentsLength(16);
    map_ = new ui::ClusterMap(page);
    moment_ = named(new QSlider(Qt::Horizontal, page), "training.map.moment", tr("Moment of the step"),
                    tr("How busy the links are at this moment; at the left end, on average"));
    moment_->setRange(-1, -1);
    moment_->hide();
    momentText_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, page);
    momentText_->setElided(true);
    player_ = new ExchangePlayer(map_, page);
    auto* row = new QHBoxLayout;
    row->addWidget(colours_);
    row->addWidget(player_, 1);
    auto* below = new QHBoxLayout;
    below->addWidget(moment_, 2);
    below->addWidget(momentText_, 1);
    column->addLayout(row);
    column->addLayout(below);
    column->addWidget(map_, 1);
    connect(moment_, &QSlider::valueChanged, this, [this](int span) { studio_.linkMoment.set(span); });
    connect(colours_, &QComboBox::activated, this, &TrainingPage::showColours);
    return page;
}

}  // namespace orrery::app
