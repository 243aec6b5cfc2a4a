#include "app/window/training/training_page.h"

#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_replication.h"
#include "app/document/commands/training_edits.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "app/window/training/exchange_player.h"
#include "app/window/training/plan_finder.h"
#include "app/window/training/plan_form.h"
#include "app/window/training/quick_answers.h"
#include "app/window/training/seats.h"
#include "app/window/training/training_start.h"
#include "methods/kernel_method.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/training/cluster_map.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/step_timeline.h"
#include "widgets/training/time_split.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedLayout>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

namespace {

/// Share of the time in which a device's links of each tier are busy. Where messages were followed over the drawn
/// links, as they were, in one span of time or (−1) on average; else on average what a device sends over what its links
/// carry.
std::vector<ui::ClusterLink> linksOf(const Estimate& estimate, const DeviceGroup& group, int span) {
    std::vector<ui::ClusterLink> links;
    for (const NetworkTier& tier : group.tiers) {
        ui::ClusterLink link;
        link.name = ui::qs(tier.name);
        link.outside = tier.betweenNodes;
        const auto followed = std::ranges::find_if(estimate.networkUse.rows, [&](const NetworkUse::Row& row) {
            return row.path == tier.path && row.what == "all links" && !row.busy.empty();
        });
        if (followed != estimate.networkUse.rows.end()) {
            link.use = busyIn(*followed, span);
            links.push_back(std::move(link));
            continue;
        }
        const std::string label = "Sent over " + tier.name + " by a device";
        const auto sent = std::ranges::find(estimate.figures, label, &Figure::label);
        if (sent == estimate.figures.end() || !tier.drawn() || estimate.latency.value <= 0) continue;
        link.use = std::min(1.0, sent->value / tier.perDevice().value / estimate.latency.value);
        links.push_back(std::move(link));
    }
    return links;
}

QString daysText(double seconds) {
    const double days = seconds / 86400;
    if (days < 2) return ui::durationText(seconds);
    return TrainingPage::tr("%1 days").arg(days < 20 ? QString::number(days, 'f', 1) : ui::countText(days));
}

}  // namespace

TrainingPage::TrainingPage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("trainingPage"));
    setAccessibleName(tr("Training"));
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &TrainingPage::follow);
    quickly_ = new QuickAnswers(studio_.cache, this);
    connect(quickly_, &QuickAnswers::answered, this, [this] {
        if (form_ && isVisible()) showAnswer();
    });
}

TrainingPage::~TrainingPage() = default;

bool TrainingPage::isStarting() const {
    return !stack_ || stack_->currentIndex() == 0;
}

bool TrainingPage::showsCases() const {
    return stack_ && stack_->currentIndex() == 2;
}

bool TrainingPage::isUpToDate() const {
    return !stale_ && !soon_.isActive() && !quickly_->isBusy() && studio_.live.upToDate() &&
           snapshot_ == studio_.live.snapshot();
}

void TrainingPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

void TrainingPage::follow() {
    stale_ = true;
    if (!isVisible() || !form_) return;
    stale_ = false;
    question_ = trainingQuestion(studio_.document, question_);
    showQuestion();
    askQuick();
    showAnswer();
}

void TrainingPage::showQuestion() {
    const bool asked = question_.lacks == TrainingLacks::Nothing;
    if (!asked) start_->show(*studio_.document.state(), question_);
    stack_->setCurrentIndex(casesOpen_ ? 2 : asked ? 1 : 0);
    if (asked) form_->setQuestion(question_);
}

void TrainingPage::feed(const ui::SnapshotPtr& snapshot) {
    snapshot_ = snapshot;
    stale_ = stale_ || !isVisible() || !form_;
    if (stale_) return;
    askQuick();
    showAnswer();
}

// The newest run, and whether it is of the question as it is.
void TrainingPage::readRun() {
    answer_.reset();
    refusal_.reset();
    run_.reset();
    current_ = false;
    if (!snapshot_ || !std::holds_alternative<TrainingStep>(snapshot_->scenario.task)) return;
    const Scenario& asked = snapshot_->scenario;
    current_ = asked.plan == question_.plan && asked.hardware == question_.hardware && asked.workload &&
               asked.workload->recipe == question_.recipe && std::get<TrainingStep>(asked.task) == question_.step;
    const auto at = static_cast<std::size_t>(snapshot_->primary);
    if (at < snapshot_->answers.size() && snapshot_->answers[at].estimate) {
        run_ = snapshot_->answers[at].estimate;
        answer_ = stepAnswer(*run_, snapshot_->answers[at].title);
        return;
    }
    for (const ui::Answer& each : snapshot_->answers)
        if (each.failed() && !refusal_) refusal_ = each.failure;
}

// That whose run is shown; else the first that prices kernels.
std::string TrainingPage::kernelMethod() const {
    std::vector<std::string> methods = studio_.document.state()->methods;
    const auto at = snapshot_ ? static_cast<std::size_t>(snapshot_->primary) : 0;
    if (snapshot_ && at < snapshot_->answers.size())
        methods.insert(methods.begin(), snapshot_->answers[at].method.toStdString());
    for (const std::string& each : methods) {
        const auto choice = methodChoice(each, builtinMethods());
        if (choice && findKernelMethod(choice->id)) return each;
    }
    return "tile-hybrid";
}

void TrainingPage::askQuick() {
    if (question_.lacks != TrainingLacks::Nothing) return;
    const std::string method = kernelMethod();
    quickly_->ask(question_, method, studio_.live.calibrations());
    finder_->setQuestion(question_, method, studio_.live.calibrations());
}

const StepAnswer* TrainingPage::shown() const {
    if (answer_ && current_) return &*answer_;
    if (quick_) return &*quick_;
    return answer_ ? &*answer_ : nullptr;
}

void TrainingPage::showAnswer() {
    readRun();
    const StepFigures* figures = quickly_->figures({question_.plan, question_.step.recompute});
    quick_ = figures ? std::optional(stepAnswer(*figures)) : std::nullopt;
    showTimeline();
    showMemory();
    showMap();
    showFigures();
    showHeadline();
    // The closed form answers at once and stands everywhere else; the timeline is the run's.
    if (current_ || !answer_) return veil_->lift();
    veil_->dropSoon(studio_.live.isEnabled()
                        ? tr("This answers the previous question. The new answer is on its way.")
                        : tr("This answers the previous question. Live evaluation is off (Ctrl+L)."));
}

void TrainingPage::showTimeline() {
    ui::StepTimelineData drawn;
    if (answer_) {
        // The best answer may be one that does not say when; then that of another is drawn, under its name.
        std::shared_ptr<const Estimate> timed = run_;
        StepAnswer said = *answer_;
        for (const ui::Answer& each : snapshot_->answers) {
            if (!timed->timeline.spans.empty()) break;
            if (!each.estimate || each.estimate->timeline.spans.empty()) continue;
            timed = each.estimate;
            said = stepAnswer(*timed, each.title);
        }
        drawn.estimate = timed;
        drawn.source = said.source;
        drawn.plan = snapshot_->scenario.plan;
        drawn.microbatches = said.microbatches;
        drawn.capacity = said.capacity;
        const auto kept = ui::keptCurves(timed->timeline, drawn.plan, drawn.microbatches);
        if (current_ && quick_ && quick_->stages.size() == kept.size()) {
            for (std::size_t s = 0; s < kept.size(); ++s) {
                const ui::StageBytes& stage = quick_->stages[s];
                drawn.held.push_back(stage.total() - stage.activations);
                drawn.chunk.push_back(kept[s].most > 0 ? stage.activations / kept[s].most : 0);
            }
        } else {
            // Stages are taken as alike, and the fullest is known.
            std::int32_t most = 0;
            for (const ui::KeptCurve& curve : kept) most = std::max(most, curve.most);
            for (const ui::StageBytes& stage : said.stages)
                if (most > 0 && stage.activations > 0) drawn.chunk = {stage.activations / most};
        }
    }
    timeline_->setData(std::move(drawn));
}

// The closed form tells parts and stages apart; the run knows the fullest stage.
void TrainingPage::showMemory() {
    ui::StageMemoryData memory;
    const StepAnswer* from = quick_ && !quick_->stages.empty() ? &*quick_ : answer_ ? &*answer_ : nullptr;
    if (from) {
        memory.source = from->source;
        memory.stages = from->stages;
        memory.onlyFullest = from->onlyFullest;
        memory.statesApart = from->statesApart;
        memory.capacity = from->capacity;
    }
    if (pinned_ && from) {
        const StepAnswer& before = pinned_->quick && !from->onlyFullest ? *pinned_->quick : pinned_->answer;
        for (const ui::StageBytes& stage : before.stages) memory.baseline.push_back(stage.total());
    }
    memory_->setData(std::move(memory));
}

void TrainingPage::showMap() {
    const Estimate* followed = current_ ? followedEstimate(*snapshot_) : nullptr;
    const int spans = linkSpans(followed), span = std::min(studio_.linkMoment.span(), spans - 1);
    moment_->setVisible(spans > 0);
    momentText_->setVisible(spans > 0);
    if (spans > 0) {
        const QSignalBlocker quiet(moment_);
        moment_->setRange(-1, spans - 1);
        moment_->setValue(span);
        momentText_->setFullText(tr("links: %1").arg(linkMomentText(followed->networkUse, span)));
    }
    ui::ClusterMapData drawn;
    drawn.plan = question_.plan;
    if (question_.group) {
        drawn.drawn = question_.group->count;
        drawn.perNode = question_.perNode;
        drawn.device = ui::qs(question_.group->name);
        drawn.node = tr("node");
        if (const auto node = nodeComponent(question_)) {
            const Component* component = componentAt(question_.hardware->root, *node);
            if (component) drawn.node = ui::qs(component->name);
        }
        if (run_ && current_ && !question_.kinds)
            drawn.links = linksOf(followed ? *followed : *run_, *question_.group, followed ? span : -1);
    }
    if (question_.kinds) seatKinds(question_, drawn);
    map_->setData(std::move(drawn));
    chooseColours();
    player_->setPlan(question_.plan);
}

// A dimension that the plan does not split has one colour: another one then says more.
void TrainingPage::chooseColours() {
    using enum ui::ClusterMap::Colouring;
    const Plan& plan = question_.plan;
    const auto count = [&](ui::ClusterMap::Colouring colouring) {
        return colouring == Stage    ? plan.pipeline
               : colouring == Tensor ? plan.tensor
               : colouring == Data   ? plan.data
                                     : plan.context;
    };
    if (count(map_->colouring()) > 1) return;
    for (const auto each : {Stage, Tensor, Data, Context}) {
        if (count(each) < 2) continue;
        selectData(colours_, static_cast<int>(each));
        return map_->setColouring(each);
    }
}

void TrainingPage::showColours() {
    map_->setColouring(static_cast<ui::ClusterMap::Colouring>(colours_->currentData().toInt()));
}

QString TrainingPage::planText() const {
    return ui::qs(toText(question_.plan));
}

void TrainingPage::showHeadline() {
    const StepAnswer* answer = shown();
    if (!answer) {
        const std::optional<Diagnostic>& why = refusal_ ? refusal_ : quickly_->refusal();
        headline_->setTone(why ? ui::Tone::Bad : ui::Tone::Muted);
        headline_->setFullText(why ? ui::windowText(why->message) : tr("No answer yet"));
        return sub_->setFullText(why                                           ? ui::windowText(why->hint)
                                 : studio_.live.isBusy() || quickly_->isBusy() ? tr("computing the step …")
                                                                               : tr("Live evaluation is off"));
    }
    const StepAnswer& a = *answer;
    QString said = tr("%1 on %2 %3: %4 a step")
                       .arg(question_.model, ui::countText(static_cast<double>(a.devices)), devicesText(question_),
                            ui::text(a.seconds, Dimension::Time));
    const bool over = a.capacity > 0 && a.needs() > a.capacity;
    if (over) said += tr(", if it fitted: %1 of memory missing").arg(ui::text(a.needs() - a.capacity, Dimension::Data));
    headline_->setTone(over ? ui::Tone::Bad : ui::Tone::Normal);
    headline_->setFullText(said);
    QStringList below{planText(), a.source};
    if (quick_ && !quick_->layers.isEmpty()) below << tr("%1 layers").arg(quick_->layers);
    if (a.high > a.low) below << tr("%1 – %2").arg(ui::text(a.low, Dimension::Time), ui::text(a.high, Dimension::Time));
    if (a.rate > 0 && a.tokens) below << tr("10¹² tokens in %1").arg(daysText(1e12 / a.rate));
    if (pinned_ && pinned_->plan != planText()) {
        const QString why = quick_ && pinned_->quick ? whyText(*quick_, *pinned_->quick) : QString();
        const double by = pinned_->answer.seconds > 0 ? a.seconds / pinned_->answer.seconds - 1 : 0;
        // What a person has just done comes first.
        below.prepend(tr("%1 against %2").arg(ui::signedPercentText(by), pinned_->plan) +
                      (why.isEmpty() ? QString() : QStringLiteral(": ") + why));
    } else if (pinned_) {
        below << tr("pinned to compare with");
    }
    sub_->setFullText(below.join(QStringLiteral(" · ")));
}

void TrainingPage::showFigures() {
    const StepAnswer* answer = shown();
    const StepAnswer* quick = quick_ && answer != &*quick_ && !(answer && answer->closed) ? &*quick_ : nullptr;
    // Runs are compared with runs, closed forms with closed forms.
    const StepAnswer* before = !pinned_                                                   ? nullptr
                               : answer && quick_ && answer == &*quick_ && pinned_->quick ? &*pinned_->quick
                                                                                          : &pinned_->answer;
    const double price = question_.meanPrice;
    cards_->setCards(answer ? stepCards(*answer, quick, before, price) : std::vector<ui::StepCard>());
    if (quick_)
        split_->setTimes(quick_->times, quick_->source,
                         pinned_ && pinned_->quick ? pinned_->quick->times : std::vector<ui::TimeShare>());
    else
        split_->setTimes({}, {});
    std::vector<std::vector<ui::Cell>> rows;
    QStringList heads{tr("Figure"), answer ? answer->source : tr("This plan")};
    if (quick) heads << quick->source;
    if (before) heads << tr("Pinned: %1").arg(pinned_->plan) << tr("Difference");
    if (answer) {
        for (const StepRow& row : stepRows(*answer, quick, before, price)) {
            const auto cell = [&](const std::optional<double>& value) {
                return value ? ui::Cell{stepText(row, *value), *value, row.tip} : ui::Cell{};
            };
            std::vector<ui::Cell> cells{{row.name, 0, row.tip, ui::Tone::Normal, false}, cell(row.value)};
            if (quick) cells.push_back(cell(row.quick));
            if (before) {
                cells.push_back(cell(row.before));
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
    pin_->setEnabled(answer || pinned_);
    pin_->setText(pinned_ ? tr("Unpin") : tr("Pin this plan"));
}

void TrainingPage::pin(bool pinned) {
    pinned_.reset();
    if (const StepAnswer* answer = shown(); pinned && answer) pinned_ = Pinned{planText(), *answer, quick_};
    if (form_) showAnswer();
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
