#include "app/window/evidence/calibrate_tab.h"

#include "app/document/background.h"
#include "app/window/evidence/fit_words.h"
#include "app/window/form_parts.h"
#include "app/window/state_line.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/residual_plot.h"
#include "widgets/evidence/training_plot.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDate>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QSpinBox>
#include <QSplitter>
#include <QVBoxLayout>

#include <mutex>

namespace orrery::app {

/// Points of the curve as the fitting thread leaves them.
struct CalibrateTab::Steps {
    std::mutex lock;
    std::vector<TrainingPoint> points;
    std::string family;
};

CalibrateTab::CalibrateTab(ReferenceShelf* shelf, QWidget* parent)
    : QWidget(parent), shelf_(shelf), work_(new Background(this)), steps_(std::make_shared<Steps>()) {
    const int unit = ui::Theme::instance().unit();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    row->setSpacing(unit * 2);
    row->addWidget(buildForm());
    auto* split = named(new QSplitter(Qt::Vertical, this), "calibrate.split", tr("Curve and residuals"),
                        tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    curve_ = new ui::TrainingPlot(split);
    residuals_ = new ui::ResidualPlot(split);
    residuals_->setObjectName(QStringLiteral("calibrate.residuals"));
    families_ = new ui::CellsTable(QStringLiteral("calibrate.families"), tr("Families on the held-out rows"),
                                   tr("Errors of the fit on held-out rows"), split);
    split->addWidget(curve_);
    split->addWidget(residuals_);
    split->addWidget(families_);
    row->addWidget(split, 1);
    connect(work_, &Background::advanced, this, &CalibrateTab::showProgress);
    connect(work_, &Background::ended, this, &CalibrateTab::showProgress);
    showResult();
    showProgress();
}

QWidget* CalibrateTab::buildForm() {
    const int unit = ui::Theme::instance().unit();
    auto* side = new QWidget(this);
    side->setFixedWidth(static_cast<int>(40 * unit * ui::formGrowth(ui::Theme::instance().scale())));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit);
    auto* form = new QFormLayout;
    form->setVerticalSpacing(unit);
    method_ = named(new QComboBox(side), "calibrate.method", tr("Method"), tr("Methods with parameters to fit"));
    for (const KernelMethod& method : kernelMethods()) {
        const Method* whole = findMethod(method.id);
        if (method.fit) method_->addItem(ui::qs(whole ? whole->card.title : method.id), ui::qs(method.id));
    }
    where_ = named(new QLineEdit(side), "calibrate.where", tr("Which rows"),
                   tr("Conditions that must all hold: device=h100-sxm, kind=gemm, dtype=bf16"));
    where_->setPlaceholderText(tr("all loaded rows"));
    holdout_ = named(new QLineEdit(QStringLiteral("fraction=0.8"), side), "calibrate.holdout", tr("Held out"),
                     tr("fraction=0.8 keeps 80 % for the test; rows=50 fits 50 rows of each family; device=l40s tests "
                        "another device; empty: nothing is held out"));
    seed_ = named(new QSpinBox(side), "calibrate.seed", tr("Seed"),
                  tr("The same seed makes the same split and the same fit"));
    seed_->setRange(1, 9999);
    across_ = named(new QCheckBox(tr("One fit for any device"), side), "calibrate.across", tr("One fit for any device"),
                    tr("One fit for all devices of the rows, instead of one fit for each device"));
    form->addRow(tr("Method"), method_);
    form->addRow(tr("Rows"), where_);
    form->addRow(tr("Held out"), holdout_);
    form->addRow(tr("Seed"), seed_);
    form->addRow(QString(), across_);
    column->addLayout(form);
    run_ = named(new QPushButton(tr("Fit"), side), "calibrate.run", tr("Fit the method"),
                 tr("Fits the rows that are not held out. While it runs: stops it and keeps the best result so far"));
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, side);
    state_->setWordWrap(true);
    state_->setObjectName(QStringLiteral("calibrate.state"));
    figures_ = new ui::FactList(side);
    save_ = named(new QPushButton(tr("Save …"), side), "calibrate.save", tr("Save the calibration"),
                  tr("A text file that later versions of Orrery can read"));
    use_ = named(new QPushButton(tr("Answer with it"), side), "calibrate.use", tr("Answer with this calibration"),
                 tr("Live answers and evaluations of this session use it instead of the shipped calibration"));
    column->addWidget(run_);
    column->addWidget(state_);
    column->addWidget(new ui::SectionHeader(tr("On the rows held out"), side));
    column->addWidget(figures_);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(save_);
    buttons->addWidget(use_);
    column->addLayout(buttons);
    column->addStretch(1);
    connect(run_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : fit(); });
    connect(save_, &QPushButton::clicked, this, &CalibrateTab::chooseFile);
    connect(use_, &QPushButton::clicked, this,
            [this] { emit useRequested(std::make_shared<const Calibration>(result_->calibration)); });
    return side;
}

void CalibrateTab::refuse(const Diagnostic& why) {
    sayRefusal(*state_, why);
}

void CalibrateTab::fit() {
    const KernelMethod* method = findKernelMethod(method_->currentData().toString().toStdString());
    if (!method) return;
    const auto filter = parseFilter(where_->text().toStdString());
    if (!filter) return refuse(filter.error());
    const auto holdout = parseHoldout(holdout_->text().toStdString(), static_cast<std::uint64_t>(seed_->value()));
    if (!holdout) return refuse(holdout.error());
    if (shelf_->tables()->empty())
        return refuse(fail("reference.none", "no references are loaded", "at least one table of measured kernels",
                           "Open some on the References tab")
                          .value());
    state_->setTone(ui::Tone::Muted);
    steps_ = std::make_shared<Steps>();
    result_.reset();
    showResult();
    CalibrateOptions options;
    options.holdout = *holdout;
    options.seed = static_cast<std::uint64_t>(seed_->value());
    options.acrossDevices = across_->isChecked();
    options.start = &shippedCalibrations().set;
    options.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    options.onStep = [steps = steps_](const TrainingPoint& point, std::string_view family) {
        const std::lock_guard held(steps->lock);
        if (steps->family != family) steps->points.clear();
        steps->family = family;
        steps->points.push_back(point);
    };
    work_->start([this, method, tables = shelf_->tables(), filter = *filter, options](
                     std::stop_token stop, Progress& progress) mutable -> Background::Finish {
        const auto executor = makeDefaultExecutor();
        options.executor = executor.get();
        options.stop = stop;
        options.progress = &progress;
        const auto rows = selectRows(*tables, filter);
        auto result = std::make_shared<Expected<CalibrateResult>>(calibrate(*method, *tables, rows, options));
        return [this, result] {
            if (!*result) return refuse(result->error());
            result_ = std::move(**result);
            state_->setFullText(fitText(*result_));
            showResult();
        };
    });
}

void CalibrateTab::showProgress() {
    const bool running = work_->isRunning();
    run_->setText(running ? tr("Stop, keep the best") : tr("Fit"));
    if (!running) return;
    std::vector<TrainingPoint> points;
    QString family;
    {
        const std::lock_guard held(steps_->lock);
        points = steps_->points;
        family = ui::qs(steps_->family);
    }
    state_->setFullText(
        points.empty()
            ? tr("Preparing …")
            : tr("%1: step %2, error %3").arg(family).arg(points.back().step).arg(points.back().training, 0, 'g', 3));
    if (points.size() != curve_->pointCount()) curve_->setCurve(std::move(points), family);
}

void CalibrateTab::showResult() {
    save_->setEnabled(result_.has_value());
    use_->setEnabled(result_.has_value());
    std::vector<ui::Fact> facts;
    std::vector<std::vector<ui::Cell>> families;
    ui::ResidualRows rows;
    if (result_ && result_->heldOut) {
        const Evaluation& heldOut = *result_->heldOut;
        const EvaluationFigures& figures = heldOut.figures;
        const auto fact = [&](const QString& label, const QString& value) {
            facts.push_back({label, value, {}, ui::Tone::Normal});
        };
        fact(tr("Rows"), ui::countText(static_cast<double>(heldOut.rows.size())));
        if (result_->before) fact(tr("Mean error before"), ui::percentText(result_->before->figures.errors.mape));
        fact(tr("Mean error"), ui::percentText(figures.errors.mape));
        fact(tr("Median error"), ui::percentText(figures.errors.medianError));
        fact(tr("90th percentile"), ui::percentText(figures.errors.p90Error));
        fact(tr("Inside the 90 % interval"), ui::percentText(figures.coverage90));
        fact(tr("Flagged out of domain"), ui::countText(static_cast<double>(figures.flagged)));
        fact(tr("Time of one answer"), ui::text(Seconds(figures.secondsPerAnswer)));
        for (std::size_t i = 0; i < heldOut.rows.size(); ++i) {
            rows.x.push_back(heldOut.rows.measured[i]);
            rows.error.push_back(heldOut.rows.error(i));
            rows.outside.push_back(heldOut.rows.domain[i] == DomainVerdict::Outside);
        }
        rows.xName = tr("measured time");
        rows.seconds = true;
        for (const EvaluationGroup& group : heldOut.families)
            families.push_back({{ui::qs(group.device), 0, {}, ui::Tone::Normal, false},
                                {ui::qs(group.kind), 0, {}, ui::Tone::Normal, false},
                                {ui::qs(group.variant), 0, {}, ui::Tone::Normal, false},
                                {ui::percentText(group.figures.errors.mape), group.figures.errors.mape},
                                {ui::percentText(group.figures.coverage90), group.figures.coverage90},
                                {ui::countText(static_cast<double>(group.figures.errors.rows)),
                                 static_cast<double>(group.figures.errors.rows)}});
    }
    figures_->setFacts(std::move(facts));
    residuals_->setRows(std::move(rows));
    families_->setCells({tr("Device"), tr("Kind"), tr("Variant"), tr("Mean error"), tr("In interval"), tr("Rows")},
                        std::move(families));
}

QString CalibrateTab::save(const QString& file) const {
    if (!result_) return tr("Nothing has been fitted yet.");
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return out.errorString();
    const std::string text = writeCalibration(result_->calibration);
    out.write(text.data(), static_cast<qint64>(text.size()));
    return out.commit() ? QString() : out.errorString();
}

void CalibrateTab::chooseFile() {
    askAndSave(
        this, {tr("Save the calibration"), "calibrate.dialog", {tr("Calibrations (*.json)"), tr("All files (*)")}},
        [this](const QString& file) { return save(file); }, *state_);
}

}  // namespace orrery::app
