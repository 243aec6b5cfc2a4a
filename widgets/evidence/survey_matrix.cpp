#include "widgets/evidence/survey_matrix.h"

#include "widgets/common/table_scale.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double leastShown = 0.01, mostShown = 3;  // errors at the ends of a cell
constexpr std::array ticks{0.01, 0.1, 1.0};
constexpr double leastRow = 36, mostRow = 72;      // heights, before the theme's scale
constexpr double markRadius = 4.5, markReach = 9;  // pixels, before the theme's scale

double dotPlace(const QRectF& box, double error) {
    const double share =
        std::log(std::clamp(error, leastShown, mostShown) / leastShown) / std::log(mostShown / leastShown);
    const double side = 10 * Theme::instance().scale();
    return box.left() + side + share * (box.width() - 2 * side);
}

QRectF wordsBox(const QRectF& cell) {
    return cell.adjusted(8, 2, -8, -2);
}

/// In lines; words at the end give way where these are too many.
QString wrapped(const QString& text, const QFontMetricsF& metrics, const QSizeF& room) {
    const auto fits = [&](const QString& each) {
        const QRectF needs = metrics.boundingRect(QRectF(0, 0, room.width(), 1e4), Qt::TextWordWrap, each);
        return needs.height() <= room.height() && needs.width() <= room.width();
    };
    QString shown = text;
    for (qsizetype end = text.size(); !fits(shown);) {
        end = text.lastIndexOf(QLatin1Char(' '), end - 1);
        if (end <= 0) return metrics.elidedText(text, Qt::ElideRight, room.width());
        shown = text.left(end) + QStringLiteral(" …");
    }
    return shown;
}

/// Under each title the scale of the cells below it.
class ScaleHeader : public QHeaderView {
public:
    explicit ScaleHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

protected:
    QSize sectionSizeFromContents(int section) const override {
        const QSize title = QHeaderView::sectionSizeFromContents(section);
        return {title.width(), title.height() + scaleHeight()};
    }
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        const Theme& theme = Theme::instance();
        painter->fillRect(rect, theme.colours().raised);
        painter->save();
        QHeaderView::paintSection(painter, rect.adjusted(0, 0, 0, -scaleHeight()), section);
        painter->restore();
        painter->setFont(theme.font(FontRole::Small));
        painter->setPen(theme.colours().mutedText);
        for (const double tick : ticks) {
            const QString words = QStringLiteral("%1 %").arg(qRound(tick * 100));
            const double wide = QFontMetricsF(painter->font()).horizontalAdvance(words);
            const double left = std::max(rect.left() + 2.0, dotPlace(rect, tick) - wide / 2);
            painter->drawText(QRectF(left, rect.bottom() - scaleHeight(), wide + 1, scaleHeight()),
                              Qt::AlignLeft | Qt::AlignVCenter, words);
        }
    }

private:
    static int scaleHeight() { return QFontMetrics(Theme::instance().font(FontRole::Small)).height() + 2; }
};

class SurveyDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const auto* model = static_cast<const SurveyModel*>(index.model());
        const SurveyPicture::Cell& cell = model->cell(index);
        const QRectF box = option.rect;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        QColor line = theme.colours().mutedText;
        line.setAlpha(70);
        painter->setPen(QPen(line, 1));
        if (cell.marks.empty()) {
            painter->setFont(theme.font(FontRole::Small));
            painter->setPen(theme.colours().mutedText);
            const QRectF words = wordsBox(box);
            painter->drawText(words, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap,
                              wrapped(cell.missing, QFontMetricsF(painter->font()), words.size()));
        } else {
            painter->drawLine(QPointF(box.left() + 6, box.center().y()), QPointF(box.right() - 6, box.center().y()));
            for (const double tick : ticks) {
                const double x = dotPlace(box, tick);
                painter->drawLine(QPointF(x, box.center().y() - 4), QPointF(x, box.center().y() + 4));
            }
            const double size = markRadius * theme.scale();
            QColor fill = theme.methodColour(model->picture().rows[static_cast<std::size_t>(index.row())].colour);
            for (const SurveyPicture::Mark& mark : cell.marks) {
                painter->setPen(QPen(mark.simulated ? fill : theme.colours().surface, 1.4));
                painter->setBrush(mark.simulated ? QBrush(theme.colours().surface) : QBrush(fill));
                painter->drawEllipse(QPointF(dotPlace(box, mark.error), box.center().y()), size, size);
            }
        }
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(theme.colours().accent, 1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(box.adjusted(1, 1, -2, -2));
        }
        painter->restore();
    }
};

}  // namespace

void SurveyModel::set(SurveyPicture picture) {
    beginResetModel();
    picture_ = std::move(picture);
    endResetModel();
}

int SurveyModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(picture_.rows.size());
}

int SurveyModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || picture_.rows.empty() ? 0 : static_cast<int>(picture_.columns.size());
}

const SurveyPicture::Cell& SurveyModel::cell(const QModelIndex& index) const {
    return picture_.rows[static_cast<std::size_t>(index.row())].cells[static_cast<std::size_t>(index.column())];
}

QVariant SurveyModel::data(const QModelIndex& index, int role) const {
    const SurveyPicture::Cell& at = cell(index);
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return at.marks.empty() ? at.missing : at.text;
    if (role == Qt::ToolTipRole) return at.marks.empty() ? at.missing : at.text;
    return {};
}

QVariant SurveyModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Vertical)
        return role == Qt::DisplayRole ? picture_.rows[static_cast<std::size_t>(section)].title : QVariant();
    if (role == Qt::DisplayRole) return picture_.columns.value(section);
    if (role == Qt::ToolTipRole) return picture_.columnTips.value(section);
    return {};
}

SurveyMatrix::SurveyMatrix(QWidget* parent) : QTableView(parent), model_(new SurveyModel(this)) {
    setObjectName(QStringLiteral("evidence.survey"));
    setAccessibleName(tr("Methods surveyed"));
    setToolTip(tr("One dot per judged method; left is exact. Click to list the rows of all dots there"));
    auto* scales = new ScaleHeader(this);
    scales->setObjectName(QStringLiteral("evidence.survey.scales"));
    setHorizontalHeader(scales);
    setModel(model_);
    setItemDelegate(new SurveyDelegate(this));
    setFrameShape(NoFrame);
    setEditTriggers(NoEditTriggers);
    setSelectionMode(NoSelection);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    verticalHeader()->setDefaultSectionSize(static_cast<int>(leastRow * Theme::instance().scale()));
    verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    verticalHeader()->setSectionsClickable(false);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(false);
    connect(this, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit chosen(index.row(), index.column(), {}); });
    growWithType(this);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void SurveyMatrix::setPicture(SurveyPicture picture) {
    model_->set(std::move(picture));
    fit();
}

QPointF SurveyMatrix::placeOf(int row, int column, std::size_t mark) const {
    const QRectF box = visualRect(model_->index(row, column));
    return {dotPlace(box, model_->cell(model_->index(row, column)).marks[mark].error), box.center().y()};
}

QList<int> SurveyMatrix::marksAt(const QModelIndex& index, const QPointF& at) const {
    if (!index.isValid()) return {};
    std::vector<std::pair<double, int>> near;
    const std::size_t marks = model_->cell(index).marks.size();
    for (std::size_t i = 0; i < marks; ++i) {
        const QPointF away = placeOf(index.row(), index.column(), i) - at;
        const double distance = std::hypot(away.x(), away.y());
        if (distance < markReach * Theme::instance().scale()) near.emplace_back(distance, static_cast<int>(i));
    }
    std::sort(near.begin(), near.end());
    QList<int> found;
    for (const auto& [distance, mark] : near) found << mark;
    return found;
}

void SurveyMatrix::mouseReleaseEvent(QMouseEvent* event) {
    QTableView::mouseReleaseEvent(event);
    if (event->button() != Qt::LeftButton) return;
    const QModelIndex index = indexAt(event->position().toPoint());
    if (!index.isValid()) return;
    QList<int> entries;
    for (const int mark : marksAt(index, event->position()))
        entries << model_->cell(index).marks[static_cast<std::size_t>(mark)].entry;
    emit chosen(index.row(), index.column(), entries);
}

bool SurveyMatrix::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QModelIndex index = indexAt(help->pos());
        QStringList tips;
        for (const int mark : marksAt(index, help->pos()))
            tips << model_->cell(index).marks[static_cast<std::size_t>(mark)].tip;
        if (!tips.isEmpty()) {
            QToolTip::showText(help->globalPos(), tips.join(QStringLiteral("\n\n")), viewport());
            return true;
        }
    }
    return QTableView::viewportEvent(event);
}

void SurveyMatrix::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (model_->rowCount() > 0) return;
    QPainter painter(viewport());
    paintEmptyPlot(painter, viewport()->rect(), emptyText_);
}

void SurveyMatrix::setEmptyText(const QString& text) {
    emptyText_ = text;
    viewport()->update();
}

void SurveyMatrix::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fit();
}

QString SurveyMatrix::writtenIn(int row, int column) const {
    const QModelIndex index = model_->index(row, column);
    return wrapped(model_->cell(index).missing, QFontMetricsF(Theme::instance().font(FontRole::Small)),
                   wordsBox(visualRect(index)).size());
}

/// Columns share the width; under 120 pixels each they scroll. Rows share the height as far as lines of words need it.
void SurveyMatrix::fit() {
    if (const int rows = model_->rowCount(); rows > 0)
        verticalHeader()->setDefaultSectionSize(std::clamp(viewport()->height() / rows,
                                                           static_cast<int>(leastRow * Theme::instance().scale()),
                                                           static_cast<int>(mostRow * Theme::instance().scale())));
    const int columns = model_->columnCount();
    for (int column = 0; column < columns; ++column)
        setColumnWidth(column,
                       std::max(viewport()->width() / columns, static_cast<int>(120 * Theme::instance().scale())));
}

}  // namespace orrery::ui
