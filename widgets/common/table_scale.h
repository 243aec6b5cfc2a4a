#pragma once

// Columns and rows of a table that grow with the type where a layout makes it larger, and shrink back with it. What a
// person made wider stays wider in proportion.

#include "widgets/common/theme.h"

#include <QHeaderView>
#include <QTableView>

#include <utility>

namespace orrery::ui {

/// `pixels` as meant at the usual size of type.
inline int scaled(int pixels) {
    return static_cast<int>(pixels * Theme::instance().scale());
}

inline void growWithType(QTableView* table) {
    QObject::connect(&Theme::instance(), &Theme::changed, table, [table, was = Theme::instance().scale()]() mutable {
        const double now = Theme::instance().scale(), by = now / std::exchange(was, now);
        if (by == 1) return;
        QHeaderView *columns = table->horizontalHeader(), *rows = table->verticalHeader();
        for (int column = 0; column < columns->count(); ++column)
            columns->resizeSection(column, qRound(columns->sectionSize(column) * by));
        rows->setDefaultSectionSize(qRound(rows->defaultSectionSize() * by));
    });
}

}  // namespace orrery::ui
