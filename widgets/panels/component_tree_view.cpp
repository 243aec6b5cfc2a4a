#include "hardware/validate.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/panels/component_tree.h"
#include "widgets/panels/glyphs.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace orrery::ui {

class TreeFilter : public QSortFilterProxyModel {
public:
    explicit TreeFilter(QObject* parent) : QSortFilterProxyModel(parent) {
        setRecursiveFilteringEnabled(true);
        setFilterCaseSensitivity(Qt::CaseInsensitive);
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
        const QString wanted = filterRegularExpression().pattern();
        if (wanted.isEmpty()) return true;
        const QModelIndex index = sourceModel()->index(row, 0, parent);
        const auto kind = static_cast<ComponentKind>(index.data(ComponentTreeModel::KindRole).toInt());
        return filterRegularExpression().match(index.data().toString()).hasMatch() ||
               filterRegularExpression().match(qs(label(kind))).hasMatch();
    }
};

namespace {

/// Name, ×count, and the key numbers on the right, which give way first.
class TreeDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return {QStyledItemDelegate::sizeHint(option, index).width(), 26};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        const QString name = item.text;
        item.text.clear();
        item.icon = {};
        const QWidget* widget = option.widget;
        widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, widget);

        const Theme& theme = Theme::instance();
        painter->save();
        const QRect box = option.rect.adjusted(2, 0, -8, 0);
        const auto kind = static_cast<ComponentKind>(index.data(ComponentTreeModel::KindRole).toInt());
        paintGlyph(*painter, kind, QRectF(box.left(), box.center().y() - 7.5, 16, 16), theme.colours().text);
        int x = box.left() + 22;
        painter->setFont(theme.font(FontRole::Body));
        painter->setPen(theme.colours().text);
        const QFontMetrics metrics = painter->fontMetrics();
        const qlonglong count = index.data(ComponentTreeModel::CountRole).toLongLong();
        const QString times = count > 1 ? QStringLiteral("×") + grouped(static_cast<double>(count)) : QString();
        const int timesWidth = times.isEmpty() ? 0 : metrics.horizontalAdvance(times) + 6;
        const QString shown = metrics.elidedText(name, Qt::ElideRight, std::max(24, box.right() - x - timesWidth));
        painter->drawText(QRect(x, box.top(), box.right() - x, box.height()), Qt::AlignVCenter, shown);
        x += metrics.horizontalAdvance(shown) + 6;
        if (!times.isEmpty()) {
            painter->setPen(theme.colours().accent);
            painter->drawText(QRect(x, box.top(), timesWidth, box.height()), Qt::AlignVCenter, times);
            x += timesWidth + 4;
        }
        painter->setFont(theme.font(FontRole::Small));
        painter->setPen(theme.colours().mutedText);
        const QString numbers = index.siblingAtColumn(ComponentTreeModel::Numbers).data().toString();
        const int room = box.right() - x;
        if (room > 40)
            painter->drawText(QRect(x, box.top(), room, box.height()), Qt::AlignVCenter | Qt::AlignRight,
                              painter->fontMetrics().elidedText(numbers, Qt::ElideRight, room));
        painter->restore();
    }
};

}  // namespace

ComponentTreeView::ComponentTreeView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("componentTree"));
    model_ = new ComponentTreeModel(this);
    filter_ = new TreeFilter(this);
    filter_->setSourceModel(model_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("componentTree.search"));
    search_->setAccessibleName(tr("Filter components"));
    search_->setPlaceholderText(tr("Filter components"));
    search_->setToolTip(tr("Show components whose name or kind contains this text (Esc clears)"));
    search_->setClearButtonEnabled(true);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(8, 8, 8, 8);
    top->addWidget(search_);
    column->addLayout(top);
    tree_ = new QTreeView(this);
    tree_->setObjectName(QStringLiteral("componentTree.tree"));
    tree_->setAccessibleName(tr("Components"));
    tree_->setToolTip(tr("Components of the design; Enter edits, the menu key offers more"));
    tree_->setModel(filter_);
    tree_->setItemDelegate(new TreeDelegate(tree_));
    tree_->setHeaderHidden(true);
    tree_->setColumnHidden(ComponentTreeModel::Numbers, true);
    tree_->header()->setStretchLastSection(true);
    tree_->setUniformRowHeights(true);
    tree_->setIndentation(16);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setContextMenuPolicy(Qt::CustomContextMenu);
    tree_->setExpandsOnDoubleClick(false);
    column->addWidget(tree_, 1);

    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setFilterRegularExpression(
            QRegularExpression(QRegularExpression::escape(text), QRegularExpression::CaseInsensitiveOption));
        tree_->expandAll();
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (!quiet_ && index.isValid()) emit componentSelected(model_->path(filter_->mapToSource(index)));
    });
    connect(tree_, &QTreeView::activated, this,
            [this](const QModelIndex& index) { emit componentActivated(model_->path(filter_->mapToSource(index))); });
    connect(tree_, &QTreeView::customContextMenuRequested, this, &ComponentTreeView::showMenu);
    connect(model_, &QAbstractItemModel::modelReset, tree_, &QTreeView::expandAll);
    connect(&Theme::instance(), &Theme::changed, tree_->viewport(), qOverload<>(&QWidget::update));
}

void ComponentTreeView::setHardware(HardwarePtr hardware) {
    const ComponentPath before = current();
    quiet_ = true;
    model_->setHardware(std::move(hardware));
    if (tree_->currentIndex().isValid() == false && model_->hardware()) {
        const QModelIndex kept = model_->index(before);
        tree_->setCurrentIndex(filter_->mapFromSource(kept.isValid() ? kept : model_->index(ComponentPath{})));
    }
    quiet_ = false;
}

void ComponentTreeView::setCurrent(const ComponentPath& path) {
    quiet_ = true;
    tree_->setCurrentIndex(filter_->mapFromSource(model_->index(path)));
    quiet_ = false;
}

ComponentPath ComponentTreeView::current() const {
    return model_->path(filter_->mapToSource(tree_->currentIndex()));
}

void ComponentTreeView::showMenu(const QPoint& at) {
    const QModelIndex index = filter_->mapToSource(tree_->indexAt(at));
    if (!index.isValid()) return;
    const ComponentPath path = model_->path(index);
    const auto parentKind = static_cast<ComponentKind>(index.data(ComponentTreeModel::KindRole).toInt());
    QMenu menu(this);
    menu.setObjectName(QStringLiteral("componentTree.menu"));
    QMenu* add = menu.addMenu(tr("Add inside"));
    for (int kind = 0; kind < componentKindCount; ++kind) {
        const auto child = static_cast<ComponentKind>(kind);
        if (!mayContain(parentKind, child)) continue;
        add->addAction(glyph(child), qs(label(child)), this, [this, path, child] { emit addRequested(path, child); });
    }
    add->setEnabled(!add->isEmpty());
    menu.addSeparator();
    menu.addAction(tr("Rename"), this, [this, path] { emit renameRequested(path); });
    QAction* duplicate = menu.addAction(tr("Duplicate"), this, [this, path] { emit duplicateRequested(path); });
    menu.addAction(tr("Copy as YAML"), this, [this, path] { emit copyRequested(path); });
    menu.addAction(tr("Paste inside"), this, [this, path] { emit pasteRequested(path); });
    menu.addSeparator();
    QAction* remove = menu.addAction(tr("Delete"), this, [this, path] { emit deleteRequested(path); });
    duplicate->setEnabled(!path.empty());
    remove->setEnabled(!path.empty());
    menu.exec(tree_->viewport()->mapToGlobal(at));
}

}  // namespace orrery::ui
