#pragma once

// Which method has evidence where: methods in rows, platforms (or classes of workloads) in columns. A cell tells how
// many findings a card cites and, where references are loaded, how many rows judge it and with which error.

#include <QAbstractTableModel>
#include <QTableView>

#include <span>
#include <vector>

namespace orrery {
struct Method;
}

namespace orrery::ui {

struct CoverageCell {
    bool claimed = false;  ///< the card names the platform
    QStringList findings;  ///< of the card
    qint64 rows = 0;       ///< of references that judge it here
    double error = -1;     ///< mean absolute relative error on them; −1: not judged
};
struct Coverage {
    std::vector<QString> rows, columns;
    std::vector<QString> methodologies;  ///< of each row
    std::vector<CoverageCell> cells;     ///< row-major
    const CoverageCell& at(int row, int column) const {
        return cells[static_cast<std::size_t>(row) * columns.size() + static_cast<std::size_t>(column)];
    }
};
enum class CoverageBy { Platform, WorkloadClass };
/// From the cards alone.
Coverage coverageOf(std::span<const Method> methods, CoverageBy by);

class CoverageModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    void set(Coverage coverage);
    const Coverage& coverage() const { return coverage_; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    Coverage coverage_;
};

class CoverageMatrix : public QTableView {
    Q_OBJECT
public:
    explicit CoverageMatrix(QWidget* parent = nullptr);
    void setCoverage(Coverage coverage);
    CoverageModel* coverageModel() const { return model_; }

private:
    CoverageModel* model_;
};

}  // namespace orrery::ui
