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
#include <numeric>

namespace orrery::app {

namespace {

constexpr std::size_t mostListed = 5000;

// `128 × 2304 × 768` of a product, `64 → 128, 56 × 56, 3 × 3` of a convolution.
QString workText(const TensorWork& work) {
    const auto number = [](double value) { return QString::number(value, 'f', 0); };
    if (work.product) {
        const QString sides =
            SchedulesTab::tr("%1 × %2 × %3").arg(number(work.rows), number(work.outputs), number(work.inputs));
        return work.batch > 1 ? SchedulesTab::tr("%1 products %2").arg(number(work.batch), sides)
                              : SchedulesTab::tr("product %1").arg(sides);
    }
    return SchedulesTab::tr("%1 %2 → %3, %4 × %5, kernel %6 × %7")
        .arg(work.depthwise ? SchedulesTab::tr("depthwise") : SchedulesTab::tr("convolution"), number(work.inputs),
             number(work.outputs), number(work.rows), number(work.columns), number(work.kernelRows),
             number(work.kernelColumns));
}

QStringList headsOf() {
    return {SchedulesTab::tr("predicted"), SchedulesTab::tr("place"), SchedulesTab::tr("measured"),
            SchedulesTab::tr("of best"),   SchedulesTab::tr("place"), SchedulesTab::tr("schedule")};
}

}  // namespace

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
                            tr("The operator and device whose schedules are looked at; how many there are"));
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
    code_->setSentence(tr("The loops of the schedule that is chosen will stand here as code."));
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
                         tr("What decides about this schedule, or about all of the operator in the mean"));
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
    fit_->setEnabled(running || (chosen && !chosen->mixed && !explored_));
    export_->setEnabled(chosen != nullptr);
    operator_->setEnabled(log_ != nullptr);
    if (!running || !work_->progress() || work_->progress()->total() == 0) return;
    state_->setTone(ui::Tone::Muted);
    state_->setFullText(tr("Fitting a model of the device's schedules: %1").arg(ui::percentText(work_->fraction())));
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
            {
                const QSignalBlocker quiet(operator_);
                operator_->clear();
                for (const ScheduleGroup& each : log_->groups) {
                    const TunedRow& first = log_->rows[each.rows.front()];
                    const QString count = ui::countText(static_cast<double>(each.rows.size()));
                    operator_->addItem(
                        each.mixed ? tr("%1: %2 schedules of operators with few").arg(ui::qs(each.device), count)
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
    work_->ask([log = log_, chosen](std::stop_token, Progress&) { return listed(*log, *chosen, nullptr); },
               [this](Listing listing) {
                   showList(std::move(listing));
                   fit();
               });
}

void SchedulesTab::fit() {
    const ScheduleGroup* chosen = group();
    if (!chosen) return;
    if (chosen->mixed) {
        return say(
            tr("These operators have less than ten schedules each, so that nothing ranks them: their loops, "
               "features and times are shown. How long the best schedule of an operator takes is asked on the "
               "command line: orrery-cli schedules."));
    }
    struct Found {
        std::shared_ptr<const ExploredOperator> explored;
        Listing listing;
    };
    work_->ask(
        [log = log_, chosen](std::stop_token stop, Progress& progress) -> Expected<Found> {
            ScheduleTraining training;
            training.stop = std::move(stop);
            training.progress = &progress;
            auto explored = exploreOperator(log->rows, *chosen, training);
            if (!explored) return tl::unexpected(std::move(explored.error()));
            Found found{std::make_shared<const ExploredOperator>(std::move(*explored)), {}};
            found.listing = listed(*log, *chosen, found.explored.get());
            return found;
        },
        [this](Expected<Found> found) {
            if (found) return showFit(std::move(found->explored), std::move(found->listing));
            if (found.error().code == "study.cancelled")
                return say(tr("Stopped: loops, features and times are shown without a model."));
            refuse(found.error());
        });
}

SchedulesTab::Listing SchedulesTab::listed(const Log& log, const ScheduleGroup& group,
                                           const ExploredOperator* explored) {
    Listing listing;
    listing.places.resize(group.rows.size());
    std::iota(listing.places.begin(), listing.places.end(), std::size_t{0});
    const auto timeOf = [&](std::size_t place) {
        const double seconds = log.rows[group.rows[place]].seconds;
        return seconds > 0 ? seconds : 1e300;
    };
    std::ranges::stable_sort(listing.places, {}, timeOf);
    std::vector<std::size_t> rank(group.rows.size());
    for (std::size_t i = 0; i < rank.size(); ++i) rank[listing.places[i]] = i + 1;
    const double best = timeOf(listing.places.front());
    if (explored) std::ranges::stable_sort(listing.places, {}, [&](std::size_t i) { return explored->toldRank[i]; });
    listing.places.resize(std::min(listing.places.size(), mostListed));
    const ui::Cell none{QStringLiteral("–"), 1e300, {}, ui::Tone::Muted, true};
    for (const std::size_t place : listing.places) {
        const TunedRow& row = log.rows[group.rows[place]];
        const auto number = [](const QString& text, double value, const QString& tip = {}) {
            return ui::Cell{text, value, tip, ui::Tone::Normal, true};
        };
        const auto rankCell = [&](std::size_t at) { return number(QString::number(at), static_cast<double>(at)); };
        std::vector<ui::Cell> cells;
        cells.push_back(explored ? number(ui::percentText(explored->told[place]), -explored->told[place],
                                          tr("Of the best, as the model predicts: best time ÷ its time"))
                                 : none);
        cells.push_back(explored ? rankCell(explored->toldRank[place]) : none);
        const bool ran = row.seconds > 0;
        cells.push_back(ran ? number(ui::text(row.seconds, Dimension::Time), row.seconds)
                            : ui::Cell{tr("failed"), 1e300, {}, ui::Tone::Bad, true});
        const bool compared = ran && !group.mixed;
        cells.push_back(compared ? number(ui::percentText(best / row.seconds), row.seconds) : none);
        cells.push_back(compared ? rankCell(rank[place]) : none);
        const QString words = ui::qs(knobsText(row));
        cells.push_back({group.mixed ? workText(row.work) : words, static_cast<double>(row.line),
                         tr("Line %1 of the log: %2").arg(row.line).arg(words), ui::Tone::Normal, false});
        listing.cells.push_back(std::move(cells));
    }
    return listing;
}

void SchedulesTab::showList(Listing listing) {
    const int before = current_;
    listed_ = std::move(listing.places);
    list_->setCells(headsOf(), std::move(listing.cells));
    const auto found = std::ranges::find(listed_, static_cast<std::size_t>(before));
    const int row = before < 0 || found == listed_.end() ? 0 : static_cast<int>(found - listed_.begin());
    {
        const QSignalBlocker quiet(list_);
        list_->setCurrentRow(-1);
        list_->setCurrentRow(row);
    }
    if (row < static_cast<int>(listed_.size())) showSchedule(static_cast<int>(listed_[static_cast<std::size_t>(row)]));
}

void SchedulesTab::showFit(std::shared_ptr<const ExploredOperator> explored, Listing listing) {
    explored_ = std::move(explored);
    std::vector<ui::SchedulePoint> points;
    for (std::size_t i = 0; i < explored_->told.size(); ++i)
        points.push_back({explored_->told[i], explored_->share[i], log_->rows[explored_->group.rows[i]].seconds,
                          explored_->rank[i], explored_->toldRank[i]});
    scatter_->setPoints(std::move(points));
    current_ = -1;  // the model's first choice
    showList(std::move(listing));
    const RankedOperator& judged = explored_->judged;
    const auto count = [](std::size_t number) { return ui::countText(static_cast<double>(number)); };
    const QString from =
        explored_->operators > 0
            ? tr("Ranked by a model of %1 other operators of this device (%2 schedules) that has not seen this one.")
                  .arg(count(explored_->operators), count(explored_->learnedFrom))
            : tr("The device has no other operator: each fifth of the schedules is ranked by a model of the others.");
    QString text =
        from + tr(" Rank correlation %1; its first choice reaches %2 of the best, the best of its first ten "
                  "%3 (ten drawn blindly: %4).")
                   .arg(judged.spearman, 0, 'f', 3)
                   .arg(ui::percentText(judged.top1), ui::percentText(judged.top10), ui::percentText(judged.chance10));
    if (judged.failed > 0) text += tr(" %1 failed.").arg(count(judged.failed));
    if (explored_->told.size() > mostListed) text += tr(" The first %1 are listed.").arg(count(mostListed));
    if (!log_->skipped.empty()) text += tr(" Other operators of the log are not known and were left out.");
    say(text);
    QStringList left;
    for (const Diagnostic& each : log_->skipped) left << ui::windowText(toText(each));
    state_->setToolTip(left.join(QLatin1Char('\n')));
}

}  // namespace orrery::app
