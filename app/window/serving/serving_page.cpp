#include "app/window/serving/serving_page.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/serving/fleet_drawing.h"
#include "app/window/serving/serving_figures.h"
#include "app/window/serving/serving_form.h"
#include "app/window/serving/serving_search.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "serving/schedulers/engine_defaults.h"
#include "widgets/common/beside_layout.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/label.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/fleet_picture.h"
#include "widgets/serving/lane_plot.h"
#include "widgets/serving/line_plot.h"
#include "widgets/serving/pair_plot.h"
#include "widgets/serving/replica_lanes.h"
#include "widgets/serving/request_lives.h"

#include <QFileInfo>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace orrery::app {

namespace {

constexpr int patience = 180;  ///< ms after the last edit before it is simulated

/// Whether both have the same run: what is searched may differ.
bool sameRun(ServingStudy a, const ServingStudy& b) {
    a.sweep = b.sweep;
    a.capacity = b.capacity;
    return a == b;
}

void beginAsEngine(SchedulerSpec& scheduler, const Hardware& hardware) {
    if (const auto device = deviceView(hardware))
        setEngineDefaults(scheduler, hardware.name + ' ' + device->name, device->main().capacity.value);
}

}  // namespace

ServingPage::ServingPage(Studio& /*studio*/, QWidget* parent)
    : Page(parent), work_(new Background(this)), load_(new Background(this)), sure_(new Background(this)) {
    setObjectName(QStringLiteral("servingPage"));
    setAccessibleName(tr("Serving"));
    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    frame_.setInterval(33);
    connect(&soon_, &QTimer::timeout, this, &ServingPage::ask);
    connect(&frame_, &QTimer::timeout, this, &ServingPage::nextFrame);
    connect(work_, &Background::advanced, this, [this] {
        if (!(work_->fraction() > 0)) return;
        now_->setFullText(tr("simulating, %1").arg(ui::percentText(work_->fraction())));
        // What it says is of the question before, as what lies under the veil.
        if (outdated_ && !runs_.empty()) headline_->setTone(ui::Tone::Muted);
    });
    connect(work_, &Background::ended, this, [this] { setTime(time_); });
    question_ = usualQuestion();
}

void ServingPage::build() {
    const int unit = ui::Theme::instance().unit();
    const double scale = ui::Theme::instance().scale();
    auto* row = new ui::BesideLayout(this, static_cast<int>(26 * unit * scale));
    form_ = new ServingForm(this);
    const auto fit = [this] {
        const ui::Theme& theme = ui::Theme::instance();
        form_->setMinimumWidth(static_cast<int>(38 * theme.unit() * ui::formGrowth(theme.scale())));
        if (fleet_) fitFleet();
    };
    fit();
    connect(&ui::Theme::instance(), &ui::Theme::changed, form_, fit);
    row->addWidget(form_);
    auto* right = new QWidget(this);
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, unit, unit, 0);
    column->setSpacing(unit / 2);
    headline_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, right);
    headline_->setObjectName(QStringLiteral("serving.headline"));
    headline_->setWordWrap(true);  // figures are not cut
    column->addWidget(headline_);
    notes_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Warning, right);
    notes_->setObjectName(QStringLiteral("serving.notes"));
    notes_->setWordWrap(true);
    notes_->hide();
    column->addWidget(buildTransport());
    auto* split = named(new QSplitter(Qt::Vertical, right), "serving.split", tr("Replicas and results"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    fleet_ = new ui::FleetPicture(split);
    split->addWidget(fleet_);
    split->addWidget(buildViews());
    QTabBar* bar = ui::tabsApart(tabs_, right);  // some views are seen without the replicas
    QWidget::setTabOrder(right->findChild<QWidget*>(QStringLiteral("serving.export")), bar);
    column->addWidget(bar);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    column->addWidget(split, 1);
    column->addWidget(notes_);  // at the foot, where it moves no tab as it comes and goes
    veil_ = new ui::Veil(split);
    row->addWidget(right);

    connect(tabs_, &QTabWidget::currentChanged, this, &ServingPage::fitFleet);
    connect(form_, &ServingForm::edited, this, [this] { take(form_->question()); });
    connect(form_, &ServingForm::turnRequested, this,
            [this](const QString& path) { emit studio_->inspection.knobRequested(QStringLiteral("serving.") + path); });
    connect(search_, &ServingSearch::edited, this, [this](const QuestionChange& change) {
        ServingStudy changed = question_;
        change(changed);
        form_->setQuestion(changed);
        take(form_->question());
    });
    connect(search_, &ServingSearch::sloWanted, form_, [this] { form_->lead("promise/ttft"); });
    connect(search_, &ServingSearch::capacityFound, this, [this](const std::vector<ui::PlotMark>& found) {
        capacities_ = found;
        drawLoad();
    });
    connect(fleet_, &ui::FleetPicture::chosen, this, &ServingPage::follow);
    connect(lives_, &ui::RequestLives::chosen, this, &ServingPage::follow);
    connect(pairs_, &ui::PairPlot::chosen, this, &ServingPage::follow);
    connect(lanes_, &ui::LanePlot::timeChosen, this, &ServingPage::setTime);
    connect(iterations_, &ui::ReplicaLanes::timeChosen, this, &ServingPage::setTime);
    headline_->setFullText(tr("What will the users see?"));
    form_->setDefaults([this](SchedulerSpec& scheduler, const std::string& device) {
        if (device.empty() && hardware_) return beginAsEngine(scheduler, *hardware_);
        if (const auto named = loadHardware(device)) beginAsEngine(scheduler, named->hardware);
    });
    form_->setQuestion(question_);
    search_->setQuestion(question_);
    search_->setHardware(hardware_);
    checkLoad();
}

ServingPage::~ServingPage() = default;

void ServingPage::take(const ServingStudy& question) {
    if (question == question_) return;  // pressed, but not moved
    const bool same = sameRun(question, question_);
    question_ = question;
    if (!same) {
        outdate();
        soon_.start();
    }
    search_->setQuestion(question_);
    emit edited(question_);
}

bool ServingPage::isBusy() const {
    return work_->isRunning() || soon_.isActive();
}

ServingStudy ServingPage::usualQuestion() {
    ServingStudy study;
    study.traffic.arrivals.rate = 30;
    study.traffic.requests = 1200;
    study.scenario.promise = {.ttft = 0.5, .tpot = 0.05};
    return study;
}

ServingStudy ServingPage::usualQuestion(const HardwarePtr& hardware, const std::string& model) {
    ServingStudy study = usualQuestion();
    if (!model.empty()) study.scenario.model.source = model;
    if (study.scenario.pools.empty()) study.scenario.pools.emplace_back();
    if (hardware)
        for (PoolSpec& pool : study.scenario.pools) beginAsEngine(pool.scheduler, *hardware);
    return study;
}

QTabWidget* ServingPage::tabs() const {
    return tabs_;
}

const ServingStudy& ServingPage::question() const {
    return question_;
}

SimTime ServingPage::end() const {
    SimTime end = 0;
    for (const auto& run : runs_) end = std::max(end, run->result.end);
    return end;
}

void ServingPage::setHardware(HardwarePtr hardware, ui::PlacementsPtr placements) {
    placements_ = std::move(placements);
    if (drawing_) drawing_->setPlacements(placements_);
    if (hardware == hardware_) return;
    hardware_ = std::move(hardware);
    if (search_) search_->setHardware(hardware_);
    outdate();
    if (isVisible()) soon_.start();
}

void ServingPage::setQuestion(const ServingStudy& question) {
    if (question == question_) return;
    const bool same = sameRun(question, question_);
    question_ = question;
    if (form_) form_->setQuestion(question);
    if (search_) search_->setQuestion(question);
    if (same) return;
    outdate();
    if (isVisible()) soon_.start(0);
}

void ServingPage::outdate() {
    stale_ = outdated_ = true;
    capacities_.clear();
    if (!form_) return;
    sure_->cancel();
    if (!runs_.empty()) veil_->dropSoon(tr("This answers the previous question. The new answer is on its way."));
    checkLoad();
}

void ServingPage::forget() {
    soon_.stop();
    for (Background* each : {work_, sure_, load_}) each->cancel();
    stale_ = true;
    outdated_ = false;
    loadAsked_.reset();
    loadLines_.clear();
    capacities_.clear();
    pinned_.reset();
    if (!form_) return;
    play_->setChecked(false);
    runs_.clear();
    showRuns({});
    setTime(0);
    follow(no_request);
    drawLoad();
    checkLoad();
    loadState_->setFullText({});
    search_->forget();
    headline_->setTone(ui::Tone::Normal);
    headline_->setFullText(tr("What will the users see?"));
    headline_->setToolTip({});
    note({});
    veil_->lift();
}

void ServingPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) soon_.start(0);
}

void ServingPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    if (play_) play_->setChecked(false);
}

void ServingPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    if (tabs_) fitFleet();
}

void ServingPage::fitFleet() {
    const QStringList ofMoment{QStringLiteral("serving.time.split"), QStringLiteral("serving.requests.split")};
    const bool moment = tabs_->currentWidget() == drawing_ || ofMoment.contains(tabs_->currentWidget()->objectName());
    // Units: below, replicas and a plot with its axes do not both fit; below the lower one, in the type of now, not
    // even beside curves of the moment, which have a lane for each replica.
    constexpr int low = 90, lowest = 60;
    const ui::Theme& theme = ui::Theme::instance();
    fleet_->setVisible(height() >= (moment ? lowest * theme.scale() : low) * theme.unit());
}

void ServingPage::ask() {
    stale_ = false;
    work_->start([question = question_, hardware = hardware_, pinned = pinned_, times = times_, page = this](
                     std::stop_token stop, Progress& progress) -> Background::Finish {
        auto answer =
            std::make_shared<ServingAnswer>(answerServing(question, hardware, pinned, *times, stop, progress));
        if (stop.stop_requested()) return {};
        return [answer, page] { page->show(std::move(*answer)); };
    });
}

void ServingPage::refuse(const Diagnostic& why) {
    const auto& pools = question_.scenario.pools;
    const bool unnamed =
        std::ranges::all_of(pools, [](const PoolSpec& pool) { return pool.device.empty() && pool.hardware.empty(); });
    if (why.code == "serving.no-device" && unnamed && !hardware_ && runs_.empty()) {
        // A page to begin with, not a mistake.
        headline_->setTone(ui::Tone::Normal);
        headline_->setFullText(
            tr("Choose a device at the left, or draw one. This page then shows latencies, throughput and SLO "
               "attainment."));
        headline_->setToolTip({});
        return;
    }
    headline_->setTone(ui::Tone::Bad);
    QString hint = ui::windowText(why.hint);
    if (why.code == "trace.kind" || why.code == "trace.column") hint = form_->askForColumns();
    // A line of a file is where somebody must go.
    QString message = ui::sentenceText(ui::windowText(why.message));
    if (why.place.line > 0 && !why.place.file.empty())
        message = tr("%1, line %2: %3")
                      .arg(QFileInfo(ui::qs(why.place.file)).fileName())
                      .arg(why.place.line)
                      .arg(message);
    headline_->setFullText(message +
                           (hint.isEmpty() ? QString() : QStringLiteral(" ") + ui::sentenceText(hint)));
    headline_->setToolTip(ui::windowText(toText(why)));
    if (!runs_.empty())
        veil_->drop(tr("This is the answer to the previous question. The new question has no answer: see above."));
}

bool ServingPage::answersNow(const ServingAnswer& answer) const {
    return answer.drawing == hardware_ && answer.pinned == pinned_ && sameRun(answer.question, question_);
}

void ServingPage::pin(bool pinned) {
    if (pinned && showsAnswer()) {
        pinned_ = std::make_shared<const PinnedFleet>(PinnedFleet{question_.scenario, hardware_});
    } else if (!std::exchange(pinned_, nullptr)) {
        return showPin();
    }
    outdate();
    soon_.start(0);
    showPin();
}

void ServingPage::showPin() {
    const QSignalBlocker quiet(pin_);
    pin_->setChecked(pinned_ != nullptr);
    pin_->setEnabled(pinned_ || showsAnswer());
    pin_->setText(pinned_ ? tr("Unpin") : tr("Pin this fleet"));
}

void ServingPage::note(const Diagnostics& warnings) {
    QStringList all, tips;
    for (const Diagnostic& each : warnings) {
        all << ui::windowText(each.message);
        tips << ui::windowText(toText(each));
    }
    notes_->setFullText(all.join(QStringLiteral(" · ")));
    notes_->setToolTip(tips.join(QLatin1Char('\n')));
    notes_->setVisible(!all.isEmpty());
}

void ServingPage::show(ServingAnswer answer) {
    // An edit of just now is asked in a moment; this answer is of the question before it already.
    const bool now = answersNow(answer);
    if (!now && answer.refusal) return emit answered();
    form_->setStream(answer.stream);  // none: what stands there would be the traffic of before
    form_->setPricers(std::move(answer.pricers));
    note(answer.warnings);
    if (answer.refusal) {
        refuse(*answer.refusal);
        emit answered();
        return;
    }
    const bool any = !answer.runs.empty();
    form_->setPlan(answer.planned, any ? answer.runs.front()->result.low : 1,
                   any ? answer.runs.front()->result.high : 1);
    const bool first = runs_.empty();
    const double share = end() > 0 ? static_cast<double>(time_) / static_cast<double>(end()) : 0;
    runs_ = std::move(answer.runs);
    outdated_ = !now;
    now ? veil_->lift() : veil_->dropSoon(tr("This answers the previous question. The new answer is on its way."));
    headline_->setTone(ui::Tone::Normal);
    showRuns(answer.planned);
    // A run that is new shows its middle, where something happens; an edited one the same share of its time.
    setTime(static_cast<SimTime>(static_cast<double>(end()) * (first ? 0.5 : share)));
    follow(current_);
    makeSure();
    emit answered();
}

void ServingPage::showRuns(const PlannedFleet& planned) {
    intervals_.assign(runs_.size(), std::nullopt);
    replays_.clear();
    std::vector<const ui::Replay*> shown;
    for (const auto& run : runs_) {
        replays_.push_back(std::make_unique<ui::Replay>(run));
        shown.push_back(replays_.back().get());
    }
    showPin();
    fleet_->setReplays(shown);
    drawing_->setFleet(planned, hardware_, placements_, shown.empty() ? nullptr : shown.front());
    lanes_->setRuns(runs_);
    iterations_->setRun(runs_.empty() ? nullptr : runs_.front());
    lives_->setRun(runs_.empty() ? nullptr : runs_.front());
    showFigures();
    showLatency();
    showPairs();
}

// How sure the figures are costs two more runs of each: they come after the answer, which does not wait for them.
void ServingPage::makeSure() {
    if (runs_.empty()) return sure_->cancel();
    sure_->start(
        [runs = runs_, seed = question_.seed, page = this](std::stop_token stop, Progress&) -> Background::Finish {
            std::vector<std::optional<ServingIntervals>> found(runs.size());
            for (std::size_t i = 0; i < runs.size() && !stop.stop_requested(); ++i) {
                if (runs[i]->metrics.iterations > mostSureIterations) continue;
                ServingOptions how;
                how.seed = seed;
                how.stop = stop;
                if (auto made = intervalsOf(runs[i]->result, runs[i]->metrics, *runs[i]->fleet, how))
                    found[i] = std::move(*made);
            }
            if (stop.stop_requested()) return {};
            return [found = std::move(found), runs, page] {
                if (page->runs_ != runs || page->outdated_) return;  // a refusal stands above them by now
                page->intervals_ = found;
                page->showFigures();
            };
        });
}

void ServingPage::setTime(SimTime time) {
    time_ = std::clamp<SimTime>(time, 0, end());
    fleet_->setTime(time_);
    drawing_->setTime(time_);
    lanes_->setTime(time_);
    iterations_->setTime(time_);
    lives_->setTime(time_);
    if (!scrub_->isSliderDown() && end() > 0)
        scrub_->setValue(static_cast<int>(static_cast<double>(time_) / static_cast<double>(end()) * scrubSteps));
    now_->setFullText(
        tr("%1 of %2")
            .arg(ui::text(toSeconds(time_), Dimension::Time, 4), ui::text(toSeconds(end()), Dimension::Time)));
}

void ServingPage::play(bool on) {
    if (on && time_ >= end()) setTime(0);
    clock_.start();
    on && !runs_.empty() ? frame_.start() : frame_.stop();
}

void ServingPage::nextFrame() {
    const double passed = static_cast<double>(clock_.restart()) / 1000 * speed_->currentData().toDouble();
    setTime(time_ + toTicks(passed));
    if (time_ >= end()) play_->setChecked(false);
}

void ServingPage::step(bool backwards) {
    play_->setChecked(false);
    SimTime best = backwards ? 0 : end();
    bool any = false;
    for (const auto& replay : replays_) {
        const SimTime next = replay->neighbour(time_, backwards);
        if (next == time_) continue;
        best = any ? (backwards ? std::max(best, next) : std::min(best, next)) : next;
        any = true;
    }
    if (any) setTime(best);
}

void ServingPage::follow(RequestIndex request) {
    if (!runs_.empty() && request != no_request && request >= runs_.front()->result.requests.size())
        request = no_request;
    current_ = request;
    fleet_->setCurrent(request);
    lives_->setCurrent(request);
    pairs_->setCurrent(request);
    showLife();
}

void ServingPage::showLife() {
    std::vector<ui::Fact> facts;
    if (current_ == no_request || runs_.empty()) {
        facts.push_back({tr("Click a request"), {}, tr("Its timeline is shown here"), ui::Tone::Muted});
        return life_->setFacts(std::move(facts));
    }
    facts.push_back({tr("Request %1").arg(current_), {}, {}, ui::Tone::Accent});
    for (const auto& run : runs_) {
        if (runs_.size() > 1) facts.push_back({run->name, {}, {}, ui::Tone::Accent});
        for (const auto& [label, value] : ui::lifeOf(*run, current_))
            facts.push_back({label, value, {}, ui::Tone::Normal});
    }
    life_->setFacts(std::move(facts));
}

void ServingPage::showLatency() {
    const auto figure = static_cast<ui::RequestFigure>(figure_->currentData().toInt());
    ui::LinePlotData plot;
    plot.title = tr("%1: share of requests within").arg(ui::nameOf(figure));
    plot.xName = ui::nameOf(figure);
    plot.xTicks = ui::TickText::Seconds;
    plot.yHigh = 1;
    for (const auto& run : runs_) {
        ui::PlotLine line;
        line.name = run->name;
        line.colour = run->colour;
        for (RequestIndex r = 0; r < run->result.requests.size(); ++r)
            if (const double value = ui::valueOf(*run, r, figure); value > 0) line.x.push_back(value);
        std::ranges::sort(line.x);
        for (std::size_t i = 0; i < line.x.size(); ++i)
            line.y.push_back(static_cast<double>(i + 1) / static_cast<double>(line.x.size()));
        plot.lines.push_back(std::move(line));
    }
    const ServiceLevel& promise = question_.scenario.promise;
    const double mark = figure == ui::RequestFigure::Ttft   ? promise.ttft
                        : figure == ui::RequestFigure::Tpot ? promise.tpot
                                                            : promise.endToEnd;
    if (mark > 0) plot.marks.push_back({tr("SLO"), mark});
    latency_->setData(std::move(plot));
}

void ServingPage::showPairs() {
    pairs_->setRuns(runs_.empty() ? nullptr : runs_.front(), runs_.size() > 1 ? runs_[1] : nullptr,
                    static_cast<ui::RequestFigure>(figure_->currentData().toInt()));
}

void ServingPage::showFigures() {
    fillFigures(*figures_, runs_, intervals_);
    if (runs_.empty()) return;
    const ServingResult& result = runs_.front()->result;
    // A number and its per cent stay in one line.
    headline_->setFullText(headlineOf(*runs_.front()).replace(QStringLiteral(" %"), QStringLiteral("\u00a0%")));
    headline_->setToolTip(
        headlineOf(*runs_.front()) + QLatin1Char('\n') +
        tr("90 % interval of iteration times: × %1 to × %2").arg(result.low, 0, 'g', 3).arg(result.high, 0, 'g', 3));
}

void ServingPage::startLoadCurve() {
    const ServiceLevel& promise = question_.scenario.promise;
    if (!(promise.ttft > 0 || promise.tpot > 0 || promise.endToEnd > 0))
        return loadState_->setFullText(tr("No SLO is set. Set one at the left, under SLO"));
    loadAsked_ = question_;
    loadHardware_ = hardware_;
    loadPinned_ = pinned_;
    loadLines_.clear();
    drawLoad();
    checkLoad();
    load_->start([question = question_, hardware = hardware_, pinned = pinned_, times = times_, page = this](
                     std::stop_token stop, Progress& progress) -> Background::Finish {
        auto curve = std::make_shared<LoadCurve>(loadCurve(question, hardware, pinned, *times, stop, progress));
        return [curve, question, page] {
            if (!page->loadAsked_ || !(*page->loadAsked_ == question)) return;  // the project has gone
            if (curve->refusal) return page->loadState_->setFullText(ui::windowText(curve->refusal->message));
            page->loadLines_ = curve->lines;
            page->drawLoad();
            page->checkLoad();
            page->loadState_->setFullText({});
        };
    });
}

void ServingPage::checkLoad() {
    const ServiceLevel& promise = question_.scenario.promise;
    const bool promised = promise.ttft > 0 || promise.tpot > 0 || promise.endToEnd > 0;
    loadPlot_->setEmptySentence(
        promised
            ? tr("SLO attainment at different request rates. Press Compute the curve.")
            : tr("SLO attainment at different request rates. Set an SLO at the left, then press Compute the curve."));
    const bool current = !loadAsked_ || loadLines_.empty() ||
                         (sameRun(*loadAsked_, question_) && loadHardware_ == hardware_ && loadPinned_ == pinned_);
    current ? loadVeil_->lift()
            : loadVeil_->drop(tr("This answers an earlier question. Press Compute the curve to update it."));
}

void ServingPage::drawLoad() {
    ui::LinePlotData plot;
    plot.title = tr("Requests that meet the SLO, by load");
    plot.xName = tr("requests per second");
    plot.logX = false;
    plot.yHigh = 1.02;
    plot.lines = loadLines_;
    if (!loadLines_.empty()) plot.marks = capacities_;
    loadPlot_->setData(std::move(plot));
}

}  // namespace orrery::app
