#pragma once

// The operators of a chain in order, with a band around each group that runs together and what that saves.

#include "mapping/fusion/fuse.h"

#include <QTreeWidget>

namespace orrery::ui {

class FusedList : public QTreeWidget {
    Q_OBJECT
public:
    explicit FusedList(QWidget* parent = nullptr);
    void setResult(const OperatorChain& chain, const FusionResult& result);
    void clearResult();

signals:
    void operatorChosen(int source);  ///< operator of the graph

protected:
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace orrery::ui
