#include "hardware/check/validate.h"
#include "hardware/walk.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/tree/component_tree.h"
#include "widgets/tree/component_tree_delegate.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include <algorithm>

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
constexpr int expandAllUpTo = 3000;  // rows that are laid out at once without a person noticing

int componentsIn(const Component& component, int most) {
    int count = 1;
    for (const Component& child : partsIn(component)) {
        if (count >= most) break;
        count += componentsIn(child, most - count);
    }
    return count;
}
}  // namespace

ComponentTreeView::ComponentTreeView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("componentTree"));
    model_ = new ComponentTreeModel(this);
    filter_ = new TreeFilter(this);
    filter_->setSourceModel(model_);
    build();
    wire();
}

void ComponentTreeView::build() {
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
    tree_->setToolTip(
        tr("Components of the design: F2 renames, Enter shows, Delete removes, a drag moves; the menu key "
           "offers more"));
    tree_->setModel(filter_);
    tree_->setHeaderHidden(true);
    tree_->setColumnHidden(ComponentTreeModel::Numbers, true);
    tree_->header()->setStretchLastSection(true);
    tree_->setUniformRowHeights(true);
    tree_->setIndentation(16);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setContextMenuPolicy(Qt::CustomContextMenu);
    tree_->setExpandsOnDoubleClick(false);
    tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    tree_->setEditTriggers(QAbstractItemView::SelectedClicked | QAbstractItemView::EditKeyPressed);
    tree_->setDragEnabled(true);
    tree_->setAcceptDrops(true);
    tree_->setDropIndicatorShown(true);
    tree_->setDragDropMode(QAbstractItemView::DragDrop);
    tree_->setDefaultDropAction(Qt::MoveAction);
    tree_->setAutoExpandDelay(600);
    column->addWidget(tree_, 1);
}

void ComponentTreeView::wire() {
    auto* delegate = new ComponentTreeDelegate(model_, tree_);
    tree_->setItemDelegate(delegate);
    connect(delegate, &ComponentTreeDelegate::refused, this, &ComponentTreeView::refused);
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        quiet_ = true;  // what is hidden is no longer selected here, but still in the design
        filter_->setFilterRegularExpression(
            QRegularExpression(QRegularExpression::escape(text), QRegularExpression::CaseInsensitiveOption));
        quiet_ = false;
        if (text.isEmpty())
            expandKept();
        else
            tree_->expandAll();
        readSelection();
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (!quiet_ && index.isValid()) emit componentSelected(model_->path(filter_->mapToSource(index)));
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ComponentTreeView::writeSelection);
    connect(tree_, &QTreeView::activated, this,
            [this](const QModelIndex& index) { emit componentActivated(model_->path(filter_->mapToSource(index))); });
    connect(tree_, &QTreeView::customContextMenuRequested, this, &ComponentTreeView::showMenu);
    const auto fold = [this](bool collapsed) {
        return [this, collapsed](const QModelIndex& index) {
            if (quiet_ || !search_->text().isEmpty()) return;
            const QString path = index.data(ComponentTreeModel::PathTextRole).toString();
            if (collapsed)
                collapsed_.insert(path);
            else
                collapsed_.erase(path);
        };
    };
    connect(tree_, &QTreeView::collapsed, this, fold(true));
    connect(tree_, &QTreeView::expanded, this, fold(false));
    connect(model_, &ComponentTreeModel::nameEntered, this, &ComponentTreeView::nameEntered, Qt::QueuedConnection);
    connect(model_, &ComponentTreeModel::moveDropped, this, &ComponentTreeView::moveRequested);
    connect(model_, &ComponentTreeModel::componentDropped, this, &ComponentTreeView::componentDropped);
    connect(model_, &ComponentTreeModel::deviceDropped, this, &ComponentTreeView::deviceDropped);
    connect(&Theme::instance(), &Theme::changed, tree_, [this] { tree_->doItemsLayout(); });
    tree_->installEventFilter(this);
}

void ComponentTreeView::setHardware(HardwarePtr hardware) {
    const ComponentPath before = current();
    bool shaped = false;
    const auto watch = connect(
        model_, &QAbstractItemModel::modelReset, this, [&shaped] { shaped = true; }, Qt::DirectConnection);
    quiet_ = true;
    model_->setHardware(std::move(hardware));
    disconnect(watch);
    if (shaped) expandKept();
    quiet_ = true;
    if (tree_->currentIndex().isValid() == false && model_->hardware()) {
        const QModelIndex kept = model_->index(before);
        tree_->setCurrentIndex(filter_->mapFromSource(kept.isValid() ? kept : model_->index(ComponentPath{})));
    }
    quiet_ = false;
    if (shaped) readSelection();
}

void ComponentTreeView::expandKept() {
    quiet_ = true;
    const HardwarePtr& hardware = model_->hardware();
    if (hardware && componentsIn(hardware->root, expandAllUpTo + 1) > expandAllUpTo)
        tree_->expandToDepth(1);
    else
        tree_->expandAll();
    if (!collapsed_.empty() && hardware) {
        const std::function<void(const QModelIndex&)> fold = [&](const QModelIndex& above) {
            for (int row = 0; row < filter_->rowCount(above); ++row) {
                const QModelIndex index = filter_->index(row, 0, above);
                if (filter_->rowCount(index) == 0) continue;
                if (collapsed_.contains(index.data(ComponentTreeModel::PathTextRole).toString()))
                    tree_->setExpanded(index, false);
                fold(index);
            }
        };
        fold({});
    }
    quiet_ = false;
}

void ComponentTreeView::setProblems(const Diagnostics& problems) {
    model_->setProblems(problems);
}

void ComponentTreeView::setSelection(ComponentSelection* selection) {
    if (selection_) disconnect(selection_, nullptr, this, nullptr);
    selection_ = selection;
    if (selection_) connect(selection_, &ComponentSelection::changed, this, &ComponentTreeView::readSelection);
    readSelection();
}

QModelIndex ComponentTreeView::viewIndex(const ComponentPath& path) const {
    return filter_->mapFromSource(model_->index(path));
}

/// From the common selection to the rows.
void ComponentTreeView::readSelection() {
    if (!selection_ || quiet_ || !model_->hardware()) return;
    quiet_ = true;
    QItemSelection rows;
    QModelIndex last;
    for (const ComponentPath& path : selection_->paths()) {
        const QModelIndex index = viewIndex(path);
        if (!index.isValid()) continue;
        rows.select(index, index);
        last = index;
    }
    tree_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    if (last.isValid() && last != tree_->currentIndex()) {
        tree_->selectionModel()->setCurrentIndex(last, QItemSelectionModel::NoUpdate);
        tree_->scrollTo(last);
    }
    quiet_ = false;
}

/// From the rows to the common selection; what the filter hides stays selected there only if nothing is chosen here.
void ComponentTreeView::writeSelection() {
    if (!selection_ || quiet_) return;
    quiet_ = true;
    selection_->select(selectedPaths());
    quiet_ = false;
}

ComponentPaths ComponentTreeView::selectedPaths() const {
    ComponentPaths paths;
    const ComponentPath last = current();
    bool lastToo = false;
    for (const QModelIndex& index : tree_->selectionModel()->selectedRows()) {
        ComponentPath path = model_->path(filter_->mapToSource(index));
        if (path == last)
            lastToo = true;
        else
            paths.push_back(std::move(path));
    }
    std::sort(paths.begin(), paths.end());
    if (lastToo) paths.push_back(last);
    return paths;
}

void ComponentTreeView::setCurrent(const ComponentPath& path) {
    if (selection_ && selection_->paths().size() > 1 && selection_->current() == path) return;
    quiet_ = true;
    tree_->setCurrentIndex(viewIndex(path));
    quiet_ = false;
}

ComponentPath ComponentTreeView::current() const {
    return model_->path(filter_->mapToSource(tree_->currentIndex()));
}

void ComponentTreeView::editName(const ComponentPath& path) {
    const QModelIndex index = viewIndex(path);
    if (!index.isValid()) return;
    tree_->setFocus();
    tree_->setCurrentIndex(index);
    tree_->edit(index);
}

}  // namespace orrery::ui
