#include "app/window/serving/serving_search.h"

#include "app/document/background.h"
#include "app/window/serving/search_choices.h"
#include "app/window/state_line.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/front_plot.h"

#include <QCheckBox>
#include <QComboBox>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>

#include <algorithm>
#include <cmath>

namespace orrery::app {

ServingSearch::ServingSearch(std::shared_ptr<IterationTimes> times, QWidget* parent)
    : QWidget(parent), times_(std::move(times)), work_(new Background(this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 4, 0, 0);
    row->setSpacing(ui::Theme::instance().unit());
    row->addWidget(buildChoices());
    row->addWidget(buildResults(), 1);
    connect(work_, &Background::advanced, this, [this] {
        showProgress();
        // Rows that come are worth a look a few times a second, not thirty.
        if (findings_ && shown_.elapsed() > 250) showFindings();
    });
    connect(work_, &Background::ended, this, &ServingSearch::ended);
    showChoices();
}

ServingSearch::~ServingSearch() = default;

bool ServingSearch::isBusy() const {
    return work_->isRunning();
}

void ServingSearch::setHardware(std::shared_ptr<const Hardware> hardware) {
    hardware_ = std::move(hardware);
    checkFindings();
}

void ServingSearch::setQuestion(const ServingStudy& question) {
    question_ = question;
    if (question_.scenario.pools.empty()) question_.scenario.pools.emplace_back();
    showChoices();
    checkFindings();
}

// The configuration that was made the question's own is one of those that were searched.
bool ServingSearch::findingsAreCurrent() const {
    if (!findings_) return true;
    ServingStudy asked = findings_->question, now = question_;
    if (asked_ != hardware_) return false;
    if (sweeping_) {
        if (!(asked.sweep == now.sweep)) return false;
        const std::scoped_lock hold(findings_->lock);
        const auto any = std::ranges::find_if(findings_->points, [](const auto& p) { return !p.values.empty(); });
        if (any == findings_->points.end()) return true;
        if (!setSweepValues(asked, asked.sweep, any->values) || !setSweepValues(now, now.sweep, any->values))
            return false;
        if (!findings_->capacities) asked.capacity = now.capacity;
        return asked == now;
    }
    // The load that is set is none of those that are tried.
    asked.sweep = now.sweep;
    asked.traffic.arrivals.rate = now.traffic.arrivals.rate;
    return asked == now;
}

void ServingSearch::checkFindings() {
    if (findingsAreCurrent()) return veil_->lift();
    veil_->drop(sweeping_ ? tr("This answers an earlier question. Search again to update it.")
                          : tr("This answers an earlier question. Find the capacity again to update it."));
}

void ServingSearch::forget() {
    work_->cancel();
    if (!findings_) return;
    findings_ = std::make_shared<SearchFindings>();
    findings_->question = question_;
    asked_ = hardware_;
    told_ = 0;
    chosen_ = -1;
    sweeping_ ? showPlot() : load_->setData({});
    findings_.reset();
    choose(-1);
    state_->setFullText({});
    checkFindings();
}

void ServingSearch::showChoices() {
    if (question_.scenario.pools.empty()) question_.scenario.pools.emplace_back();
    choices_->show(question_);
    capacityFields_->show(question_);
    const auto count = static_cast<int>(choices_->configurations());
    const bool busy = isBusy();
    sweepRun_->setText(busy && sweeping_ ? tr("Stop")
                       : count > 1       ? tr("Search %1 configurations").arg(ui::countText(count))
                                         : tr("Search configurations"));
    sweepRun_->setEnabled(busy ? sweeping_ : count > 1);
    const bool promised = hasSlo();
    capacityRun_->setText(busy && !sweeping_ ? tr("Stop")
                          : promised         ? tr("Find the capacity")
                                             : tr("Set an SLO first …"));
    capacityRun_->setEnabled(!busy || !sweeping_);
    capacities_->setEnabled(promised);
    capacityRun_->setToolTip(
        promised ? tr("The highest request rate at which this share of requests meets the SLO, found by bisection")
                 : tr("The capacity search needs an SLO. Goes to the SLO in the form"));
    use_->setEnabled(chosen_ >= 0);
}

void ServingSearch::start(bool sweep) {
    sweeping_ = sweep;
    told_ = 0;
    choose(-1);
    findings_ = std::make_shared<SearchFindings>();
    findings_->question = question_;
    asked_ = hardware_;
    findings_->capacities = capacities_->isChecked() && capacities_->isEnabled();
    stack_->setCurrentIndex(sweep ? 1 : 0);
    since_.start();
    shown_.start();
    work_->start([sweep, findings = findings_, hardware = hardware_, times = times_](
                     std::stop_token stop, Progress& progress) -> Background::Finish {
        if (sweep)
            findConfigurations(*findings, hardware, *times, stop, progress);
        else
            findCapacity(*findings, hardware, *times, stop, progress);
        return {};
    });
    showChoices();
    checkFindings();
    showFindings();
}

void ServingSearch::startSweep() {
    isBusy() ? work_->cancel() : start(true);
}

bool ServingSearch::hasSlo() const {
    const ServiceLevel& promise = question_.scenario.promise;
    return promise.ttft > 0 || promise.tpot > 0 || promise.endToEnd > 0;
}

void ServingSearch::startCapacity() {
    if (isBusy()) return work_->cancel();
    hasSlo() ? start(false) : emit sloWanted();
}

void ServingSearch::showProgress() {
    if (!isBusy() || !findings_) return;
    bar_->setVisible(true);
    if (!sweeping_) {
        const std::scoped_lock hold(findings_->lock);
        bar_->setRange(0, 0);
        double low = 0, high = 0;
        for (const CapacityProbe& probe : findings_->probes[findings_->capacity[0] ? 1 : 0]) {
            if (probe.keeps) low = std::max(low, probe.rate);
            if (!probe.keeps && (high == 0 || probe.rate < high)) high = probe.rate;
        }
        return state_->setFullText(high > 0 ? tr("%1 loads tried; between %2 and %3 requests/s")
                                                  .arg(findings_->count)
                                                  .arg(low, 0, 'g', 4)
                                                  .arg(high, 0, 'g', 4)
                                            : tr("%1 loads tried").arg(findings_->count));
    }
    bar_->setRange(0, 1000);
    const double done = work_->fraction();
    bar_->setValue(static_cast<int>(done * 1000));
    const double passed = static_cast<double>(since_.elapsed()) / 1000;
    const std::scoped_lock hold(findings_->lock);
    QString text = tr("%1 configurations done").arg(findings_->count);
    if (done > 0.02 && passed > 1)
        text += tr(", about %1 left").arg(ui::text(std::ceil(passed * (1 - done) / done), Dimension::Time, 2));
    state_->setFullText(text);
}

void ServingSearch::ended() {
    bar_->setVisible(false);
    told_ = static_cast<std::size_t>(-1);
    if (!findings_) return showChoices();  // the project has gone
    showFindings();
    showChoices();
    const std::scoped_lock hold(findings_->lock);
    if (findings_->refusal) return sayRefusal(*state_, *findings_->refusal);
    state_->setTone(ui::Tone::Muted);
    state_->setToolTip({});
    const double seconds = static_cast<double>(since_.elapsed()) / 1000;
    if (!sweeping_) return;
    std::size_t failed = 0, repeated = 0, kept = 0;
    for (std::size_t i = 0; i < findings_->points.size(); ++i) {
        kept += meetsSlo(findings_->question, findings_->points[i]) ? 1 : 0;
        failed += findings_->known[i] && findings_->points[i].failure ? 1 : 0;
        repeated += findings_->points[i].sameAs >= 0 ? 1 : 0;
    }
    QString text = tr("%1 configurations in %2").arg(findings_->count).arg(ui::text(seconds, Dimension::Time));
    if (kept == 0 && findings_->count > failed)
        text += tr(" · no configuration reaches an SLO attainment of %1, so none is best")
                    .arg(ui::percentText(findings_->question.capacity.attainment));
    if (failed > 0) text += tr(" · %1 cannot run").arg(failed);
    if (repeated > 0) text += tr(" · %1 repeat another one").arg(repeated);
    if (findings_->count + repeated < findings_->points.size()) text += tr(" · stopped");
    state_->setFullText(text);
}

void ServingSearch::showFindings() {
    shown_.start();
    if (!sweeping_) return showCapacity();
    {
        const std::scoped_lock hold(findings_->lock);
        if (told_ == findings_->count && told_ > 0) return;
        told_ = findings_->count;
    }
    showPlot();
}

void ServingSearch::showPlot() {
    if (!findings_ || !sweeping_) return;
    std::vector<SweepAnswer> points;
    std::vector<bool> known;
    {
        const std::scoped_lock hold(findings_->lock);
        points = findings_->points;
        known = findings_->known;
    }
    markBest(findings_->question, points);
    std::vector<bool> best;
    for (const SweepAnswer& point : points) best.push_back(point.pareto);
    const auto& x = searchFigures()[static_cast<std::size_t>(across_->currentData().toInt())];
    const auto& y = searchFigures()[static_cast<std::size_t>(up_->currentData().toInt())];
    ui::FrontPlotData drawn;
    drawn.title = tr("%1 against %2").arg(y.head, x.head);
    drawn.xName = x.head;
    drawn.yName = y.head;
    drawn.xTicks = x.ticks;
    drawn.yTicks = y.ticks;
    drawn.xMore = x.more;
    drawn.yMore = y.more;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool there = known[i] && !points[i].failure;
        drawn.x.push_back(there ? x.value(points[i]) : std::nan(""));
        drawn.y.push_back(there ? y.value(points[i]) : std::nan(""));
        drawn.names.push_back(there ? searchPointText(findings_->question, points[i]) : QString());
    }
    drawn.best = std::move(best);
    plot_->setData(std::move(drawn));
    rows_ = fillSearchTable(*table_, findings_->question, points, known);
    choose(chosen_);
}

void ServingSearch::showCapacity() {
    ui::LinePlotData drawn;
    std::vector<ui::PlotMark> marks;
    QStringList said;
    {
        const std::scoped_lock hold(findings_->lock);
        const ServingStudy& asked = findings_->question;
        drawn.title = tr("SLO attainment by load (target %1)").arg(ui::percentText(asked.capacity.attainment));
        for (int which = 0; which < 2; ++which) {
            std::vector<CapacityProbe> probes = findings_->probes[which];
            if (probes.empty()) continue;
            std::ranges::sort(probes, {}, &CapacityProbe::rate);
            ui::PlotLine line;
            line.name = policyTitle(which == 0 ? asked.scenario.pools.front().scheduler.id : asked.compareWith->id);
            line.colour = which * 2;
            line.dots = true;
            for (const CapacityProbe& probe : probes) {
                line.x.push_back(probe.rate);
                line.y.push_back(probe.attainment);
            }
            const auto& capacity = findings_->capacity[which];
            if (capacity && *capacity > 0) {
                marks.push_back({tr("%1/s").arg(*capacity, 0, 'g', 3), *capacity});
                QString text = tr("%1: capacity %2 requests/s").arg(line.name).arg(*capacity, 0, 'g', 3);
                if (const auto& sure = findings_->sure[which])
                    text += tr(" (90 %: %1 – %2)").arg(sure->low, 0, 'g', 3).arg(sure->high, 0, 'g', 3);
                said << text;
            } else if (capacity) {
                said << tr("%1: no load meets the SLO").arg(line.name);
            }
            drawn.lines.push_back(std::move(line));
        }
    }
    drawn.xName = tr("requests per second");
    drawn.yHigh = 1.02;
    drawn.marks = marks;
    load_->setData(std::move(drawn));
    if (isBusy()) return;
    if (said.isEmpty()) said << tr("stopped");
    state_->setFullText(said.join(QStringLiteral(" · ")));
    emit capacityFound(marks);
}

void ServingSearch::choose(int point) {
    chosen_ = point;
    plot_->setCurrent(point);
    const auto row = std::ranges::find(rows_, point);
    const QSignalBlocker quiet(table_);
    table_->setCurrentRow(point < 0 || row == rows_.end() ? -1 : static_cast<int>(row - rows_.begin()));
    QString text = tr("Click a point or a row to choose a configuration");
    bool usable = false;
    if (point >= 0 && findings_) {
        const std::scoped_lock hold(findings_->lock);
        const SweepAnswer& chosen = findings_->points[static_cast<std::size_t>(point)];
        text = searchPointText(findings_->question, chosen);
        usable = !chosen.failure;
        if (chosen.failure) text += QStringLiteral(": ") + ui::windowText(chosen.failure->message);
    }
    chosenText_->setFullText(text);
    use_->setEnabled(usable);
}

void ServingSearch::useChosen() {
    if (chosen_ < 0 || !findings_) return;
    std::vector<std::string> values;
    {
        const std::scoped_lock hold(findings_->lock);
        values = findings_->points[static_cast<std::size_t>(chosen_)].values;
    }
    emit edited([axes = findings_->question.sweep, values](ServingStudy& q) {
        ServingStudy changed = q;
        if (setSweepValues(changed, axes, values)) q = changed;
    });
}

}  // namespace orrery::app
