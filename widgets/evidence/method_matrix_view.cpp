#include "widgets/evidence/method_matrix_view.h"

#include "widgets/common/table_scale.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

enum Role { ChosenRole = Qt::UserRole + 1 };

QString wholePercent(double share) {
    return QStringLiteral("%1%2").arg(share < 0 ? QStringLiteral("−") : QStringLiteral("+"),
                                      QString::number(std::fabs(100 * share), 'f', std::fabs(share) < 0.0995 ? 1 : 0));
}

class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const auto* model = static_cast<const MethodMatrixModel*>(index.model());
        const auto* cell = model->cell(index);
        const QRect box = option.rect;
        painter->save();
        if (!cell) {
            const auto& row = model->picture().rows[static_cast<std::size_t>(index.row())];
            const bool head = row.entry < 0;
            if (head) painter->fillRect(box, theme.colours().raised);
            if (index.column() == 0) {
                painter->setRenderHint(QPainter::Antialiasing);
                painter->setPen(Qt::NoPen);
                painter->setBrush(theme.methodColour(row.colour));
                if (head) painter->drawEllipse(QPointF(box.left() + 11, box.center().y() + 0.5), 4, 4);
                painter->setFont(theme.font(head ? FontRole::Small : FontRole::Body));
                painter->setPen(head ? theme.colours().mutedText : theme.colours().text);
                const QRect words = box.adjusted(20, 0, -6, 0);
                painter->drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                                  painter->fontMetrics().elidedText(row.title, Qt::ElideRight, words.width()));
            }
        } else {
            paintCell(painter, box.adjusted(1, 1, -1, -1), *cell, index.data(ChosenRole).toBool());
        }
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(theme.colours().accent, 1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(box.adjusted(1, 1, -2, -2));
        }
        painter->restore();
    }

private:
    static void paintCell(QPainter* painter, const QRect& box, const MatrixPicture::Cell& cell, bool chosen) {
        const Theme& theme = Theme::instance();
        if (cell.state == MatrixPicture::Cell::State::NotApplicable) {
            QColor grey = theme.colours().mutedText;
            grey.setAlpha(46);
            painter->fillRect(box, grey);
        }
        if (cell.state == MatrixPicture::Cell::State::Judged) {
            // Full colour at a factor of two either way; the surface's own grey says exact.
            const double heat = std::clamp(std::log2(std::max(1 + cell.median, 1e-3)), -1.0, 1.0);
            QColor fill = theme.divergingHeat(heat);
            const QColor under = theme.colours().surface;
            const double share = 0.55 * std::min(std::fabs(heat) * 1.4, 1.0);
            fill = QColor::fromRgbF(static_cast<float>(share * fill.redF() + (1 - share) * under.redF()),
                                    static_cast<float>(share * fill.greenF() + (1 - share) * under.greenF()),
                                    static_cast<float>(share * fill.blueF() + (1 - share) * under.blueF()));
            painter->fillRect(box, fill);
            const QColor ink = theme.inkOn(fill);
            QColor muted = ink;
            muted.setAlpha(175);
            QRect words = box.adjusted(7, 0, -7, 0);
            painter->setFont(theme.font(FontRole::Small));
            painter->setPen(muted);
            const QString count =
                cell.common ? QString::number(cell.rows) : QString::number(cell.rows) + QLatin1Char('*');
            painter->drawText(words, Qt::AlignRight | Qt::AlignVCenter, count);
            words.setRight(words.right() - painter->fontMetrics().horizontalAdvance(count) - 8);
            const QString interval = QStringLiteral("[%1 … %2]").arg(wholePercent(cell.low), wholePercent(cell.high));
            const int wide = painter->fontMetrics().horizontalAdvance(interval);
            QFont body = theme.font(FontRole::Body);
            body.setBold(cell.least);
            painter->setFont(body);
            painter->setPen(ink);
            const QString median = wholePercent(cell.median) + QStringLiteral(" %");
            const int taken = painter->fontMetrics().horizontalAdvance(median);
            painter->drawText(words, Qt::AlignLeft | Qt::AlignVCenter, median);
            if (taken + 8 + wide <= words.width()) {
                painter->setFont(theme.font(FontRole::Small));
                painter->setPen(muted);
                painter->drawText(words.adjusted(taken + 8, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, interval);
            }
        }
        if (chosen) {
            painter->setPen(QPen(theme.colours().accent, 2));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(box.adjusted(1, 1, -1, -1));
        }
    }
};

}  // namespace

void MethodMatrixModel::set(MatrixPicture picture) {
    beginResetModel();
    picture_ = std::move(picture);
    endResetModel();
}

void MethodMatrixModel::setChosen(int entry, int column) {
    chosenEntry_ = entry;
    chosenColumn_ = column;
}

int MethodMatrixModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(picture_.rows.size());
}

int MethodMatrixModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || picture_.rows.empty() ? 0 : static_cast<int>(picture_.columns.size()) + 1;
}

const MatrixPicture::Cell* MethodMatrixModel::cell(const QModelIndex& index) const {
    const auto& row = picture_.rows[static_cast<std::size_t>(index.row())];
    if (row.entry < 0 || index.column() == 0) return nullptr;
    return &row.cells[static_cast<std::size_t>(index.column() - 1)];
}

QVariant MethodMatrixModel::data(const QModelIndex& index, int role) const {
    const auto& row = picture_.rows[static_cast<std::size_t>(index.row())];
    const MatrixPicture::Cell* at = cell(index);
    if (role == ChosenRole) return at && row.entry == chosenEntry_ && index.column() - 1 == chosenColumn_;
    if (role == Qt::ToolTipRole) return at ? at->tip : row.tip;
    if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
    if (!at) return index.column() == 0 ? row.title : QString();
    switch (at->state) {
        case MatrixPicture::Cell::State::NoTruth:
            return QString();
        case MatrixPicture::Cell::State::NotApplicable:
            return tr("not applicable");
        case MatrixPicture::Cell::State::Judged:
            return QStringLiteral("%1 % [%2 … %3] %4")
                .arg(wholePercent(at->median), wholePercent(at->low), wholePercent(at->high))
                .arg(at->rows);
    }
    return {};
}

QVariant MethodMatrixModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole) return section == 0 ? tr("Method") : picture_.columns.value(section - 1);
    if (role == Qt::ToolTipRole) return section == 0 ? QString() : picture_.columnTips.value(section - 1);
    if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
    return {};
}

MethodMatrixView::MethodMatrixView(QWidget* parent) : QTableView(parent), model_(new MethodMatrixModel(this)) {
    setObjectName(QStringLiteral("evidence.matrix"));
    setAccessibleName(tr("Methods by scenario"));
    setToolTip(
        tr("Signed median error, range of the errors, number of rows. Bold: smallest mean error among equals. Grey: "
           "not applicable. Blank: no measured rows"));
    setModel(model_);
    setItemDelegate(new CellDelegate(this));
    setFrameShape(NoFrame);
    setShowGrid(false);
    setEditTriggers(NoEditTriggers);
    setSelectionMode(NoSelection);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(static_cast<int>(24 * Theme::instance().scale()));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    connect(this, &QTableView::clicked, this, [this](const QModelIndex& index) {
        const int entry = model_->picture().rows[static_cast<std::size_t>(index.row())].entry;
        if (entry < 0) return;
        if (index.column() == 0) return emit rowChosen(entry);
        emit cellChosen(entry, index.column() - 1);
    });
    connect(this, &QTableView::activated, this, &QTableView::clicked);
    growWithType(this);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void MethodMatrixView::setPicture(MatrixPicture picture) {
    model_->set(std::move(picture));
    clearSpans();
    for (int row = 0; row < model_->rowCount(); ++row) {
        if (model_->picture().rows[static_cast<std::size_t>(row)].entry < 0)
            setSpan(row, 0, 1, std::max(model_->columnCount(), 1));
    }
    fit();
}

void MethodMatrixView::setChosen(int entry, int column) {
    model_->setChosen(entry, column);
    viewport()->update();
}

void MethodMatrixView::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (model_->rowCount() > 0) return;
    QPainter painter(viewport());
    paintEmptyPlot(painter, viewport()->rect(),
                   tr("Judged methods appear here by platform, class or level, with their errors."));
}

void MethodMatrixView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fit();
}

/// The columns share what the titles leave; those without truth are narrow, and under 96 pixels each they scroll.
void MethodMatrixView::fit() {
    const int columns = model_->columnCount() - 1;
    if (columns < 1) return;
    const MatrixPicture& picture = model_->picture();
    const auto blank = [&](int column) {
        return std::ranges::all_of(picture.rows, [&](const MatrixPicture::Row& row) {
            return row.cells.empty() ||
                   row.cells[static_cast<std::size_t>(column)].state == MatrixPicture::Cell::State::NoTruth;
        });
    };
    const double scale = Theme::instance().scale();
    const int title = std::min(static_cast<int>(180 * scale), viewport()->width() / 3);
    const auto narrow = static_cast<int>(44 * scale);
    int full = 0;
    for (int column = 0; column < columns; ++column) full += blank(column) ? 0 : 1;
    const int room = viewport()->width() - title - narrow * (columns - full);
    const int each =
        full == 0 ? 0 : std::clamp(room / full, static_cast<int>(96 * scale), static_cast<int>(240 * scale));
    setColumnWidth(0, title);
    // A head names its rows' count: it is never cut.
    for (int column = 0; column < columns; ++column) {
        const int head = horizontalHeader()->sectionSizeHint(column + 1);
        setColumnWidth(column + 1, std::max(blank(column) ? narrow : each, head));
    }
}

}  // namespace orrery::ui
