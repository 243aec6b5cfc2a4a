#pragma once

class QTableView;

namespace orrery::ui {

/// The table's first column stays in sight while the others scroll below it: whose row it is. Clicks on it choose the
/// table's rows, clicks on its head sort the table.
void keepFirstColumn(QTableView* table);

}  // namespace orrery::ui
