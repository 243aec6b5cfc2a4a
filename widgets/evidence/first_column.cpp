#include "widgets/evidence/first_column.h"

#include <QEvent>
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>

#include <algorithm>

namespace orrery::ui {

namespace {

/// The same rows, their first column alone, over the left edge of the table.
class FirstColumn : public QTableView {
public:
    explicit FirstColumn(QTableView* table) : QTableView(table), table_(table) {
        setObjectName(table->objectName() + QStringLiteral(".first"));
        setAccessibleName(table->accessibleName());
        setToolTip(table->toolTip());
        setModel(table->model());
        setSelectionModel(table->selectionModel());
        setSelectionBehavior(table->selectionBehavior());
        setSelectionMode(table->selectionMode());
        setEditTriggers(NoEditTriggers);
        setFrameShape(NoFrame);
        setShowGrid(false);
        setWordWrap(false);
        setFocusPolicy(Qt::NoFocus);
        setVerticalScrollMode(table->verticalScrollMode());
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        verticalHeader()->hide();
        horizontalHeader()->setHighlightSections(false);
        horizontalHeader()->setSectionsClickable(true);
        horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);  // as wide as the table's own
        connect(horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
            const QHeaderView* head = table_->horizontalHeader();
            const bool up = head->sortIndicatorSection() != column || head->sortIndicatorOrder() != Qt::AscendingOrder;
            table_->sortByColumn(column, up ? Qt::AscendingOrder : Qt::DescendingOrder);
        });
        QScrollBar *mine = verticalScrollBar(), *theirs = table->verticalScrollBar();
        connect(theirs, &QScrollBar::valueChanged, mine, &QScrollBar::setValue);
        connect(mine, &QScrollBar::valueChanged, theirs, &QScrollBar::setValue);
        connect(table->horizontalScrollBar(), &QScrollBar::valueChanged, this, &FirstColumn::place);
        connect(table->horizontalHeader(), &QHeaderView::sectionResized, this, &FirstColumn::place);
        connect(table->horizontalHeader(), &QHeaderView::geometriesChanged, this, &FirstColumn::place);
        connect(table->model(), &QAbstractItemModel::modelReset, this, &FirstColumn::place, Qt::QueuedConnection);
        table->installEventFilter(this);
        place();
    }

protected:
    bool eventFilter(QObject* /*watched*/, QEvent* event) override {
        if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) place();
        return false;
    }

private:
    /// Only where the table's own first column has left: elsewhere it would cover what it repeats.
    void place() {
        const bool away = table_->horizontalScrollBar()->value() > 0 && model()->rowCount() > 0;
        setVisible(away);
        if (!away) return;
        for (int column = 1; column < model()->columnCount(); ++column) setColumnHidden(column, true);
        const int wide = std::min(table_->columnWidth(0), table_->viewport()->width() / 2);
        setColumnWidth(0, wide);
        horizontalHeader()->setFixedHeight(table_->horizontalHeader()->height());
        verticalHeader()->setDefaultSectionSize(table_->verticalHeader()->defaultSectionSize());
        const QRect below = table_->viewport()->geometry();
        setGeometry(below.left(), below.top() - horizontalHeader()->height(), wide,
                    below.height() + horizontalHeader()->height());
        verticalScrollBar()->setValue(table_->verticalScrollBar()->value());
        raise();
    }

    QTableView* table_;
};

}  // namespace

void keepFirstColumn(QTableView* table) {
    new FirstColumn(table);
}

}  // namespace orrery::ui
