#include "app/window/training/training_page.h"

#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_replication.h"
#include "app/document/commands/training_edits.h"
#include "app/window/studio.h"
#include "app/window/training/plan_form.h"
#include "app/window/training/training_start.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/training/cluster_map.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/step_timeline.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedLayout>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

namespace {

/// Share of the step in which a device's links of each tier are busy, on average: what it sends over what they carry.
std::vector<ui::ClusterLink> linksOf(const Estimate& estimate, const DeviceGroup& group) {
    std::vector<ui::ClusterLink> links;
    for (const NetworkTier& tier : group.tiers) {
        const std::string label = "Sent over " + tier.name + " by a device";
        const auto sent = std::ranges::find(estimate.figures, label, &Figure::label);
        if (sent == estimate.figures.end() || !tier.drawn() || estimate.latency.value <= 0) continue;
        ui::ClusterLink link;
        link.name = ui::qs(tier.name);
        link.use = std::min(1.0, sent->value / tier.perDevice().value / estimate.latency.value);
        link.outside = tier.betweenNodes;
        links.push_back(std::move(link));
    }
    return links;
}

QString daysText(double seconds) {
    const double days = seconds / 86400;
    if (days < 2) return ui::durationText(seconds);
    return TrainingPage::tr("%1 days").arg(days < 20 ? QString::number(days, 'f', 1) : ui::countText(days));
}

/// What one chunk of a micro-batch keeps, from the fullest stage's activations: stages are taken as alike.
double chunkBytes(const StepAnswer& answer, const Estimate& estimate) {
    std::int32_t most = 0;
    for (const ui::KeptCurve& curve : ui::keptCurves(estimate.timeline)) most = std::max(most, curve.most);
    double activations = 0;
    for (const ui::StageBytes& stage : answer.stages) activations = std::max(activations, stage.activations);
    return most > 0 ? activations / most : 0;
}

}  // namespace

TrainingPage::TrainingPage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("trainingPage"));
    setAccessibleName(tr("Training"));
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &TrainingPage::follow);
}

TrainingPage::~TrainingPage() = default;

bool TrainingPage::isStarting() const {
    return !stack_ || stack_->currentIndex() == 0;
}

bool TrainingPage::isUpToDate() const {
    return !stale_ && studio_.live.upToDate() && snapshot_ == studio_.live.snapshot();
}

void TrainingPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    build();
    if (stale_) follow();
}

void TrainingPage::follow() {
    stale_ = true;
    if (!isVisible() || !form_) return;
    stale_ = false;
    question_ = trainingQuestion(studio_.document, question_);
    showQuestion();
    showAnswer();
}

void TrainingPage::showQuestion() {
    const bool asked = question_.lacks == TrainingLacks::Nothing;
    if (!asked) start_->show(*studio_.document.state(), question_);
    stack_->setCurrentIndex(asked ? 1 : 0);
    if (asked) form_->setQuestion(question_);
}

void TrainingPage::feed(const ui::SnapshotPtr& snapshot) {
    snapshot_ = snapshot;
    if (isVisible() && form_)
        showAnswer();
    else
        stale_ = true;
}

void TrainingPage::showAnswer() {
    answer_.reset();
    refusal_.reset();
    std::shared_ptr<const Estimate> estimate;
    if (snapshot_ && std::holds_alternative<TrainingStep>(snapshot_->scenario.task)) {
        const auto at = static_cast<std::size_t>(snapshot_->primary);
        if (at < snapshot_->answers.size()) {
            const ui::Answer& given = snapshot_->answers[at];
            estimate = given.estimate;
            if (estimate) answer_ = stepAnswer(*estimate, given.title);
        }
        for (const ui::Answer& each : snapshot_->answers)
            if (!estimate && each.failure && !each.notApplicable() && !refusal_) refusal_ = each.failure;
    }
    ui::StepTimelineData drawn;
    ui::StageMemoryData memory;
    if (answer_) {
        drawn.estimate = estimate;
        drawn.source = answer_->source;
        if (const double each = chunkBytes(*answer_, *estimate); each > 0) drawn.chunk = {each};
        drawn.capacity = answer_->capacity;
        memory.source = answer_->source;
        memory.stages = answer_->stages;
        memory.onlyFullest = answer_->onlyFullest;
        memory.statesApart = answer_->statesApart;
        memory.capacity = answer_->capacity;
        if (pinned_) memory.baseline = {pinned_->answer.needs()};
    }
    timeline_->setData(std::move(drawn));
    memory_->setData(std::move(memory));
    showMap();
    showFigures();
    showHeadline();
}

void TrainingPage::showMap() {
    ui::ClusterMapData shown;
    shown.plan = question_.plan;
    if (question_.group) {
        shown.drawn = question_.group->count;
        shown.perNode = question_.perNode;
        shown.device = ui::qs(question_.group->name);
        shown.node = tr("node");
        if (const auto node = nodeComponent(question_)) {
            const Component* component = componentAt(question_.hardware->root, *node);
            if (component) shown.node = ui::qs(component->name);
        }
        const Estimate* estimate = snapshot_ ? snapshot_->primaryEstimate() : nullptr;
        if (answer_ && estimate) shown.links = linksOf(*estimate, *question_.group);
    }
    map_->setData(std::move(shown));
}

void TrainingPage::showColours() {
    map_->setColouring(static_cast<ui::ClusterMap::Colouring>(colours_->currentData().toInt()));
}

QString TrainingPage::planText() const {
    return ui::qs(toText(question_.plan));
}

void TrainingPage::showHeadline() {
    headline_->setToolTip({});
    if (!answer_) {
        headline_->setTone(refusal_ ? ui::Tone::Bad : ui::Tone::Muted);
        headline_->setFullText(refusal_ ? ui::qs(refusal_->message) : tr("No answer yet"));
        sub_->setFullText(refusal_                ? ui::qs(refusal_->hint)
                          : studio_.live.isBusy() ? tr("computing the step …")
                                                  : tr("Live evaluation is off"));
        return;
    }
    const StepAnswer& a = *answer_;
    QString said =
        tr("%1 on %2 %3: %4 a step")
            .arg(question_.model, ui::countText(static_cast<double>(a.devices)),
                 question_.group ? ui::qs(question_.group->name) : tr("devices"), ui::text(a.seconds, Dimension::Time));
    const bool over = a.capacity > 0 && a.needs() > a.capacity;
    if (over) said += tr(", if it fitted: %1 too much").arg(ui::text(a.needs() - a.capacity, Dimension::Data));
    headline_->setTone(over ? ui::Tone::Bad : ui::Tone::Normal);
    headline_->setFullText(said);
    QStringList below{planText(), a.source};
    if (a.high > a.low) below << tr("%1 – %2").arg(ui::text(a.low, Dimension::Time), ui::text(a.high, Dimension::Time));
    if (a.rate > 0 && a.tokens) below << tr("10¹² tokens in %1").arg(daysText(1e12 / a.rate));
    if (pinned_) below << tr("compared with %1").arg(pinned_->plan);
    sub_->setFullText(below.join(QStringLiteral(" · ")));
}

void TrainingPage::showFigures() {
    const StepAnswer* before = pinned_ ? &pinned_->answer : nullptr;
    cards_->setCards(answer_ ? stepCards(*answer_, nullptr, before, form_->price()) : std::vector<ui::StepCard>());
    std::vector<std::vector<ui::Cell>> rows;
    QStringList heads{tr("Figure"), tr("This plan")};
    if (before) heads << tr("Pinned: %1").arg(pinned_->plan) << tr("Difference");
    if (answer_) {
        for (const StepRow& row : stepRows(*answer_, nullptr, before, form_->price())) {
            std::vector<ui::Cell> cells{{row.name, 0, row.tip, ui::Tone::Normal, false},
                                        {stepText(row, row.value), row.value, row.tip}};
            if (before) {
                cells.push_back(row.before ? ui::Cell{stepText(row, *row.before), *row.before, row.tip} : ui::Cell{});
                const bool known = row.before && *row.before > 0;
                const double by = known ? row.value / *row.before - 1 : 0;
                cells.push_back(known ? ui::Cell{ui::signedPercentText(by), by, row.tip,
                                                 std::abs(by) < 0.005           ? ui::Tone::Muted
                                                 : (by < 0) == row.lessIsBetter ? ui::Tone::Good
                                                                                : ui::Tone::Bad}
                                      : ui::Cell{});
            }
            rows.push_back(std::move(cells));
        }
    }
    figures_->setCells(heads, std::move(rows));
    const QSignalBlocker quiet(pin_);
    pin_->setChecked(pinned_.has_value());
    pin_->setEnabled(answer_.has_value() || pinned_);
    pin_->setText(pinned_ ? tr("Unpin") : tr("Pin this plan"));
}

void TrainingPage::pin(bool pinned) {
    pinned_.reset();
    if (pinned && answer_) pinned_ = Pinned{planText(), *answer_};
    showAnswer();
}

void TrainingPage::applyStep(const Plan& plan, const TrainingStep& step, int gesture) {
    studio_.apply(setTrainingEdit(*studio_.document.state(), plan, toText(Task(step))), gesture);
}

void TrainingPage::applyPlan(const Plan& plan, ui::EditPhase phase) {
    if (phase == ui::EditPhase::Begin) {
        gesture_ = studio_.document.newGesture();
        return;
    }
    applyStep(plan, question_.step, gesture_);
    if (phase == ui::EditPhase::Commit) gesture_ = 0;
}

void TrainingPage::start(const TrainingStart& start) {
    if (studio_.apply(startTrainingEdit(*studio_.document.state(), start))) studio_.live.ask();
}

}  // namespace orrery::app
