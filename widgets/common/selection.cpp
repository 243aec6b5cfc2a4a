#include "widgets/common/snapshot.h"

namespace orrery::ui {

void Selection::select(const QSet<int>& operators) {
    if (operators == operators_) return;
    operators_ = operators;
    emit changed();
}

void Selection::toggle(int op) {
    QSet<int> next = operators_;
    if (!next.remove(op)) next.insert(op);
    select(next);
}

void Selection::hover(int op) {
    if (op == hovered_) return;
    hovered_ = op;
    emit hoverChanged(op);
}

}  // namespace orrery::ui
