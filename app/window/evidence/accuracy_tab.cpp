#include "app/window/evidence/accuracy_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/holdout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/accuracy_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/residual_plot.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <mutex>
#include <set>

namespace orrery::app {

namespace {

enum Against { Intensity, Size, Prediction };

ui::Cell percentCell(double share, ui::Tone tone = ui::Tone::Normal) {
    return {ui::percentText(share), share, {}, tone, true};
}
ui::Cell signedCell(double share) {
    return {ui::signedPercentText(share), share};
}
ui::Cell timeCell(double seconds) {
    return {ui::text(Seconds(seconds)), seconds, ui::fullText(seconds, Dimension::Time)};
}
ui::Cell wordCell(const QString& word, ui::Tone tone = ui::Tone::Normal) {
    return {word, 0, word, tone, false};
}

/// Every n-th row, so that each table keeps its share; the same rows for every method.
std::vector<RowRef> thinned(std::vector<RowRef> rows, std::size_t most) {
    if (rows.size() <= most) return rows;
    std::vector<RowRef> kept;
    kept.reserve(most);
    for (std::size_t i = 0; i < most; ++i) kept.push_back(rows[i * rows.size() / most]);
    return kept;
}

/// The rows that no calibration was fitted to, as far as the files say how they were split: else what was learned by
/// heart would be judged as if it were predicted.
std::vector<RowRef> unseen(const std::vector<ReferenceTable>& tables, std::vector<RowRef> rows,
                           const CalibrationSet& calibrations) {
    std::set<std::string> splits;
    for (const auto& calibration : calibrations.all())
        for (const CalibrationSection& section : calibration->sections) splits.insert(section.split);
    for (const std::string& words : splits) {
        const auto holdout = readHoldout(words);
        if (!holdout || holdout->kind != Holdout::Kind::Fraction) continue;
        if (auto split = splitRows(tables, rows, *holdout)) rows = std::move(split->test);
    }
    return rows;
}

bool simulated(const std::vector<ReferenceTable>& tables, const Evaluation& evaluation) {
    return std::ranges::any_of(evaluation.rows.ref, [&](const RowRef& ref) {
        return tables[static_cast<std::size_t>(ref.table)].kind == ReferenceKind::Simulated;
    });
}

/// What the worker has finished and the window has not taken yet.
struct Inbox {
    std::mutex lock;
    std::vector<std::pair<std::size_t, Judgement>> fresh;
    std::vector<RowRef> asked;
};

Compared comparedOf(const std::vector<Judgement>& judged, const std::set<QString>& left,
                    std::span<const RowRef> asked) {
    Compared compared;
    std::vector<const Evaluation*> evaluations;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (!judged[i].evaluation || left.contains(judged[i].method)) continue;
        compared.judgements.push_back(static_cast<int>(i));
        evaluations.push_back(judged[i].evaluation.get());
    }
    if (!evaluations.empty()) compared.common = onCommonRows(evaluations, asked);
    return compared;
}

/// Methods that answer less than half as many rows as the one that answers most would leave few rows in common.
std::set<QString> narrow(const std::vector<Judgement>& judged) {
    std::size_t most = 0;
    for (const Judgement& each : judged) most = std::max(most, each.evaluation ? each.evaluation->rows.size() : 0);
    std::set<QString> found;
    for (const Judgement& each : judged) {
        if (each.evaluation && 2 * each.evaluation->rows.size() < most) found.insert(each.method);
    }
    return found;
}

}  // namespace

AccuracyTab::AccuracyTab(ReferenceShelf* shelf, QWidget* parent)
    : QWidget(parent), shelf_(shelf), work_(new Background(this)), tables_(shelf->tables()) {
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    column->addWidget(buildHead());
    auto* split = named(new QSplitter(Qt::Horizontal, this), "accuracy.split", tr("Methods and rows"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    auto* left = named(new QSplitter(Qt::Vertical, split), "accuracy.left", tr("Error and cost"),
                       tr("Drag the border to give one side more room"));
    plot_ = new ui::AccuracyPlot(left);
    methods_ = new ui::CellsTable(QStringLiteral("accuracy.methods"), tr("Methods judged"),
                                  tr("Click a head to sort; a row shows that method's residuals and worst rows"), left);
    methods_->sortByColumn(1, Qt::AscendingOrder);
    left->addWidget(plot_);
    left->addWidget(methods_);
    left->setStretchFactor(0, 3);
    left->setStretchFactor(1, 2);
    auto* right = named(new QSplitter(Qt::Vertical, split), "accuracy.right", tr("Residuals and rows"),
                        tr("Drag the border to give one side more room"));
    auto* above = new QWidget(right);
    auto* inside = new QVBoxLayout(above);
    inside->setContentsMargins(unit, 0, 0, 0);
    inside->setSpacing(unit / 2);
    against_ = named(new QComboBox(above), "accuracy.against", tr("Residuals against"),
                     tr("What stands on the horizontal axis of the residuals"));
    against_->addItem(tr("Residuals by arithmetic intensity"), Intensity);
    against_->addItem(tr("Residuals by size"), Size);
    against_->addItem(tr("Residuals by prediction"), Prediction);
    residuals_ = new ui::ResidualPlot(above);
    inside->addWidget(against_, 0, Qt::AlignLeft);
    inside->addWidget(residuals_, 1);
    auto* lists = named(new QTabWidget(right), "accuracy.lists", tr("Worst rows and families"),
                        tr("Where the method errs most, and how it does by family"));
    lists->setDocumentMode(true);
    named(lists->tabBar(), "accuracy.tabs", tr("Worst rows and families"), tr("The rows missed most, or all families"));
    worst_ = new ui::CellsTable(QStringLiteral("accuracy.worst"), tr("Worst rows"),
                                tr("The rows that the method misses most, with file and line"), lists);
    families_ = new ui::CellsTable(QStringLiteral("accuracy.families"), tr("Families"),
                                   tr("Errors by device, kind and variant"), lists);
    lists->addTab(worst_, tr("Worst rows"));
    lists->addTab(families_, tr("By family"));
    right->addWidget(above);
    right->addWidget(lists);
    split->addWidget(left);
    split->addWidget(right);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    column->addWidget(split, 1);

    connect(plot_, &ui::AccuracyPlot::chosen, this, [this](int point) {
        const int method = pointed_[static_cast<std::size_t>(point)];
        methods_->setCurrentRow(method);
        showMethod(method);
    });
    connect(methods_, &ui::CellsTable::rowChosen, this, &AccuracyTab::showMethod);
    connect(against_, &QComboBox::activated, this, &AccuracyTab::showResiduals);
    connect(residuals_, &ui::ResidualPlot::chosen, this, [this](int row) {
        const auto& rows = judged_[static_cast<std::size_t>(shown_)].evaluation->rows;
        state_->setFullText(ui::qs(rowText(*tables_, rows.ref[static_cast<std::size_t>(row)])));
    });
    connect(worst_, &ui::CellsTable::rowChosen, this, [this](int row) {
        residuals_->setCurrent(static_cast<int>(
            judged_[static_cast<std::size_t>(shown_)].evaluation->worst[static_cast<std::size_t>(row)]));
    });
    connect(work_, &Background::advanced, this, &AccuracyTab::showProgress);
    connect(work_, &Background::ended, this, [this] {
        fillMethodsMenu();
        showMethods();
        showProgress();
        emit judged();
    });
    showMethods();
    showProgress();
}

QWidget* AccuracyTab::buildHead() {
    auto* head = new QWidget(this);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(ui::Theme::instance().unit());
    where_ =
        named(new QLineEdit(head), "accuracy.where", tr("Which rows"),
              tr("Terms that must all hold: device=h100-sxm, kind=gemm, dtype=bf16, m=1..64; alternatives with |"));
    where_->setPlaceholderText(tr("all rows, or device=h100-sxm, kind=gemm, dtype=bf16"));
    where_->setClearButtonEnabled(true);
    most_ = named(new QSpinBox(head), "accuracy.most", tr("Rows at most"),
                  tr("So many rows are asked, evenly spread over the tables; every method gets the same"));
    most_->setRange(10, 1000000);
    most_->setValue(2000);
    most_->setSingleStep(1000);
    most_->setGroupSeparatorShown(true);
    most_->setPrefix(tr("at most "));
    most_->setSuffix(tr(" rows"));
    run_ = named(new QPushButton(tr("Judge the methods"), head), "accuracy.run", tr("Judge the methods"),
                 tr("Ask every method about the references; while it runs, stop and keep what is there"));
    chosen_ = named(new QToolButton(head), "accuracy.compared", tr("Methods that are compared"),
                    tr("Which methods are compared. Rows count that all of these price"));
    chosen_->setText(tr("Methods"));
    chosen_->setPopupMode(QToolButton::InstantPopup);
    chosen_->setMenu(new QMenu(chosen_));
    chosen_->setEnabled(false);
    common_ =
        named(new QCheckBox(tr("Common rows"), head), "accuracy.common", tr("Only rows that every method prices"),
              tr("Figures of the rows that every compared method prices. Off: each on the rows that it prices itself, "
                 "so that means of different rows stand side by side"));
    common_->setChecked(true);
    connect(common_, &QCheckBox::toggled, this, [this] {
        showMethods();
        showProgress();
    });
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, head);
    state_->setElided(true);
    state_->setObjectName(QStringLiteral("accuracy.state"));
    row->addWidget(where_, 2);
    row->addWidget(most_);
    row->addWidget(run_);
    row->addWidget(chosen_);
    row->addWidget(common_);
    row->addWidget(state_, 2);
    export_ = named(new QPushButton(tr("Export …"), head), "accuracy.export", tr("Export"),
                    tr("The picture as SVG, PDF or PNG; rows as CSV, figures as JSON or a table of LaTeX"));
    export_->setEnabled(false);
    row->addWidget(export_);
    connect(export_, &QPushButton::clicked, this, &AccuracyTab::exportRequested);
    connect(run_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : judge(); });
    connect(where_, &QLineEdit::returnPressed, this, &AccuracyTab::judge);
    return head;
}

void AccuracyTab::setCalibrations(std::shared_ptr<const CalibrationSet> calibrations) {
    calibrations_ = std::move(calibrations);
}

void AccuracyTab::judge() {
    const auto filter = parseFilter(where_->text().toStdString());
    if (!filter) {
        state_->setTone(ui::Tone::Bad);
        return state_->setFullText(ui::qs(toText(filter.error())));
    }
    state_->setTone(ui::Tone::Muted);
    tables_ = shelf_->tables();
    judged_.clear();
    compared_.reset();
    shown_ = -1;
    for (const Method& method : builtinMethods())
        judged_.push_back(
            {ui::qs(method.card.id), ui::qs(method.card.title), static_cast<int>(method.card.methodology)});
    fillMethodsMenu();
    showMethods();
    const auto inbox = std::make_shared<Inbox>();
    const auto takeAll = [this, inbox] {
        std::vector<std::pair<std::size_t, Judgement>> fresh;
        {
            const std::lock_guard held(inbox->lock);
            fresh.swap(inbox->fresh);
            asked_ = inbox->asked;
        }
        for (auto& [at, judgement] : fresh) take(at, std::move(judgement));
        if (!fresh.empty()) showMethods();
    };
    disconnect(work_, &Background::advanced, run_, nullptr);
    connect(work_, &Background::advanced, run_, takeAll);
    work_->start([this, tables = tables_, calibrations = calibrations_, filter = *filter, inbox, takeAll,
                  most = static_cast<std::size_t>(most_->value()),
                  jobs = judged_](std::stop_token stop, Progress& progress) {
        const CalibrationSet& learned = calibrations ? *calibrations : shippedCalibrations().set;
        const auto rows = thinned(unseen(*tables, selectRows(*tables, filter), learned), most);
        progress.setTotal(rows.size() * jobs.size());
        {
            const std::lock_guard held(inbox->lock);
            inbox->asked = rows;
        }
        const auto executor = makeDefaultExecutor();
        std::vector<Judgement> done;
        for (std::size_t i = 0; i < jobs.size() && !stop.stop_requested(); ++i) {
            EvaluateOptions options;
            options.executor = executor.get();
            options.stop = stop;
            options.calibrations = calibrations.get();
            Judgement judgement = jobs[i];
            auto answer = evaluate(*findMethod(judgement.method.toStdString()), *tables, rows, options);
            if (answer) {
                judgement.evaluation = std::make_shared<const Evaluation>(std::move(*answer));
            } else {
                judgement.failure = std::move(answer.error());
            }
            progress.advance(rows.size());
            done.push_back(judgement);
            const std::lock_guard held(inbox->lock);
            inbox->fresh.emplace_back(i, std::move(judgement));
        }
        auto left = narrow(done);
        auto compared = comparedOf(done, left, rows);
        return Background::Finish([this, takeAll, left, compared] {
            takeAll();
            left_ = left;
            compared_ = compared;
        });
    });
}

void AccuracyTab::compare() {
    work_->start([judged = judged_, left = left_, asked = asked_, this](std::stop_token, Progress&) {
        auto compared = comparedOf(judged, left, asked);
        return Background::Finish([this, compared] { compared_ = compared; });
    });
}

bool AccuracyTab::isCompared(int judgement) const {
    const Judgement& each = judged_[static_cast<std::size_t>(judgement)];
    return each.evaluation && !left_.contains(each.method);
}

void AccuracyTab::fillMethodsMenu() {
    QMenu* menu = chosen_->menu();
    menu->clear();
    bool any = false;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        const Judgement& each = judged_[i];
        if (!each.evaluation) continue;
        QAction* action = menu->addAction(
            tr("%1 (%2 rows)").arg(each.title, ui::countText(static_cast<double>(each.evaluation->rows.size()))));
        action->setCheckable(true);
        action->setChecked(isCompared(static_cast<int>(i)));
        connect(action, &QAction::toggled, this, [this, method = each.method](bool on) {
            if (on) {
                left_.erase(method);
            } else {
                left_.insert(method);
            }
            compare();
        });
        any = true;
    }
    chosen_->setEnabled(any && !work_->isRunning());
    export_->setEnabled(any && !work_->isRunning());
}

QString AccuracyTab::exportTo(const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("svg") || ending == QLatin1String("pdf") || ending == QLatin1String("png"))
        return plot_->exportTo(file);
    if (!compared_ || compared_->judgements.empty()) return tr("No method has been judged yet");
    SideBySide all;
    all.asked = asked_.size();
    all.common = compared_->common.rows;
    all.ranking = compared_->common.ranking;
    for (std::size_t i = 0; i < compared_->judgements.size(); ++i) {
        const Judgement& each = judged_[static_cast<std::size_t>(compared_->judgements[i])];
        all.methods.push_back({each.method.toStdString(), *each.evaluation, {}, compared_->common.figures[i]});
    }
    const std::string text = ending == QLatin1String("csv") ? sideBySideCsv(all, *tables_)
                             : ending == QLatin1String("tex")
                                 ? sideBySideTex(all)
                                 : sideBySideJson(all, *tables_, {{}, where_->text().toStdString(), {}});
    return ui::writeText(file, QByteArray::fromStdString(text));
}

void AccuracyTab::take(std::size_t at, Judgement judgement) {
    if (at < judged_.size()) judged_[at] = std::move(judgement);
}

void AccuracyTab::showProgress() {
    const bool running = work_->isRunning();
    run_->setText(running ? tr("Stop") : tr("Judge the methods"));
    if (running) return state_->setFullText(tr("%1 of the rows asked").arg(ui::percentText(work_->fraction())));
    const auto answered = std::ranges::count_if(judged_, [](const Judgement& j) { return j.evaluation != nullptr; });
    if (common_->isChecked() && compared_ && !compared_->judgements.empty())
        state_->setFullText(tr("%1 of %2 rows are priced by all %3 compared methods; nothing was fitted to them")
                                .arg(ui::countText(static_cast<double>(compared_->common.rows.size())),
                                     ui::countText(static_cast<double>(asked_.size())))
                                .arg(compared_->judgements.size()));
    else if (answered > 0)
        state_->setFullText(
            tr("%n method(s) judged, on rows that no calibration was fitted to; others are not for these rows", nullptr,
               static_cast<int>(answered)));
    else if (judged_.empty())
        state_->setFullText(tr("References say how far to trust each method"));
}

void AccuracyTab::showMethods() {
    std::vector<ui::AccuracyPoint> points;
    std::vector<std::vector<ui::Cell>> cells;
    pointed_.clear();
    const bool common = common_->isChecked() && compared_;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        const Judgement& each = judged_[i];
        if (!each.evaluation) {
            cells.push_back({wordCell(each.title, ui::Tone::Muted),
                             wordCell(each.failure ? tr("not for these") : tr("…"), ui::Tone::Muted)});
            if (each.failure) cells.back()[1].tip = ui::qs(toText(*each.failure));
            for (ui::Cell& cell : cells.back()) cell.value = 1e300;
            continue;
        }
        if (common && !isCompared(static_cast<int>(i))) {
            cells.push_back({wordCell(each.title, ui::Tone::Muted), wordCell(tr("not compared"), ui::Tone::Muted)});
            cells.back()[1].tip = tr("It prices %1 of the %2 rows. Methods ▸ compare it too")
                                      .arg(ui::countText(static_cast<double>(each.evaluation->rows.size())),
                                           ui::countText(static_cast<double>(asked_.size())));
            for (ui::Cell& cell : cells.back()) cell.value = 1e299;
            continue;
        }
        const CommonFigures* shared = nullptr;
        if (common) {
            const auto& compared = compared_->judgements;
            const auto place = std::ranges::find(compared, static_cast<int>(i)) - compared.begin();
            if (static_cast<std::size_t>(place) < compared.size())
                shared = &compared_->common.figures[static_cast<std::size_t>(place)];
        }
        const EvaluationFigures& figures = shared ? shared->figures : each.evaluation->figures;
        pointed_.push_back(static_cast<int>(cells.size()));
        const MethodCard& card = findMethod(each.method.toStdString())->card;
        const bool intervals = !std::ranges::equal(each.evaluation->rows.low, each.evaluation->rows.high);
        points.push_back({each.method, each.title, each.colour, figures.errors.mape, figures.errors.medianError,
                          figures.errors.p90Error, figures.secondsPerAnswer, simulated(*tables_, *each.evaluation),
                          static_cast<qint64>(figures.errors.rows), card.level, shared ? shared->mapeLow : 0,
                          shared ? shared->mapeHigh : 0, intervals ? figures.coverage90 : -1,
                          ui::qs(toText(card.methodology))});
        const EvaluatedRows& rows = each.evaluation->rows;
        const bool states = !std::ranges::equal(rows.low, rows.high);
        const bool honest = figures.coverage90 >= 0.85 && figures.coverage90 <= 0.97;
        cells.push_back(
            {wordCell(each.title),
             percentCell(figures.errors.mape),
             shared ? ui::Cell{QStringLiteral("%1 %").arg(100 * shared->firstShare, 0, 'f', 0), shared->firstShare,
                               tr("The mean error is %1 to %2 in 90 % of resampled rows")
                                   .arg(ui::percentText(shared->mapeLow), ui::percentText(shared->mapeHigh))}
                    : wordCell(QStringLiteral("–"), ui::Tone::Muted),
             percentCell(figures.errors.medianError),
             percentCell(figures.errors.p90Error),
             signedCell(figures.errors.bias),
             {QString::number(figures.errors.kendall, 'f', 2), figures.errors.kendall},
             states ? percentCell(figures.coverage90, honest ? ui::Tone::Normal : ui::Tone::Warning)
                    : wordCell(tr("states none"), ui::Tone::Muted),
             {ui::countText(static_cast<double>(figures.flagged)), static_cast<double>(figures.flagged)},
             figures.floorRows > 0 ? percentCell(figures.floor) : wordCell(tr("not known"), ui::Tone::Muted),
             {ui::text(Seconds(figures.secondsPerAnswer)), figures.secondsPerAnswer,
              tr("Half of the parts of the rows took %1 to %2 an answer")
                  .arg(ui::text(Seconds(figures.secondsLow)), ui::text(Seconds(figures.secondsHigh)))},
             {ui::countText(static_cast<double>(each.evaluation->rows.size())),
              static_cast<double>(each.evaluation->rows.size())}});
    }
    plot_->setPoints(std::move(points));
    methods_->setCells(
        {tr("Method"), tr("Mean error"), tr("First in"), tr("Median"), tr("90th perc."), tr("Bias"), tr("Kendall τ"),
         tr("In interval"), tr("Out of domain"), tr("Floor"), tr("An answer"), tr("Rows")},
        std::move(cells));
    if (shown_ < 0) showMethod(-1);
}

void AccuracyTab::showMethod(int at) {
    shown_ =
        at >= 0 && static_cast<std::size_t>(at) < judged_.size() && judged_[static_cast<std::size_t>(at)].evaluation
            ? at
            : -1;
    std::vector<std::vector<ui::Cell>> worst, families;
    if (shown_ >= 0) {
        plot_->setCurrent(static_cast<int>(std::ranges::find(pointed_, shown_) - pointed_.begin()));
        const Evaluation& evaluation = *judged_[static_cast<std::size_t>(shown_)].evaluation;
        for (const std::size_t row : evaluation.worst)
            worst.push_back({signedCell(evaluation.rows.error(row)), timeCell(evaluation.rows.predicted[row]),
                             timeCell(evaluation.rows.measured[row]),
                             wordCell(ui::qs(rowText(*tables_, evaluation.rows.ref[row])))});
        for (const EvaluationGroup& group : evaluation.families)
            families.push_back({wordCell(ui::qs(group.device)),
                                wordCell(ui::qs(group.kind)),
                                wordCell(ui::qs(group.variant)),
                                percentCell(group.figures.errors.mape),
                                percentCell(group.figures.errors.medianError),
                                signedCell(group.figures.errors.bias),
                                percentCell(group.figures.coverage90),
                                {ui::countText(static_cast<double>(group.figures.errors.rows)),
                                 static_cast<double>(group.figures.errors.rows)}});
    }
    worst_->setCells({tr("Error"), tr("Predicted"), tr("Measured"), tr("Row")}, std::move(worst));
    families_->setCells({tr("Device"), tr("Kind"), tr("Variant"), tr("Mean error"), tr("Median"), tr("Bias"),
                         tr("In interval"), tr("Rows")},
                        std::move(families));
    showResiduals();
}

void AccuracyTab::showResiduals() {
    ui::ResidualRows rows;
    if (shown_ >= 0) {
        const Judgement& judgement = judged_[static_cast<std::size_t>(shown_)];
        const EvaluatedRows& all = judgement.evaluation->rows;
        const auto against = static_cast<Against>(against_->currentData().toInt());
        for (std::size_t i = 0; i < all.size(); ++i) {
            rows.x.push_back(against == Prediction ? all.predicted[i]
                             : against == Size     ? std::max(all.flops[i], all.bytes[i])
                                                   : std::max(all.flops[i] / std::max(all.bytes[i], 1.0), 1e-3));
            rows.error.push_back(all.error(i));
            rows.outside.push_back(all.domain[i] == DomainVerdict::Outside);
        }
        rows.seconds = against == Prediction;
        rows.xName = against == Prediction ? tr("predicted time")
                     : against == Size     ? tr("FLOP (or bytes, where more)")
                                           : tr("FLOP per byte");
        rows.simulated = simulated(*tables_, *judgement.evaluation);
    }
    residuals_->setRows(std::move(rows));
}

}  // namespace orrery::app
