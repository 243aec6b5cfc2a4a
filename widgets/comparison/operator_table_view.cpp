#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/table_scale.h"
#include "widgets/common/text.h"
#include "widgets/comparison/operator_table.h"
#include "widgets/comparison/operator_table_model.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QScrollBar>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

using Model = OperatorTableModel;

class OperatorDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        if (index.column() != Model::Kind && index.column() != Model::Share)
            return QStyledItemDelegate::paint(painter, option, index);
        QStyleOptionViewItem item = option;
        initStyleOption(&item, index);
        const QString text = item.text;
        item.text.clear();
        option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, option.widget);
        const QColor colour = index.data(Model::ColourRole).value<QColor>();
        painter->save();
        painter->setFont(option.font);
        QRect box = option.rect.adjusted(6, 0, -6, 0);
        painter->setPen(Qt::NoPen);
        if (index.column() == Model::Kind) {
            painter->setRenderHint(QPainter::Antialiasing);
            painter->setBrush(colour);
            painter->drawRoundedRect(QRectF(box.left(), box.center().y() - 4, 9, 9), 2, 2);
            box.setLeft(box.left() + 15);
            painter->setPen(Theme::instance().colours().text);
            if (box.width() > 48)  // the colour alone says the kind
                painter->drawText(box, Qt::AlignVCenter,
                                  painter->fontMetrics().elidedText(text, Qt::ElideRight, box.width()));
        } else {
            const int words = painter->fontMetrics().horizontalAdvance(QStringLiteral("00.0 %")) + 6;
            const int room = std::max(0, box.width() - words);
            const double share = index.data(Model::ShareRole).toDouble();
            painter->setBrush(Theme::instance().colours().faintLine);
            painter->drawRect(QRect(box.left(), box.center().y() - 2, room, 5));
            painter->setBrush(colour);
            painter->drawRect(QRectF(box.left(), box.center().y() - 2, room * share, 5));
            painter->setPen(Theme::instance().colours().text);
            painter->drawText(box, Qt::AlignVCenter | Qt::AlignRight, text);
        }
        painter->restore();
    }
};

}  // namespace

OperatorTableView::OperatorTableView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("operators"), tr("Operators"), selection, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 6, 8, 6);
    top->setSpacing(8);
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("operators.search"));
    search_->setAccessibleName(tr("Search operators"));
    search_->setPlaceholderText(tr("Search name, type or kind"));
    search_->setToolTip(tr("Show operators that contain all these words (Ctrl+F; Esc clears)"));
    search_->setClearButtonEnabled(true);
    search_->setMaximumWidth(320);
    count_ = new Label({}, FontRole::Small, Tone::Muted, this);
    auto* copy = new IconButton(QStringLiteral("edit-copy"), tr("Copy the rows shown as CSV (Ctrl+Shift+C)"),
                                QStringLiteral("operators.copy"), this);
    top->addWidget(search_, 1);
    top->addWidget(count_);
    top->addStretch(0);
    top->addWidget(copy);
    column->addLayout(top);

    model_ = new OperatorTableModel(this);
    table_ = new QTableView(this);
    table_->setTabKeyNavigation(false);  // Tab goes on, arrows walk
    table_->setObjectName(QStringLiteral("operators.table"));
    table_->setAccessibleName(tr("Operators"));
    table_->setToolTip(tr("Select operators here and in all other views; Enter inspects, a header sorts"));
    table_->setModel(model_);
    table_->setItemDelegate(new OperatorDelegate(table_));
    table_->setFrameShape(QFrame::NoFrame);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setMouseTracking(true);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(scaled(24));
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setSectionsMovable(true);
    table_->sortByColumn(Model::Number, Qt::AscendingOrder);
    table_->setSortingEnabled(true);
    const int widths[] = {44, 180, 104, 130, 60, 80, 140, 92, 80, 100, 104, 100};
    for (int i = 0; i < Model::ColumnCount; ++i) table_->setColumnWidth(i, scaled(widths[i]));
    table_->horizontalHeader()->setStretchLastSection(true);
    growWithType(table_);
    column->addWidget(table_, 1);
    setEmptyState({tr("No operators yet"),
                   tr("Choose a workload. Each of its operators gets a row here, with time, work, bytes and limit."),
                   tr("Choose a workload")});

    connect(copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(csv()); });
    // Only here: on the canvas the same keys copy its picture.
    auto* copyKeys = new QShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+C")), this);
    copyKeys->setContext(Qt::WidgetWithChildrenShortcut);
    connect(copyKeys, &QShortcut::activated, copy, &QToolButton::click);
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, [this] {
        search_->setFocus(Qt::ShortcutFocusReason);
        search_->selectAll();
    });
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& words) {
        quiet_ = true;
        model_->setFilter(words);
        quiet_ = false;
        showSelection();
        count_->setFullText(words.isEmpty() ? tr("%n operators", nullptr, model_->total())
                                            : tr("%1 of %2").arg(model_->rowCount()).arg(model_->total()));
    });
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &OperatorTableView::takeSelection);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit operatorActivated(model_->operatorAt(index.row())); });
    connect(table_, &QTableView::entered, this, [this](const QModelIndex& index) {
        if (this->selection()) this->selection()->hover(model_->operatorAt(index.row()));
    });
    if (selection) connect(selection, &Selection::changed, this, &OperatorTableView::showSelection);
    connect(&Theme::instance(), &Theme::changed, table_->viewport(), qOverload<>(&QWidget::update));
    table_->viewport()->installEventFilter(this);
    search_->installEventFilter(this);
}

void OperatorTableView::snapshotChanged(const SnapshotPtr& before) {
    const bool same = before && snapshot() && before->scenario.workload == snapshot()->scenario.workload;
    quiet_ = true;
    model_->setSnapshot(snapshot());
    quiet_ = false;
    setEmpty(model_->total() == 0);
    if (same) return;
    count_->setFullText(tr("%n operators", nullptr, model_->total()));
    showSelection();
}

void OperatorTableView::showSelection() {
    if (quiet_ || !selection()) return;
    quiet_ = true;
    QItemSelection rows;
    QModelIndex first;
    for (const int op : selection()->operators()) {
        const int row = model_->rowOf(op);
        if (row < 0) continue;
        rows.select(model_->index(row, 0), model_->index(row, Model::ColumnCount - 1));
        if (!first.isValid() || row < first.row()) first = model_->index(row, 0);
    }
    table_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    if (first.isValid() && selection()->operators().size() == 1) {
        table_->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
        table_->scrollTo(first);
    }
    quiet_ = false;
}

void OperatorTableView::takeSelection() {
    if (quiet_ || !selection()) return;
    QSet<int> operators;
    for (const QItemSelectionRange& range : table_->selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom(); ++row) operators << model_->operatorAt(row);
    quiet_ = true;
    selection()->select(operators);
    quiet_ = false;
}

/// In a narrow dock the time and its share come first: words give way, the kind keeps its colour.
void OperatorTableView::resizeEvent(QResizeEvent* event) {
    ResultView::resizeEvent(event);
    const bool narrow = width() < 620;
    if (narrow == narrow_) return;
    narrow_ = narrow;
    table_->setColumnHidden(Model::Type, narrow);
    table_->setColumnHidden(Model::Repeat, narrow);
    table_->setColumnHidden(Model::Number, narrow);
    table_->setColumnWidth(Model::Kind, scaled(narrow ? 24 : 130));
    table_->setColumnWidth(Model::Name, scaled(narrow ? 150 : 180));
}

QString OperatorTableView::csv() const {
    return model_->csv();
}

bool OperatorTableView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_->viewport() && event->type() == QEvent::Leave && selection()) selection()->hover(-1);
    if (watched == search_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape && !search_->text().isEmpty()) {
            search_->clear();
            return true;
        }
        if (key == Qt::Key_Down || key == Qt::Key_Return) {
            table_->setFocus();
            if (!table_->currentIndex().isValid() && model_->rowCount() > 0)
                table_->setCurrentIndex(model_->index(0, 0));
            return true;
        }
    }
    return ResultView::eventFilter(watched, event);
}

}  // namespace orrery::ui
