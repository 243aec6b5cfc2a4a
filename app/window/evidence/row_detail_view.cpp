#include "app/window/evidence/row_detail_view.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "evaluation/left_out.h"
#include "learning/calibration.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

QString valueText(const RowTerm& term, const std::optional<double>& value) {
    if (!value) return QStringLiteral("–");
    if (term.dimension != Dimension::Number) return ui::text(*value, term.dimension, 3);
    const QString number = ui::text(*value, Dimension::Number, 3);
    return term.unit.empty() ? number : number + QLatin1Char(' ') + ui::qs(term.unit);
}

}  // namespace

RowDetailView::RowDetailView(QWidget* parent) : QWidget(parent), work_(new Background(this)) {
    setObjectName(QStringLiteral("accuracy.row"));
    setAccessibleName(tr("One row under two methods"));
    setToolTip(tr("How two methods build up their times, and where they differ"));
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit / 2, 0, 0);
    column->setSpacing(unit / 2);
    auto* head = new QHBoxLayout;
    other_ = namedChoice(this, "accuracy.row.other", tr("Against"), tr("The method to compare with"));
    first_ = new ui::Label(tr("Choose a row among the worst, or a point of the residuals"), ui::FontRole::Body,
                           ui::Tone::Muted, this);
    first_->setWordWrap(true);
    first_->setObjectName(QStringLiteral("accuracy.row.first"));
    head->addWidget(other_);
    head->addStretch(1);
    draw_ = named(new QPushButton(tr("On graph and drawing"), this), "accuracy.row.draw", tr("On graph and drawing"),
                  tr("Makes this row the current question, for both methods. The graph shows their ratio, the drawing "
                     "shows what limits. Undo goes back"));
    draw_->setEnabled(false);
    head->addWidget(draw_);
    connect(draw_, &QPushButton::clicked, this, &RowDetailView::drawingRequested);
    column->addLayout(head);
    column->addWidget(first_);
    auto* split = split_ = named(new QSplitter(Qt::Horizontal, this), "accuracy.row.split", tr("Terms and steps"),
                                 tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    terms_ = new ui::CellsTable(
        QStringLiteral("accuracy.row.terms"), tr("Terms of both methods"),
        tr("How each method builds up its time, in its own order. Measured values where they are known"), split);
    steps_ = new ui::WaterfallPlot(split);
    steps_->setObjectName(QStringLiteral("accuracy.row.steps"));
    steps_->setEmptySentence(tr("Steps from one method's time to the other's, and to what was measured"));
    steps_->setMinimumWidth(200);
    split->addWidget(terms_);
    split->addWidget(steps_);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setSizes({360, 240});
    column->addWidget(split, 1);
    connect(other_, &QComboBox::activated, this, [this] { start(); });
}

void RowDetailView::setOthers(const QStringList& methods, const QStringList& titles) {
    const QString before = other_->currentData().toString();
    other_->clear();
    for (qsizetype i = 0; i < methods.size(); ++i) other_->addItem(tr("against %1").arg(titles[i]), methods[i]);
    if (!before.isEmpty()) selectData(other_, before);
}

void RowDetailView::clear() {
    question_.reset();
    detail_.reset();
    draw_->setEnabled(false);
    terms_->setCells({}, {});
    steps_->setData({});
    first_->setTone(ui::Tone::Muted);
    first_->setFullText(tr("Choose a row among the worst, or a point of the residuals"));
}

void RowDetailView::ask(RowQuestion question) {
    question_ = std::move(question);
    start();
}

QString RowDetailView::other() const {
    return other_->currentData().toString();
}

void RowDetailView::start() {
    if (!question_ || other_->count() == 0) return;
    // Against itself nothing differs: then the next one.
    QString other = other_->currentData().toString();
    for (int i = 0; other == question_->method && i < other_->count(); ++i) {
        other = other_->itemData(i).toString();
        if (other != question_->method) other_->setCurrentIndex(i);
    }
    first_->setTone(ui::Tone::Muted);
    first_->setFullText(tr("Asking both methods …"));
    work_->ask(
        [question = *question_, other](std::stop_token stop, Progress&) {
            const auto executor = makeSerialExecutor();
            EvaluateOptions options;
            options.executor = executor.get();
            options.stop = stop;
            options.calibrations = question.calibrations.get();
            options.asMeasured = question.asMeasured;
            CalibrationSet unseen;
            if (question.leaveDeviceOut) {
                const ReferenceTable& table = (*question.tables)[static_cast<std::size_t>(question.row.table)];
                const auto device = table.rows[static_cast<std::size_t>(question.row.row)].device;
                unseen = withoutDevice(question.calibrations ? *question.calibrations : shippedCalibrations().set,
                                       table.devices[static_cast<std::size_t>(device)].catalogue);
                options.calibrations = &unseen;
            }
            return rowDetail(*question.tables, question.row, question.method.toStdString(), other.toStdString(),
                             options, question.truths.get());
        },
        [this](const Expected<RowDetail>& answer) { show(answer); });
}

// The numbers stay in sight: what is too long are the names of terms, which give way.
void RowDetailView::fitTerms() {
    constexpr double valueShare = 0.25;  // of the table, at most, for each of three
    terms_->setMinimumHeight(terms_->horizontalHeader()->height() +
                             std::min(terms_->model()->rowCount(), 8) * terms_->verticalHeader()->defaultSectionSize());
    QHeaderView* head = terms_->horizontalHeader();
    head->setTextElideMode(Qt::ElideRight);
    const int most = static_cast<int>(valueShare * terms_->viewport()->width());
    for (int c = 1; c < head->count(); ++c) {
        terms_->resizeColumnToContents(c);
        terms_->setColumnWidth(c, std::min(most, terms_->columnWidth(c) + 12));
    }
    head->setSectionResizeMode(0, QHeaderView::Stretch);
}

void RowDetailView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    // Side by side neither names of methods nor those of steps have the room of their letters.
    constexpr int narrow = 85;  // units
    split_->setOrientation(width() < narrow * ui::Theme::instance().unit() * ui::Theme::instance().scale()
                               ? Qt::Vertical
                               : Qt::Horizontal);
    if (detail_) fitTerms();
}

void RowDetailView::show(const Expected<RowDetail>& answer) {
    draw_->setEnabled(answer.has_value());
    if (!answer) {
        detail_.reset();
        terms_->setCells({}, {});
        steps_->setData({});
        first_->setTone(ui::Tone::Bad);
        first_->setFullText(ui::windowText(toText(answer.error())));
        emit answered();
        return;
    }
    detail_ = *answer;
    const RowDetail& detail = *detail_;
    first_->setTone(ui::Tone::Normal);
    first_->setFullText(ui::qs(detail.first + " · " + detail.row));
    std::vector<std::vector<ui::Cell>> cells;
    const auto cell = [](const RowTerm& term, const std::optional<double>& value) {
        return ui::Cell{valueText(term, value), value.value_or(-1)};
    };
    const RowTerm whole{"the whole", detail.a, detail.b, detail.measured, Dimension::Time, {}};
    const auto add = [&](const RowTerm& term) {
        cells.push_back({{ui::qs(term.label), 0, ui::qs(term.label), ui::Tone::Normal, false},
                         cell(term, term.a),
                         cell(term, term.b),
                         cell(term, term.measured)});
    };
    add(whole);
    for (const RowTerm& term : detail.terms) add(term);
    terms_->setCells({tr("Term"), ui::qs(detail.methodA), ui::qs(detail.methodB), tr("Measured")}, std::move(cells));
    fitTerms();
    ui::WaterfallData data;
    data.title = tr("From %1 to the truth").arg(ui::qs(detail.methodA));
    data.fromName = ui::qs(detail.methodA);
    data.from = detail.a;
    data.fromText = ui::text(Seconds(detail.a));
    data.toName = tr("measured");
    data.to = detail.measured;
    data.toText = ui::text(Seconds(detail.measured));
    for (const RowStep& step : detail.steps) {
        if (step.of == RowStep::Of::Total) continue;
        const QString sign = step.seconds < 0 ? QStringLiteral("−") : QStringLiteral("+");
        data.rows.push_back(
            {ui::qs(step.label), {}, sign + ui::text(Seconds(std::abs(step.seconds))), step.seconds, {}});
    }
    data.note = tr("%1 says %2").arg(ui::qs(detail.methodB), ui::text(Seconds(detail.b)));
    steps_->setData(std::move(data));
    emit answered();
}

}  // namespace orrery::app
