#include "widgets/comparison/comparison_view.h"

#include "widgets/common/label.h"
#include "widgets/common/table_scale.h"
#include "widgets/common/text.h"
#include "widgets/common/wrapped_name.h"
#include "widgets/comparison/comparison_model.h"
#include "widgets/comparison/comparison_plots.h"
#include "widgets/comparison/method_options.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QScrollArea>
#include <QStyledItemDelegate>
#include <QTableView>

#include <cmath>

namespace orrery::ui {
namespace {

using Model = ComparisonModel;

constexpr int besideName = 8 + 18 + 6;  ///< px of a name's cell that are dot and margins

QFont nameFont(bool primary) {
    QFont font = Theme::instance().font(FontRole::Body);
    if (primary) font.setWeight(QFont::DemiBold);
    return font;
}

/// The end of a name is what tells two options of one method apart.
QStringList nameLines(const QModelIndex& index, int width) {
    return wrappedName(index.data().toString(), QFontMetrics(nameFont(index.data(Model::PrimaryRole).toBool())), width,
                       9);
}

class ComparisonDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        if (index.column() == Model::MethodName) return paintName(painter, option, index);
        if (index.column() == Model::IntervalBar) return paintInterval(painter, option, index);
        QStyledItemDelegate::paint(painter, option, index);
    }

private:
    static void paintBackground(QPainter* painter, const QStyleOptionViewItem& option) {
        QStyleOptionViewItem item = option;
        item.text.clear();
        option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, option.widget);
    }

    void paintName(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
        paintBackground(painter, option);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QRect box = option.rect.adjusted(8, 0, -6, 0);
        const QColor colour = index.data(Model::ColourRole).value<QColor>();
        const bool primary = index.data(Model::PrimaryRole).toBool();
        painter->setPen(QPen(colour, 1.6));
        painter->setBrush(primary ? colour : QColor(Qt::transparent));
        painter->drawEllipse(QPointF(box.left() + 5, box.center().y() + 0.5), 4.2, 4.2);
        painter->setFont(nameFont(primary));
        painter->setPen(Theme::instance().colours().text);
        const QRect words = box.adjusted(18, 0, 0, 0);
        painter->drawText(words, Qt::AlignVCenter, nameLines(index, words.width()).join(QLatin1Char('\n')));
        painter->restore();
    }

    void paintInterval(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
        paintBackground(painter, option);
        if (index.data(Model::LowRole).isNull()) return;
        const QRectF box = QRectF(option.rect).adjusted(10, 0, -10, 0);
        const PlotAxis axis =
            PlotAxis::covering({index.data(Model::AxisLowRole).toDouble(), index.data(Model::AxisHighRole).toDouble()},
                               box.left(), box.right());
        const double middle = box.center().y();
        const QColor colour = index.data(Model::ColourRole).value<QColor>();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(Theme::instance().colours().faintLine, 1));
        painter->drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle));
        painter->setPen(QPen(colour, 2));
        const double low = axis.position(index.data(Model::LowRole).toDouble());
        const double high = axis.position(index.data(Model::HighRole).toDouble());
        painter->drawLine(QPointF(low, middle), QPointF(high, middle));
        for (const double end : {low, high}) painter->drawLine(QPointF(end, middle - 4), QPointF(end, middle + 4));
        painter->setPen(Qt::NoPen);
        painter->setBrush(colour);
        painter->drawEllipse(QPointF(axis.position(index.data(Model::ValueRole).toDouble()), middle), 3.5, 3.5);
        painter->restore();
    }
};

}  // namespace

ComparisonView::ComparisonView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("comparison"), tr("Comparison"), selection, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    model_ = new ComparisonModel(this);

    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget(scroll);
    auto* inside = new QVBoxLayout(body);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(0);
    table_ = new QTableView(body);
    table_->setTabKeyNavigation(false);  // Tab goes on, arrows walk
    table_->setObjectName(QStringLiteral("comparison.table"));
    table_->setAccessibleName(tr("Methods compared"));
    table_->setToolTip(tr("Double click or Enter: all views show the operators of this method"));
    table_->setModel(model_);
    table_->setItemDelegate(new ComparisonDelegate(table_));
    table_->setFrameShape(QFrame::NoFrame);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setStretchLastSection(true);
    inside->addWidget(table_);
    auto* under = new QWidget(body);
    auto* pad = new QVBoxLayout(under);
    pad->setContentsMargins(12, 16, 12, 12);
    pad->setSpacing(16);
    plots_ = new QBoxLayout(QBoxLayout::LeftToRight);
    plots_->setSpacing(32);
    intervals_ = new IntervalPlot(under);
    costs_ = new CostPlot(under);
    plots_->addWidget(intervals_, 3, Qt::AlignTop);
    plots_->addWidget(costs_, 2, Qt::AlignTop);
    for (QWidget* plot : {static_cast<QWidget*>(intervals_), static_cast<QWidget*>(costs_)})
        plot->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    pad->addLayout(plots_);
    options_ = new MethodOptions(under);
    pad->insertWidget(0, options_);
    connect(options_, &MethodOptions::changed, this, &ComparisonView::methodChanged);
    connect(options_, &MethodOptions::besideRequested, this,
            [this](const QString& choice) { emit methodChanged({}, choice); });
    notes_ = new Label({}, FontRole::Body, Tone::Normal, under);
    notes_->setObjectName(QStringLiteral("comparison.notes"));
    notes_->setAccessibleName(tr("Assumptions and warnings"));
    notes_->setToolTip(tr("Assumptions and warnings of the selected method"));
    notes_->setWordWrap(true);
    notes_->setTextFormat(Qt::RichText);
    notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    pad->addWidget(notes_);
    pad->addStretch(1);
    inside->addWidget(under, 1);
    scroll->setWidget(body);
    column->addWidget(scroll, 1);
    setEmptyState({tr("Nothing to compare yet"),
                   tr("Choose a device, a workload and two or more methods. Their answers appear here side by side, "
                      "with intervals and computing times."),
                   tr("Choose methods")});

    notesDue_.setSingleShot(true);
    notesDue_.setInterval(100);
    connect(&notesDue_, &QTimer::timeout, this, &ComparisonView::showNotes);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ComparisonView::showNotes);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit primaryMethodChosen(index.row()); });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        arrangeRows();
        showNotes();
    });
}

void ComparisonView::setReference(std::optional<ReferenceValue> reference) {
    given_ = std::move(reference);
    snapshotChanged(snapshot());
}

QString ComparisonView::csv() const {
    return model_->csv();
}

void ComparisonView::snapshotChanged(const SnapshotPtr&) {
    reference_ = given_;
    if (const auto published = snapshot() ? snapshot()->reference : std::nullopt; published && !given_) {
        reference_ = {published->value, qs(published->source), published->kind == ReferenceKind::Measured};
    }
    model_->set(snapshot(), reference_);
    arrangeColumns();
    intervals_->set(snapshot(), reference_);
    costs_->set(snapshot(), reference_);
    const int rows = model_->rowCount();
    setEmpty(rows == 0);
    QString shape = reference_ ? QStringLiteral("r") : QString();
    for (int row = 0; row < rows; ++row)
        shape += model_->index(row, 0).data(Model::FailureRole).toBool() ? QLatin1Char('x') : QLatin1Char('.');
    if (shape != shape_) {
        shape_ = shape;
        arrangeRows();
    }
    if (rows > 0 && !table_->currentIndex().isValid())
        table_->setCurrentIndex(model_->index(std::clamp(snapshot()->primary, 0, rows - 1), 0));
    showNotesWhenCalm();
}

void ComparisonView::showNotesWhenCalm() {
    // Wrapping a page of text takes milliseconds, and nobody reads it while a slider moves.
    const bool busy = sinceAnswer_.isValid() && sinceAnswer_.elapsed() < notesDue_.interval();
    sinceAnswer_.start();
    if (busy) return notesDue_.start();
    notesDue_.stop();
    showNotes();
}

void ComparisonView::arrangeRows() {
    const int rows = model_->rowCount();
    arrangeColumns();
    // A method that cannot answer says why across the columns that it leaves empty.
    table_->clearSpans();
    for (int row = 0; row < rows; ++row)
        if (model_->index(row, 0).data(Model::FailureRole).toBool())
            table_->setSpan(row, Model::Prediction, 1, Model::Approach - Model::Prediction);
    intervals_->updateGeometry();
    fitRows();
}

/// A name has as many lines as it needs in the width that its column has, in the weight of the chosen one: a row keeps
/// its height when it is chosen.
void ComparisonView::fitRows() {
    const QFontMetrics bold(nameFont(true));
    const int line = bold.lineSpacing();
    const int words = table_->columnWidth(Model::MethodName) - besideName;
    int height = table_->horizontalHeader()->sizeHint().height() + 14;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QString name = model_->index(row, Model::MethodName).data().toString();
        const auto lines = static_cast<int>(wrappedName(name, bold, words, 9).size());
        const int tall = scaled(30) + (lines - 1) * line;
        if (table_->rowHeight(row) != tall) table_->setRowHeight(row, tall);
        height += tall;
    }
    if (table_->minimumHeight() != height) table_->setFixedHeight(height);
}

void ComparisonView::showNotes() {
    const int row = table_->currentIndex().row();
    if (!snapshot() || row < 0 || static_cast<std::size_t>(row) >= snapshot()->answers.size())
        return notes_->setFullText({});
    const Answer& answer = snapshot()->answers[static_cast<std::size_t>(row)];
    options_->setChoice(answer.method);
    const Palette& colours = Theme::instance().colours();
    const auto heading = [&colours](const QString& text) {
        return QStringLiteral("<p style='margin:8px 0 2px 0; color:%1'><span style='font-weight:600'>%2</span></p>")
            .arg(colours.mutedText.name(), text.toHtmlEscaped());
    };
    const auto line = [](const QString& text) {
        return QStringLiteral("<p style='margin:0 0 2px 0'>%1</p>").arg(text.toHtmlEscaped());
    };
    QString out = QStringLiteral("<p style='margin:0'><span style='font-weight:600'>%1</span></p>")
                      .arg(answer.title.toHtmlEscaped());
    if (answer.failure) {
        out += QStringLiteral("<p style='margin:4px 0; color:%1'>%2</p>")
                   .arg((answer.failed() ? colours.bad : colours.mutedText).name(),
                        windowText(answer.failure->message).toHtmlEscaped());
        if (!answer.failure->expected.empty())
            out += line(tr("Expected: %1").arg(windowText(answer.failure->expected)));
        if (!answer.failure->hint.empty()) out += line(windowText(answer.failure->hint));
    }
    if (answer.estimate) {
        const Estimate& estimate = *answer.estimate;
        for (const Figure& figure : estimate.figures)
            out += line(QStringLiteral("%1: %2 %3")
                            .arg(qs(figure.label), qs(formatMeasure(figure.value, figure.dimension)), qs(figure.unit))
                            .trimmed());
        if (!estimate.interval.basis.empty()) out += heading(tr("Interval")) + line(qs(estimate.interval.basis));
        if (!estimate.assumptions.empty()) out += heading(tr("Assumptions"));
        for (const std::string& assumption : estimate.assumptions) out += line(windowText(assumption));
        if (!estimate.warnings.empty()) out += heading(tr("Warnings"));
        for (const Diagnostic& warned : estimate.warnings)
            out += line(windowText(warned.message) +
                        (warned.hint.empty() ? QString() : QStringLiteral(" – ") + windowText(warned.hint)));
    }
    notes_->setFullText(out);
}

void ComparisonView::resizeEvent(QResizeEvent* event) {
    ResultView::resizeEvent(event);
    plots_->setDirection(width() >= 720 ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    arrangeColumns();
}

/// A narrow dock keeps what is compared first: prediction, interval, error, cost.
void ComparisonView::arrangeColumns() {
    const bool narrow = width() < scaled(600), tight = width() < scaled(420);
    table_->setColumnHidden(Model::Reference, !reference_ || narrow);
    table_->setColumnHidden(Model::Error, !reference_);
    for (const int column : {Model::Energy, Model::Warnings, Model::Approach}) table_->setColumnHidden(column, narrow);
    table_->setColumnHidden(Model::Memory, narrow);
    table_->setColumnHidden(Model::IntervalBar, tight && reference_);
    const int widths[] = {190, 92, 140, 92, 72, 84, 92, 80, 76, 110};
    for (int i = 0; i < Model::ColumnCount; ++i) table_->setColumnWidth(i, scaled(widths[i]));
    const int interval = narrow ? std::clamp(width() * 22 / 100, scaled(56), scaled(140)) : scaled(140);
    const int prediction = scaled(narrow ? 80 : 92), cost = scaled(narrow ? 64 : 76);
    const int taken = prediction + cost + (table_->isColumnHidden(Model::IntervalBar) ? 0 : interval) +
                      (reference_ ? table_->columnWidth(Model::Error) : 0);
    int least = scaled(90);  // a piece is not broken
    const QFontMetrics metrics(nameFont(true));
    for (int row = 0; row < model_->rowCount(); ++row)
        for (const QString& piece : namePieces(model_->index(row, Model::MethodName).data().toString()))
            least = std::max(least, metrics.horizontalAdvance(piece.trimmed()) + besideName);
    table_->setColumnWidth(Model::MethodName,
                           std::max(least, narrow ? std::min(width() - taken - 12, scaled(190)) : scaled(190)));
    table_->setColumnWidth(Model::Prediction, prediction);
    table_->setColumnWidth(Model::IntervalBar, interval);
    table_->setColumnWidth(Model::Cost, cost);
    fitRows();
}

}  // namespace orrery::ui
