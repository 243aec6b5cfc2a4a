#include "app/window/evidence/schedules_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/state_line.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/schedules/nest_code.h"
#include "widgets/schedules/nest_picture.h"
#include "widgets/schedules/reason_bars.h"
#include "widgets/schedules/schedule_scatter.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

SchedulesTab::SchedulesTab(QWidget* parent) : QWidget(parent), why_(new Background(this)), work_(new Background(this)) {
    const int unit = ui::Theme::instance().unit();
    setAcceptDrops(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    column->addWidget(buildForm());
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    state_->setObjectName(QStringLiteral("schedules.state"));
    state_->setWordWrap(true);
    column->addWidget(state_);
    auto* split = named(new QSplitter(Qt::Horizontal, this), "schedules.split", tr("All schedules, and one of them"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    auto* left = named(new QSplitter(Qt::Vertical, split), "schedules.left", tr("Schedules as a list and as a plot"),
                       tr("Above: the schedules. Below: predicted against measured"));
    left->setChildrenCollapsible(false);
    list_ = new ui::CellsTable(QStringLiteral("schedules.list"), tr("Schedules"),
                               tr("What the model predicts of each schedule and what was measured. A click on a head "
                                  "sorts, a click on a row shows the schedule at the right"),
                               left);
    list_->setEmptyText(
        tr("Open a tuning log of AutoTVM or Ansor, or drop it here. The schedules of one of its operators are listed "
           "with what a model predicts of them."));
    list_->horizontalHeader()->setResizeContentsPrecision(20);
    scatter_ = new ui::ScheduleScatter(left);
    left->addWidget(list_);
    left->addWidget(scatter_);
    split->addWidget(left);
    split->addWidget(buildOne(split));
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    column->addWidget(split, 1);
    connect(list_, &ui::CellsTable::rowChosen, this, [this](int row) {
        if (row >= 0 && row < static_cast<int>(listed_.size()))
            showSchedule(static_cast<int>(listed_[static_cast<std::size_t>(row)]));
    });
    connect(scatter_, &ui::ScheduleScatter::chosen, this, [this](int place) {
        const auto found = std::ranges::find(listed_, static_cast<std::size_t>(place));
        if (found == listed_.end()) return showSchedule(place);
        list_->setCurrentRow(static_cast<int>(found - listed_.begin()));
    });
    connect(work_, &Background::advanced, this, &SchedulesTab::showState);
    connect(work_, &Background::ended, this, &SchedulesTab::showState);
    say(
        tr("Why is one schedule faster than another, and does a model know? Open the log of a compiler's tuning: each "
           "schedule is shown as the loops that it makes."));
    showState();
}

SchedulesTab::~SchedulesTab() {
    // Jobs are told to stop together, not one after the other.
    why_->cancel();
    work_->cancel();
}

QWidget* SchedulesTab::buildForm() {
    auto* form = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    auto* open = named(new QPushButton(tr("Open log …"), form), "schedules.open", tr("Open a tuning log"),
                       tr("Records of AutoTVM or Ansor (.json, .log), or a table of trials (.csv)"));
    operator_ = namedChoice(form, "schedules.operator", tr("Operator"),
                            tr("The operator and device of the schedules, and their number"));
    operator_->setMinimumContentsLength(30);
    operator_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    fit_ = named(new QPushButton(tr("Fit"), form), "schedules.fit", tr("Fit the model, or stop"),
                 tr("Learns from the device's other operators and predicts the schedules of this one"));
    export_ = named(new QPushButton(tr("Export …"), form), "schedules.export", tr("Export"),
                    tr("The schedules as CSV or LaTeX, the loops as code or picture, the plots as pictures"));
    for (QWidget* each : {static_cast<QWidget*>(open), static_cast<QWidget*>(operator_), static_cast<QWidget*>(fit_),
                          static_cast<QWidget*>(export_)})
        row->addWidget(each);
    connect(open, &QPushButton::clicked, this, [this] {
        const QString file =
            QFileDialog::getOpenFileName(this, tr("Open a tuning log"), {}, tr("Tuning logs (*.json *.log *.csv)"));
        if (!file.isEmpty()) openLog(file);
    });
    connect(operator_, &QComboBox::currentIndexChanged, this, &SchedulesTab::chooseGroup);
    connect(fit_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : fit(); });
    connect(export_, &QPushButton::clicked, this, &SchedulesTab::chooseFile);
    return form;
}

QWidget* SchedulesTab::buildOne(QWidget* parent) {
    const int unit = ui::Theme::instance().unit();
    one_ = named(new QTabWidget(parent), "schedules.one", tr("The schedule that is chosen"),
                 tr("Its loops, its features, and what the model looks at"));
    one_->setDocumentMode(true);
    auto* nest = new QWidget(ui::stackOf(one_));
    auto* column = new QVBoxLayout(nest);
    column->setContentsMargins(0, unit / 2, 0, 0);
    column->setSpacing(unit / 2);
    basis_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, nest);
    basis_->setObjectName(QStringLiteral("schedules.basis"));
    basis_->setWordWrap(true);
    auto* both = named(new QSplitter(Qt::Vertical, nest), "schedules.nest", tr("Loops as code and as a picture"),
                       tr("Above: the loops as code. Below: the same as bars"));
    both->setChildrenCollapsible(false);
    code_ = new ui::NestCode(both);
    code_->setAcceptDrops(false);
    code_->setMinimumHeight(60);
    code_->setSentence(tr("The loops of the selected schedule appear here as code."));
    auto* scroll = named(new QScrollArea(both), "schedules.picture.scroll", tr("Picture of the loop nest"),
                         tr("Scrolls where the loops need more room"));
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    picture_ = new ui::NestPicture(scroll);
    scroll->setWidget(picture_);
    both->addWidget(code_);
    both->addWidget(scroll);
    both->setSizes({200, 300});
    column->addWidget(basis_);
    column->addWidget(both, 1);
    connect(code_, &ui::NestCode::lineChosen, picture_, &ui::NestPicture::setCurrentLine);
    connect(picture_, &ui::NestPicture::lineChosen, code_, &ui::NestCode::setCurrentLine);
    facts_ = new ui::CellsTable(QStringLiteral("schedules.features"), tr("Features"),
                                tr("What the model sees of the schedule, and what each feature adds to its answer"),
                                ui::stackOf(one_));
    facts_->setEmptyText(tr("What the model sees of the schedule that is chosen will be listed here."));
    facts_->horizontalHeader()->setResizeContentsPrecision(80);
    auto* why = new QWidget(ui::stackOf(one_));
    auto* below = new QVBoxLayout(why);
    below->setContentsMargins(0, unit / 2, 0, 0);
    below->setSpacing(unit / 2);
    whose_ = namedChoice(why, "schedules.whose", tr("Of which schedules"),
                         tr("What decides for this schedule, or on average for all schedules of the operator"));
    whose_->addItems({tr("This schedule"), tr("All of the operator")});
    bars_ = new ui::ReasonBars(why);
    below->addWidget(whose_, 0, Qt::AlignLeft);
    below->addWidget(bars_, 1);
    connect(whose_, &QComboBox::currentIndexChanged, this, &SchedulesTab::showReasons);
    one_->addTab(nest, tr("Loop nest"));
    one_->addTab(facts_, tr("Features"));
    one_->addTab(why, tr("What the model looks at"));
    return one_;
}

void SchedulesTab::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile()) event->acceptProposedAction();
}

void SchedulesTab::dropEvent(QDropEvent* event) {
    if (!event->mimeData()->hasUrls()) return;
    event->acceptProposedAction();
    openLog(event->mimeData()->urls().front().toLocalFile());
}

void SchedulesTab::say(const QString& text, bool bad) {
    state_->setTone(bad ? ui::Tone::Bad : ui::Tone::Muted);
    state_->setToolTip({});
    state_->setFullText(text);
}

void SchedulesTab::refuse(const Diagnostic& why) {
    sayRefusal(*state_, why);
}

bool SchedulesTab::isWorking() const {
    return work_->isRunning() || why_->isRunning();
}

const ScheduleGroup* SchedulesTab::group() const {
    const int at = operator_->currentIndex();
    return log_ && at >= 0 && at < static_cast<int>(log_->groups.size()) ? &log_->groups[static_cast<std::size_t>(at)]
                                                                         : nullptr;
}

void SchedulesTab::showState() {
    const bool running = work_->isRunning();
    const ScheduleGroup* chosen = group();
    fit_->setText(running ? tr("Stop") : tr("Fit"));
    fit_->setEnabled(running || (chosen && (chosen->mixed ? !times_ : !explored_ || intervalsLeft_)));
    export_->setEnabled(chosen != nullptr);
    operator_->setEnabled(log_ != nullptr);
    if (!running || !work_->progress() || work_->progress()->total() == 0) return;
    state_->setTone(ui::Tone::Muted);
    const QString what = explored_ ? tr("Finding how far the model may be off: %1")
                                   : tr("Fitting a model of the device's schedules: %1");
    state_->setFullText(what.arg(ui::percentText(work_->fraction())));
}

void SchedulesTab::openLog(const QString& file) {
    say(tr("Reading %1").arg(QFileInfo(file).fileName()));
    work_->ask(
        [path = file.toStdString()](std::stop_token, Progress&) -> Expected<std::shared_ptr<const Log>> {
            auto read = readTuningLog(path);
            if (!read) return tl::unexpected(std::move(read.error()));
            auto log = std::make_shared<Log>();
            log->rows = std::move(read->rows);
            log->skipped = std::move(read->skipped);
            if (log->rows.empty()) return tl::unexpected(log->skipped.front());
            addKnownDevices(log->rows);
            log->groups = groupsOf(log->rows);
            return log;
        },
        [this](Expected<std::shared_ptr<const Log>> log) {
            if (!log) return refuse(log.error());
            log_ = *log;
            times_.reset();
            {
                const QSignalBlocker quiet(operator_);
                operator_->clear();
                for (const ScheduleGroup& each : log_->groups) {
                    const TunedRow& first = log_->rows[each.rows.front()];
                    const QString count = ui::countText(static_cast<double>(each.rows.size()));
                    operator_->addItem(
                        each.mixed ? tr("%1: %2 schedules of operators with few each").arg(ui::qs(each.device), count)
                                   : tr("%1 · %2 · %3: %4 schedules")
                                         .arg(workText(first.work), ui::qs(each.task), ui::qs(each.device), count));
                    operator_->setItemData(operator_->count() - 1, ui::qs(each.workload), Qt::ToolTipRole);
                }
                operator_->setCurrentIndex(0);
            }
            chooseGroup();
        });
}

// The list with what was measured comes at once, the model after it.
void SchedulesTab::chooseGroup() {
    const ScheduleGroup* chosen = group();
    if (!chosen) return;
    explored_.reset();
    reasons_.reset();
    current_ = -1;
    scatter_->setPoints({});
    bars_->clear();
    say(tr("Listing the schedules"));
    work_->ask(
        [log = log_, chosen](std::stop_token, Progress&) {
            return chosen->mixed ? listedTimes(*log, *chosen, nullptr) : listed(*log, *chosen, nullptr);
        },
        [this](Listing listing) {
            showList(std::move(listing));
            fit();
        });
}

void SchedulesTab::fit() {
    const ScheduleGroup* chosen = group();
    if (!chosen) return;
    if (chosen->mixed) return fitTimes();
    if (explored_ && intervalsLeft_) return askIntervals();
    work_->ask(
        [log = log_, chosen](std::stop_token stop, Progress& progress) -> Expected<Fitted> {
            ScheduleTraining training;
            training.stop = std::move(stop);
            training.progress = &progress;
            auto explored = exploreOperator(log->rows, *chosen, training);
            if (!explored) return tl::unexpected(std::move(explored.error()));
            Fitted found{std::make_shared<const ExploredOperator>(std::move(*explored)), {}};
            found.listing = listed(*log, *chosen, found.explored.get());
            return found;
        },
        [this](Expected<Fitted> found) {
            if (!found) return showWithout(found.error());
            showFit(std::move(*found));
            askIntervals();
        });
}

// Ranks come at once; how far they may be off takes a fit for each other operator.
void SchedulesTab::askIntervals() {
    work_->ask(
        [log = log_, chosen = group(), explored = explored_](std::stop_token stop,
                                                             Progress& progress) -> Expected<Fitted> {
            ScheduleTraining training;
            training.stop = std::move(stop);
            training.progress = &progress;
            auto wider = withIntervals(log->rows, *explored, training);
            if (!wider) return tl::unexpected(std::move(wider.error()));
            Fitted found{std::make_shared<const ExploredOperator>(std::move(*wider)), {}};
            found.listing = listed(*log, *chosen, found.explored.get());
            return found;
        },
        [this](Expected<Fitted> found) {
            if (found) return showIntervals(std::move(*found));
            sayFit(found.error().code == "study.cancelled"
                       ? tr(" Stopped: without intervals.")
                       : tr(" Without intervals: %1.").arg(ui::windowText(found.error().message)));
        });
}

// Operators with few schedules: no order to tell, but how long each takes.
void SchedulesTab::fitTimes() {
    struct Found {
        std::shared_ptr<const ScheduleJudgement> times;
        Listing listing;
    };
    work_->ask(
        [log = log_, chosen = group(), times = times_](std::stop_token stop, Progress& progress) -> Expected<Found> {
            Found found{times, {}};
            if (!found.times) {
                ScheduleTraining training;
                training.stop = std::move(stop);
                training.progress = &progress;
                auto told = exploreTimes(log->rows, training);
                if (!told) return tl::unexpected(std::move(told.error()));
                found.times = std::make_shared<const ScheduleJudgement>(std::move(*told));
            }
            found.listing = listedTimes(*log, *chosen, found.times.get());
            return found;
        },
        [this](Expected<Found> found) {
            if (!found) return showWithout(found.error());
            showTimes(std::move(found->times), std::move(found->listing));
        });
}

void SchedulesTab::showWithout(const Diagnostic& why) {
    if (why.code == "study.cancelled") return say(tr("Stopped: loops, features and times are shown without a model."));
    if (why.code != "schedules.few") return refuse(why);
    say(tr("Loops, features and times are shown without a model: %1.").arg(ui::windowText(why.message)));
}

void SchedulesTab::showList(Listing listing) {
    const int before = current_;
    listed_ = std::move(listing.places);
    list_->setCells(listHeads(group()->mixed), std::move(listing.cells));
    const auto found = std::ranges::find(listed_, static_cast<std::size_t>(before));
    const int row = before < 0 || found == listed_.end() ? 0 : static_cast<int>(found - listed_.begin());
    {
        const QSignalBlocker quiet(list_);
        list_->setCurrentRow(-1);
        list_->setCurrentRow(row);
    }
    if (row < static_cast<int>(listed_.size())) showSchedule(static_cast<int>(listed_[static_cast<std::size_t>(row)]));
}

void SchedulesTab::showTimes(std::shared_ptr<const ScheduleJudgement> times, Listing listing) {
    times_ = std::move(times);
    std::vector<ui::ScheduleTimePoint> points;
    for (const std::size_t row : group()->rows) points.push_back({times_->said[row], log_->rows[row].seconds});
    scatter_->setTimes(points);
    current_ = -1;
    showList(std::move(listing));
    const auto judged = std::ranges::find(times_->devices, group()->device, &JudgedTimes::device);
    if (judged == times_->devices.end()) return say(tr("None of these schedules ran."));
    say(tr("Each operator has fewer than ten schedules. So the times of held-out operators are predicted, in five "
           "folds. On this device: mean error %1, median %2, rank correlation %3, coverage of the 90 % interval %4 of "
           "%5.")
            .arg(ui::percentText(judged->mape), ui::percentText(judged->median))
            .arg(judged->spearman, 0, 'f', 3)
            .arg(ui::percentText(judged->coverage), ui::countText(static_cast<double>(judged->rows))));
}

std::vector<ui::SchedulePoint> SchedulesTab::pointsOf(const ExploredOperator& explored) const {
    std::vector<ui::SchedulePoint> points;
    for (std::size_t i = 0; i < explored.told.size(); ++i) {
        points.push_back({explored.told[i], explored.share[i], log_->rows[explored.group.rows[i]].seconds,
                          explored.rank[i], explored.toldRank[i]});
        if (!explored.ranges.empty())
            points.back().low = explored.ranges[i].low, points.back().high = explored.ranges[i].high;
    }
    return points;
}

void SchedulesTab::showFit(Fitted fitted) {
    explored_ = std::move(fitted.explored);
    intervalsLeft_ = true;
    scatter_->setPoints(pointsOf(*explored_));
    current_ = -1;  // the model's first choice
    showList(std::move(fitted.listing));
    sayFit();
}

void SchedulesTab::showIntervals(Fitted fitted) {
    explored_ = std::move(fitted.explored);
    intervalsLeft_ = false;
    scatter_->setIntervals(pointsOf(*explored_));
    {
        const QSignalBlocker quiet(list_);  // it keeps its row, and the order is the same
        list_->setCells(listHeads(false), std::move(fitted.listing.cells));
    }
    if (!reasons_ && current_ >= 0) askReasons();  // they were asked of the fit before
    sayFit();
}

void SchedulesTab::sayFit(const QString& ofIntervals) {
    const RankedOperator& judged = explored_->judged;
    const auto count = [](std::size_t number) { return ui::countText(static_cast<double>(number)); };
    const QString from = explored_->operators > 0 ? tr("Ranked by a model fitted to %1 other operators of this device "
                                                       "(%2 schedules). This operator was held out.")
                                                        .arg(count(explored_->operators), count(explored_->learnedFrom))
                                                  : tr("The device has no other operator in this log. So the schedules "
                                                       "are ranked in five folds, each by a model of the others.");
    QString text =
        from + tr(" Rank correlation %1. Its first choice reaches %2 of the best, the best of its first ten reaches %3 "
                  "(ten at random: %4).")
                   .arg(judged.spearman, 0, 'f', 3)
                   .arg(ui::percentText(judged.top1), ui::percentText(judged.top10), ui::percentText(judged.chance10));
    // In folds the models behind the intervals know the schedules that would be counted.
    if (judged.stated && explored_->operators > 0) {
        text += tr(" %1 of the schedules are inside the intervals of their shares, %2 or more are expected.")
                    .arg(ui::percentText(judged.stated->coverage), ui::percentText(judged.stated->chance));
        text += tr(" In %1 of operators or more a first choice reaches %2 of the best.")
                    .arg(ui::percentText(judged.stated->first.chance), ui::percentText(judged.stated->first.share));
    }
    if (judged.failed > 0) text += tr(" %1 failed.").arg(count(judged.failed));
    if (explored_->told.size() > mostListed) text += tr(" The first %1 are listed.").arg(count(mostListed));
    if (!log_->skipped.empty()) text += tr(" Other operators of the log are unknown and were not read.");
    say(text + ofIntervals);
    QStringList left;
    for (const Diagnostic& each : log_->skipped) left << ui::windowText(toText(each));
    state_->setToolTip(left.join(QLatin1Char('\n')));
}

}  // namespace orrery::app
