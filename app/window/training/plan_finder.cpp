#include "app/window/training/plan_finder.h"

#include "app/document/workload_cache.h"
#include "app/window/form_parts.h"
#include "app/window/training/command_twin.h"
#include "base/executor.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/front_plot.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <array>
#include <cmath>

namespace orrery::app {

namespace {

/// What a plan can be judged by, in plot and table.
struct FoundFigure {
    const char* name;  ///< in the context PlanFinder
    double (*value)(const StepFigures&);
    Dimension dimension;
    bool more;  ///< better
};
constexpr std::array<FoundFigure, 6> foundFigures{{
    {QT_TRANSLATE_NOOP("PlanFinder", "Time of a step"), [](const StepFigures& f) { return f.seconds; }, Dimension::Time,
     false},
    {QT_TRANSLATE_NOOP("PlanFinder", "Memory"), [](const StepFigures& f) { return f.needs / 1e9; }, Dimension::Data,
     false},
    {QT_TRANSLATE_NOOP("PlanFinder", "Devices"), [](const StepFigures& f) { return static_cast<double>(f.devices); },
     Dimension::Count, false},
    {QT_TRANSLATE_NOOP("PlanFinder", "MFU"), [](const StepFigures& f) { return f.mfu; }, Dimension::Fraction, true},
    {QT_TRANSLATE_NOOP("PlanFinder", "Cost of 10¹² tokens"),
     [](const StepFigures& f) { return f.dollarsPerTrillion(); }, Dimension::Number, false},
    {QT_TRANSLATE_NOOP("PlanFinder", "Energy of a step"), [](const StepFigures& f) { return f.joules; },
     Dimension::Energy, false},
}};

QString axisName(const FoundFigure& figure) {
    if (figure.dimension == Dimension::Data) return PlanFinder::tr("Memory of the fullest stage, GB");
    if (figure.dimension == Dimension::Number) return PlanFinder::tr("Cost of 10¹² tokens, $");
    if (figure.dimension == Dimension::Energy) return PlanFinder::tr("Energy of a step, J");
    return PlanFinder::tr(figure.name);
}

ui::TickText ticksOf(const FoundFigure& figure) {
    if (figure.dimension == Dimension::Time) return ui::TickText::Seconds;
    if (figure.dimension == Dimension::Fraction) return ui::TickText::Percent;
    return ui::TickText::Number;
}

QString moneyOf(double dollars) {
    return dollars >= 1e6   ? QStringLiteral("$%1 M").arg(dollars / 1e6, 0, 'g', 3)
           : dollars >= 1e4 ? QStringLiteral("$%1 k").arg(dollars / 1e3, 0, 'g', 3)
                            : QStringLiteral("$%1").arg(dollars, 0, 'g', 3);
}

QString pointText(const PlannedPoint& point) {
    const StepFigures& f = point.figures;
    QString said = PlanFinder::tr("%1: %2 a step, %3 on %4 devices")
                       .arg(ui::qs(toText(point.plan)), ui::text(f.seconds, Dimension::Time),
                            ui::text(f.needs, Dimension::Data), ui::countText(static_cast<double>(f.devices)));
    if (f.mfu > 0) said += PlanFinder::tr(", MFU %1").arg(ui::percentText(f.mfu));
    if (point.ranSeconds)
        said += PlanFinder::tr("; run event by event %1").arg(ui::text(*point.ranSeconds, Dimension::Time));
    return said;
}

}  // namespace

PlanFinder::PlanFinder(std::shared_ptr<WorkloadCache> cache, QWidget* parent)
    : QWidget(parent), cache_(std::move(cache)) {
    setObjectName(QStringLiteral("training.finder"));
    setAccessibleName(tr("Better plans"));
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit / 2, 0, unit / 2);
    column->setSpacing(unit / 2);
    column->addWidget(buildChoices());
    auto* split = named(new QSplitter(Qt::Horizontal, this), "training.finder.split", tr("Plans"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    plot_ =
        new ui::FrontPlot(QStringLiteral("training.finder.plot"), tr("Plans that were found"),
                          tr("One point for each plan. Filled points are on the Pareto front. A click chooses"), split);
    plot_->setEmptySentence(tr("Every plan that fits, by time and cost, and the Pareto front. Press Find plans."));
    table_ = new ui::CellsTable(QStringLiteral("training.finder.table"), tr("Plans that were found"),
                                tr("The best first; a click chooses a plan"), split);
    split->addWidget(plot_);
    split->addWidget(table_);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    split->setSizes({400, 500});
    column->addWidget(split, 1);
    auto* foot = new QHBoxLayout;
    chosenText_ =
        new ui::Label(tr("Click a point or a row to choose a plan"), ui::FontRole::Body, ui::Tone::Muted, this);
    chosenText_->setObjectName(QStringLiteral("training.finder.chosen"));
    chosenText_->setElided(true);
    use_ = named(new QPushButton(tr("Use this plan"), this), "training.finder.use", tr("Use this plan"),
                 tr("Makes it the plan of this question and keeps the previous one beside it; one undo step"));
    use_->setEnabled(false);
    foot->addWidget(chosenText_, 1);
    foot->addWidget(use_);
    column->addLayout(foot);
    connect(use_, &QPushButton::clicked, this, [this] {
        if (chosen_ >= 0 && result_) emit used(result_->points[static_cast<std::size_t>(chosen_)].plan);
    });
    connect(plot_, &ui::FrontPlot::chosen, this, &PlanFinder::choose);
    connect(table_, &ui::CellsTable::rowChosen, this, &PlanFinder::choose);
    connect(&work_, &Background::advanced, this, &PlanFinder::showState);
    connect(&work_, &Background::ended, this, &PlanFinder::showState);
    showPlot();
    showState();
}

QWidget* PlanFinder::buildChoices() {
    const int unit = ui::Theme::instance().unit();
    auto* head = new QWidget(this);
    auto* rows = new QVBoxLayout(head);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 2);
    auto* row = new QHBoxLayout;
    row->setSpacing(unit);
    auto* below = new QHBoxLayout;
    below->setSpacing(unit);
    rows->addLayout(row);
    rows->addLayout(below);
    objective_ = namedChoice(head, "training.finder.objective", tr("Best by"), tr("The objective of the search"));
    objective_->addItem(tr("fastest"), static_cast<int>(PlanObjective::Time));
    objective_->addItem(tr("fewest device-hours"), static_cast<int>(PlanObjective::Devices));
    objective_->addItem(tr("least energy"), static_cast<int>(PlanObjective::Energy));
    objective_->addItem(tr("cheapest"), static_cast<int>(PlanObjective::Cost));
    most_ = namedNumber(head, "training.finder.most", tr("At most so many devices"),
                        tr("Devices that a plan may use; 0: all that are drawn"), 0, 10'000'000);
    most_->setSpecialValueText(tr("all devices"));
    most_->setPrefix(tr("at most "));
    schedules_ = namedChoice(head, "training.finder.schedules", tr("Schedules"),
                             tr("Allowed orders of micro-batches in the stages"));
    schedules_->addItem(tr("1F1B"), static_cast<int>(PipelineSchedule::OneForwardOneBackward));
    schedules_->addItem(tr("GPipe"), static_cast<int>(PipelineSchedule::GPipe));
    schedules_->addItem(tr("ZB-H1"), static_cast<int>(PipelineSchedule::ZeroBubble));
    schedules_->addItem(tr("DualPipe"), static_cast<int>(PipelineSchedule::DualPipe));
    schedules_->addItem(tr("any schedule"), -1);
    inside_ =
        named(new QCheckBox(tr("tensor inside a node"), head), "training.finder.inside", tr("Tensor inside a node"),
              tr("On: tensor parallelism stays inside a node. Off: plans that cross nodes are searched too"));
    inside_->setChecked(true);
    run_ =
        named(new QPushButton(tr("Find plans"), head), "training.finder.run", tr("Find plans"),
              tr("Every plan of this model on these devices, by the closed form; the best three are also simulated"));
    bar_ = named(new QProgressBar(head), "training.finder.progress", tr("Progress of the search"),
                 tr("Evaluated shards of the model"));
    bar_->setTextVisible(false);
    bar_->setFixedWidth(unit * 10);
    bar_->hide();
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, head);
    state_->setObjectName(QStringLiteral("training.finder.state"));
    state_->setElided(true);
    across_ = namedChoice(head, "training.finder.across", tr("X axis"), tr("Horizontal axis of the plot"));
    up_ = namedChoice(head, "training.finder.up", tr("Y axis"), tr("Vertical axis of the plot"));
    for (std::size_t i = 0; i < foundFigures.size(); ++i)
        for (QComboBox* each : {across_, up_}) each->addItem(tr(foundFigures[i].name), static_cast<int>(i));
    across_->setCurrentIndex(1);
    up_->setCurrentIndex(0);
    row->addWidget(run_);
    for (QWidget* each : std::initializer_list<QWidget*>{objective_, most_, schedules_, inside_}) row->addWidget(each);
    for (QComboBox* each : {objective_, across_, up_, schedules_}) each->setMinimumContentsLength(8);
    row->addStretch(1);
    below->addWidget(bar_);
    below->addWidget(state_, 1);
    below->addWidget(up_);
    below->addWidget(new ui::Label(tr("against"), ui::FontRole::Body, ui::Tone::Muted, head));
    below->addWidget(across_);
    connect(run_, &QPushButton::clicked, this, [this] { isBusy() ? work_.cancel() : start(); });
    connect(across_, &QComboBox::activated, this, &PlanFinder::showPlot);
    connect(up_, &QComboBox::activated, this, &PlanFinder::showPlot);
    return head;
}

void PlanFinder::setQuestion(const TrainingQuestion& question, const std::string& method,
                             std::shared_ptr<const CalibrationSet> calibrations) {
    question_ = question;
    asked_ = {question.hardware, question.recipe, question.step, method, question.prices};
    calibrations_ = std::move(calibrations);
    showState();
    showUse();
}

// What is computed again is part of a plan, and was searched.
bool PlanFinder::outdated() const {
    if (!result_) return false;
    Asked asked = asked_;
    asked.step.recompute = searched_.step.recompute;
    return !(asked == searched_);
}

void PlanFinder::start() {
    if (!asked_.hardware) return;
    PlanSearchRequest request;
    request.method = asked_.method;
    request.objective = static_cast<PlanObjective>(objective_->currentData().toInt());
    request.space.mostDevices = most_->value();
    request.space.tensorInsideNode = inside_->isChecked();
    using enum PipelineSchedule;
    if (const int which = schedules_->currentData().toInt(); which >= 0)
        request.space.schedule = {static_cast<PipelineSchedule>(which)};
    else
        request.space.schedule = {OneForwardOneBackward, GPipe, ZeroBubble, DualPipe};
    request.prices.insert(asked_.prices.begin(), asked_.prices.end());
    request.top = 20;
    searched_ = asked_;
    refusal_.reset();
    since_.start();
    choose(-1);
    work_.ask(
        [request, asked = asked_, calibrations = calibrations_, cache = cache_](
            std::stop_token stop, Progress& progress) mutable -> Expected<PlanSearchResult> {
            const auto workload = cache->get(asked.recipe);
            if (!workload) return Unexpected(workload.error());
            request.scenario = {asked.hardware, *workload, {}, asked.step};
            const auto executor = makeDefaultExecutor();
            PlanSearchContext context{*executor, stop, &progress, calibrations.get()};
            return searchPlans(request, context);
        },
        [this](Expected<PlanSearchResult> found) { take(std::move(found)); });
    showState();
}

QString PlanFinder::command() const {
    QStringList more{QStringLiteral("--objective ") + QStringList{QStringLiteral("time"), QStringLiteral("devices"),
                                                                  QStringLiteral("energy"),
                                                                  QStringLiteral("cost")}[objective_->currentIndex()]};
    if (most_->value() > 0) more << QStringLiteral("--most-devices %1").arg(most_->value());
    if (!inside_->isChecked()) more << QStringLiteral("--across-nodes");
    const QStringList schedules{QStringLiteral("1f1b"), QStringLiteral("gpipe"), QStringLiteral("zero-bubble"),
                                QStringLiteral("dualpipe")};
    if (const int which = schedules_->currentIndex(); which > 0)
        more << QStringLiteral("--schedule %1")
                    .arg(which < schedules.size() ? schedules[which] : schedules.join(QLatin1Char(',')));
    return planCommand(question_, more.join(QLatin1Char(' ')));
}

void PlanFinder::take(Expected<PlanSearchResult> found) {
    result_.reset();
    if (found)
        result_ = std::move(*found);
    else
        refusal_ = found.error();
    chosen_ = -1;
    showPlot();
    showTable();
    if (result_ && !result_->points.empty()) choose(0);
}

void PlanFinder::showState() {
    const bool busy = isBusy();
    run_->setText(busy ? tr("Stop") : result_ ? tr("Find again") : tr("Find plans"));
    run_->setEnabled(busy || asked_.hardware != nullptr);
    bar_->setVisible(busy);
    if (busy) {
        bar_->setRange(0, work_.fraction() > 0 ? 1000 : 0);
        bar_->setValue(static_cast<int>(work_.fraction() * 1000));
        state_->setTone(ui::Tone::Muted);
        return state_->setFullText(
            tr("searching, %1").arg(ui::durationText(static_cast<double>(since_.elapsed()) / 1000)));
    }
    if (refusal_) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(ui::windowText(refusal_->message) + QStringLiteral(". ") +
                                   ui::windowText(refusal_->hint));
    }
    if (!result_) {
        state_->setTone(ui::Tone::Muted);
        return state_->setFullText(
            tr("every plan that fits is evaluated by the closed form; the best three are also simulated"));
    }
    if (result_->points.empty()) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(tr("no plan fits: %1").arg(ui::qs(result_->advice)));
    }
    state_->setTone(outdated() ? ui::Tone::Warning : ui::Tone::Muted);
    QString said = tr("%L1 plans in %2, %L3 evaluated")
                       .arg(static_cast<qulonglong>(result_->plans))
                       .arg(ui::durationText(result_->seconds))
                       .arg(static_cast<qulonglong>(result_->priced));
    said += result_->proven ? tr("; the first is proven best") : tr("; stopped, not proven");
    if (outdated()) said = tr("of another question: press Find plans ·  ") + said;
    state_->setFullText(said);
}

void PlanFinder::showPlot() {
    const FoundFigure& x = foundFigures[static_cast<std::size_t>(across_->currentData().toInt())];
    const FoundFigure& y = foundFigures[static_cast<std::size_t>(up_->currentData().toInt())];
    ui::FrontPlotData drawn;
    drawn.title = tr("%1 against %2").arg(tr(y.name), tr(x.name));
    drawn.xName = axisName(x);
    drawn.yName = axisName(y);
    drawn.xTicks = ticksOf(x);
    drawn.yTicks = ticksOf(y);
    drawn.xMore = x.more;
    drawn.yMore = y.more;
    if (result_) {
        for (const PlannedPoint& point : result_->points) {
            drawn.x.push_back(x.value(point.figures));
            drawn.y.push_back(y.value(point.figures));
            drawn.names.push_back(pointText(point));
        }
    }
    plot_->setData(std::move(drawn));
    plot_->setCurrent(chosen_);
}

void PlanFinder::showTable() {
    std::vector<std::vector<ui::Cell>> rows;
    if (result_) {
        for (std::size_t i = 0; i < result_->points.size(); ++i) {
            const PlannedPoint& point = result_->points[i];
            const StepFigures& f = point.figures;
            const auto order = static_cast<double>(i);
            // The plan, which is long and stands whole below, behind the figures that choose it.
            std::vector<ui::Cell> cells{
                {point.rank > 0 ? QString::number(point.rank) : QString(), order},
                {ui::text(f.seconds, Dimension::Time), f.seconds},
                {point.ranSeconds ? ui::text(*point.ranSeconds, Dimension::Time) : QString(),
                 point.ranSeconds.value_or(0),
                 point.ranFailure ? ui::windowText(point.ranFailure->message) : QString()},
                {f.mfu > 0 ? ui::percentText(f.mfu) : QString(), f.mfu},
                {ui::text(f.needs, Dimension::Data), f.needs},
                {ui::qs(toText(point.plan)), order, pointText(point), ui::Tone::Normal, false},
                {ui::countText(static_cast<double>(f.devices)), static_cast<double>(f.devices)}};
            const double dollars = f.dollarsPerTrillion();
            cells.push_back({dollars > 0 ? moneyOf(dollars) : QString(), dollars});
            rows.push_back(std::move(cells));
        }
    }
    table_->setCells({tr("Best"), tr("Closed form"), tr("Run"), tr("MFU"), tr("Memory"), tr("Plan"), tr("Devices"),
                      tr("10¹² tokens")},
                     std::move(rows));
}

// What is asked already needs no button.
void PlanFinder::showUse() {
    bool used = false;
    if (chosen_ >= 0 && result_) {
        const StepPlan& plan = result_->points[static_cast<std::size_t>(chosen_)].plan;
        used = plan.plan == question_.plan && plan.recompute == question_.step.recompute && !outdated();
    }
    use_->setEnabled(chosen_ >= 0 && !used);
    use_->setText(used ? tr("In use") : tr("Use this plan"));
}

void PlanFinder::choose(int point) {
    const auto count = result_ ? static_cast<int>(result_->points.size()) : 0;
    chosen_ = point < count ? point : -1;
    plot_->setCurrent(chosen_);
    {
        const QSignalBlocker quiet(table_);
        table_->setCurrentRow(chosen_);
    }
    showUse();
    chosenText_->setTone(chosen_ >= 0 ? ui::Tone::Normal : ui::Tone::Muted);
    chosenText_->setFullText(chosen_ >= 0 ? pointText(result_->points[static_cast<std::size_t>(chosen_)])
                                          : tr("Click a point or a row to choose a plan"));
}

}  // namespace orrery::app
