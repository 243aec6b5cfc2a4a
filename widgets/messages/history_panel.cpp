#include "widgets/messages/history_panel.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/theme.h"

#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

/// A line through the states with a dot at each; the present one is filled.
class HistoryDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {80, QFontMetrics(Theme::instance().font(FontRole::Body)).height() + 10};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const Theme& theme = Theme::instance();
        const Palette& colours = theme.colours();
        const bool current = index.data(HistoryModel::CurrentRole).toBool();
        const bool undone = index.data(HistoryModel::UndoneRole).toBool();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        if (current || option.state & QStyle::State_MouseOver) {
            QColor fill = colours.selection;
            if (!current) fill.setAlpha(fill.alpha() / 2);
            painter->setPen(Qt::NoPen);
            painter->setBrush(fill);
            painter->drawRoundedRect(option.rect.adjusted(4, 1, -4, -1), 4, 4);
        }
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(colours.accent, 1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(4.5, 1.5, -4.5, -1.5), 4, 4);
        }
        const QPointF dot(option.rect.left() + 18, option.rect.center().y() + 0.5);
        const int last = index.model()->rowCount() - 1;
        painter->setPen(QPen(colours.line, 1.5));
        if (index.row() > 0) painter->drawLine(QPointF(dot.x(), option.rect.top()), dot);
        if (index.row() < last) painter->drawLine(dot, QPointF(dot.x(), option.rect.bottom() + 1));
        painter->setPen(QPen(undone ? colours.line : colours.accent, 1.5));
        painter->setBrush(current ? colours.accent : colours.surface);
        painter->drawEllipse(dot, 4, 4);
        QRect box = option.rect.adjusted(32, 0, -10, 0);
        if (index.data(HistoryModel::SavedRole).toBool()) {
            const QRect disk(box.right() - 16, box.center().y() - 7, 16, 16);
            theme.icon(QStringLiteral("document-save")).paint(painter, disk);
            box.setRight(disk.left() - 6);
        }
        QFont font = theme.font(FontRole::Body);
        if (current) font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        painter->setPen(undone ? colours.mutedText : colours.text);
        painter->drawText(box, Qt::AlignVCenter | Qt::TextSingleLine,
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, box.width()));
        painter->restore();
    }
};

}  // namespace

HistoryModel::HistoryModel(QUndoStack* stack, QObject* parent) : QAbstractListModel(parent), stack_(stack) {
    if (!stack_) return;
    connect(stack_, &QUndoStack::indexChanged, this, &HistoryModel::follow);
    connect(stack_, &QUndoStack::cleanChanged, this, &HistoryModel::follow);
    follow();
}

int HistoryModel::current() const {
    return stack_ ? stack_->index() : 0;
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(words_.size()) + 1;
}

void HistoryModel::follow() {
    QStringList now;
    for (int i = 0; stack_ && i < stack_->count(); ++i) now << stack_->text(i);
    const auto [was, is] = std::mismatch(words_.begin(), words_.end(), now.begin(), now.end());
    const int same = static_cast<int>(was - words_.begin());
    const int before = static_cast<int>(words_.size()), after = static_cast<int>(now.size());
    if (before > after) {
        beginRemoveRows({}, after + 1, before);
        words_.resize(after);
        endRemoveRows();
    }
    for (int i = same; i < std::min(before, after); ++i) words_[i] = now[i];
    if (after > before) {
        beginInsertRows({}, before + 1, after);
        words_ = now;
        endInsertRows();
    }
    emit dataChanged(index(0), index(rowCount() - 1));
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const int row = index.row();
    const QString words = row == 0 ? tr("As opened") : words_[row - 1];
    const bool saved = stack_ && stack_->cleanIndex() == row;
    switch (role) {
        case Qt::DisplayRole:
            return words;
        case Qt::AccessibleTextRole: {
            QStringList parts{words};
            if (row == current()) parts << tr("the present state");
            if (row > current()) parts << tr("undone");
            if (saved) parts << tr("saved");
            return parts.join(QStringLiteral(", "));
        }
        case Qt::ToolTipRole:
            return (row == current()  ? tr("%1\nThis is the current state")
                    : row < current() ? tr("%1\nClick to go back to the state after this edit")
                                      : tr("%1\nUndone: click to redo it"))
                       .arg(words) +
                   (saved ? tr("\nThis state is on disk") : QString());
        case CurrentRole:
            return row == current();
        case SavedRole:
            return saved;
        case UndoneRole:
            return row > current();
        default:
            return {};
    }
}

HistoryPanel::HistoryPanel(QUndoStack* stack, QWidget* parent) : QWidget(parent), stack_(stack) {
    setObjectName(QStringLiteral("history"));
    model_ = new HistoryModel(stack, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 4, 8, 4);
    top->setSpacing(4);
    undo_ = new IconButton(QStringLiteral("edit-undo"), tr("Undo (Ctrl+Z)"), QStringLiteral("history.undo"), this);
    redo_ =
        new IconButton(QStringLiteral("edit-redo"), tr("Redo (Ctrl+Shift+Z)"), QStringLiteral("history.redo"), this);
    top->addWidget(undo_);
    top->addWidget(redo_);
    top->addStretch(1);
    column->addLayout(top);
    list_ = new QListView(this);
    list_->setObjectName(QStringLiteral("history.list"));
    list_->setAccessibleName(tr("History of edits"));
    list_->setToolTip(tr("Click or press Enter to go to that state (Ctrl+Z, Ctrl+Shift+Z)"));
    list_->setModel(model_);
    list_->setItemDelegate(new HistoryDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setUniformItemSizes(true);
    list_->setMouseTracking(true);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(list_, 1);
    connect(list_, &QListView::clicked, this, &HistoryPanel::goTo);
    connect(list_, &QListView::activated, this, &HistoryPanel::goTo);
    connect(&Theme::instance(), &Theme::changed, list_, [this] { list_->doItemsLayout(); });
    if (stack_) {
        connect(undo_, &QToolButton::clicked, stack_, &QUndoStack::undo);
        connect(redo_, &QToolButton::clicked, stack_, &QUndoStack::redo);
        connect(stack_, &QUndoStack::indexChanged, this, &HistoryPanel::follow);
    }
    follow();
}

void HistoryPanel::goTo(const QModelIndex& index) {
    if (stack_ && index.isValid()) stack_->setIndex(index.row());
}

void HistoryPanel::follow() {
    undo_->setEnabled(stack_ && stack_->canUndo());
    redo_->setEnabled(stack_ && stack_->canRedo());
    undo_->setToolTip(stack_ && stack_->canUndo() ? tr("Undo “%1” (Ctrl+Z)").arg(stack_->undoText())
                                                  : tr("Nothing to undo (Ctrl+Z)"));
    redo_->setToolTip(stack_ && stack_->canRedo() ? tr("Redo “%1” (Ctrl+Shift+Z)").arg(stack_->redoText())
                                                  : tr("Nothing to redo (Ctrl+Shift+Z)"));
    const QModelIndex now = model_->index(model_->current());
    if (now == list_->currentIndex()) return;
    list_->setCurrentIndex(now);
    list_->scrollTo(now);
}

}  // namespace orrery::ui
