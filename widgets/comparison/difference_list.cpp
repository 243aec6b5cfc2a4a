#include "widgets/comparison/difference_list.h"

#include "widgets/common/glyphs.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"

#include <QApplication>
#include <QClipboard>
#include <QListView>
#include <QPainter>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

using What = Difference::What;

QColor inkOf(What what) {
    const Palette& colours = Theme::instance().colours();
    switch (what) {
        case What::Added:
            return colours.good;
        case What::Removed:
            return colours.bad;
        default:
            return colours.accent;
    }
}

QString markOf(What what) {
    switch (what) {
        case What::Added:
            return QStringLiteral("+");
        case What::Removed:
            return QStringLiteral("−");
        case What::Moved:
            return QStringLiteral("→");
        case What::Renamed:
            return QStringLiteral("≈");
        case What::Changed:
            break;
    }
    return QStringLiteral("≠");
}

/// A mark of what happened, the component's glyph, the words, and where it is.
class DifferenceDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        const Theme& theme = Theme::instance();
        return {120, QFontMetrics(theme.font(FontRole::Body)).height() +
                         QFontMetrics(theme.font(FontRole::Small)).height() + 10};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const Palette& colours = theme.colours();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QRect row = option.rect;
        if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
            QColor fill = colours.selection;
            if (!(option.state & QStyle::State_Selected)) fill.setAlpha(fill.alpha() / 2);
            painter->setPen(Qt::NoPen);
            painter->setBrush(fill);
            painter->drawRoundedRect(row.adjusted(4, 1, -4, -1), 4, 4);
        }
        const auto what = static_cast<What>(index.data(DifferenceModel::WhatRole).toInt());
        const QFont body = theme.font(FontRole::Body);
        const int line = QFontMetrics(body).height();
        painter->setFont(body);
        painter->setPen(inkOf(what));
        painter->drawText(QRect(row.left() + 10, row.top() + 5, 16, line), Qt::AlignCenter, markOf(what));
        paintGlyph(*painter, static_cast<ComponentKind>(index.data(DifferenceModel::KindRole).toInt()),
                   QRectF(row.left() + 30, row.top() + 5 + (line - 16) / 2.0, 16, 16), colours.text);
        const int left = row.left() + 54, width = row.right() - left - 8;
        const auto words = [&](FontRole role, const QColor& ink, int top, const QString& text, Qt::TextElideMode mode) {
            painter->setFont(theme.font(role));
            painter->setPen(ink);
            painter->drawText(QRect(left, top, width, painter->fontMetrics().height()),
                              Qt::AlignVCenter | Qt::TextSingleLine,
                              painter->fontMetrics().elidedText(text, mode, width));
        };
        words(FontRole::Body, colours.text, row.top() + 5, index.data().toString(), Qt::ElideRight);
        words(FontRole::Small, colours.mutedText, row.top() + 5 + line,
              index.data(DifferenceModel::WhereRole).toString(), Qt::ElideLeft);
        painter->restore();
    }
};

}  // namespace

void DifferenceModel::setDesigns(HardwarePtr before, HardwarePtr after) {
    beginResetModel();
    before_ = std::move(before);
    after_ = std::move(after);
    rows_ = before_ && after_ ? orrery::differences(before_->root, after_->root) : std::vector<Difference>();
    endResetModel();
}

int DifferenceModel::count(What what) const {
    return static_cast<int>(std::ranges::count(rows_, what, &Difference::what));
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Difference& row = rows_[static_cast<std::size_t>(index.row())];
    const Component& root = row.after ? after_->root : before_->root;
    const ComponentPath path = row.after ? *row.after : row.before.value_or(ComponentPath{});
    switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole:
            return qs(toText(before_->root, after_->root, row));
        case Qt::ToolTipRole:
            return QStringLiteral("%1\n%2\n%3")
                .arg(qs(toText(before_->root, after_->root, row)), qs(pathText(root, path)),
                     tr("Press Enter or click to select it on both sides"));
        case WhatRole:
            return static_cast<int>(row.what);
        case KindRole: {
            const Component* component = componentAt(root, path);
            return static_cast<int>(component ? component->kind : ComponentKind::System);
        }
        case WhereRole:
            return qs(pathText(root, path));
        default:
            return {};
    }
}

DifferenceList::DifferenceList(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("differences"));
    model_ = new DifferenceModel(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    summary_ = new Label({}, FontRole::Small, Tone::Muted, this);
    summary_->setObjectName(QStringLiteral("differences.summary"));
    summary_->setContentsMargins(12, 6, 12, 6);
    summary_->setWordWrap(true);
    column->addWidget(summary_);
    list_ = new QListView(this);
    list_->setObjectName(QStringLiteral("differences.list"));
    list_->setAccessibleName(tr("Differences of two designs"));
    list_->setToolTip(tr("A click or Enter selects the component on both sides; Ctrl+C copies"));
    list_->setModel(model_);
    list_->setItemDelegate(new DifferenceDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setUniformItemSizes(true);
    list_->setMouseTracking(true);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(list_, 1);
    empty_ = new EmptyPage(tr("Nothing to compare"), tr("Open a second design, or derive one, to see the differences."),
                           {}, this);
    column->addWidget(empty_, 1);
    connect(list_, &QListView::clicked, this, &DifferenceList::choose);
    connect(list_, &QListView::activated, this, &DifferenceList::choose);
    connect(&Theme::instance(), &Theme::changed, list_, [this] { list_->doItemsLayout(); });
    auto* copy = new QShortcut(QKeySequence::Copy, list_);
    copy->setContext(Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, [this] {
        QModelIndexList rows = list_->selectionModel()->selectedIndexes();
        std::sort(rows.begin(), rows.end());
        QStringList lines;
        for (const QModelIndex& row : rows) lines << row.data().toString();
        if (!lines.isEmpty()) QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
    setDesigns(nullptr, nullptr, {}, {});
}

void DifferenceList::setDesigns(HardwarePtr before, HardwarePtr after, const QString& beforeName,
                                const QString& afterName) {
    if (before != before_ || after != after_) {
        before_ = before;
        after_ = after;
        model_->setDesigns(std::move(before), std::move(after));
    }
    const bool both = before_ && after_;
    const int count = model_->rowCount();
    list_->setVisible(count > 0);
    empty_->setVisible(count == 0);
    summary_->setVisible(count > 0);
    auto* page = static_cast<EmptyPage*>(empty_);
    if (!both)
        page->setTexts(tr("Nothing to compare"), tr("Open a second design, or derive one, to see the differences."));
    else if (count == 0)
        page->setTexts(tr("No difference"),
                       tr("%1 and %2 have the same components and numbers.").arg(beforeName, afterName));
    QStringList parts;
    const auto add = [&](What what, const QString& text) {
        if (model_->count(what) > 0) parts << text;
    };
    add(What::Changed, tr("%n changed", nullptr, model_->count(What::Changed)));
    add(What::Added, tr("%n added", nullptr, model_->count(What::Added)));
    add(What::Removed, tr("%n removed", nullptr, model_->count(What::Removed)));
    add(What::Moved, tr("%n moved", nullptr, model_->count(What::Moved)));
    add(What::Renamed, tr("%n renamed", nullptr, model_->count(What::Renamed)));
    summary_->setFullText(QStringLiteral("%1 → %2: %3").arg(beforeName, afterName, parts.join(QStringLiteral(", "))));
}

void DifferenceList::choose(const QModelIndex& index) {
    if (!index.isValid()) return;
    const Difference& row = model_->differences()[static_cast<std::size_t>(index.row())];
    emit differenceChosen(row.before, row.after);
}

}  // namespace orrery::ui
