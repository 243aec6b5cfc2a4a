#pragma once

// Methods × scenarios, grouped by methodology: a cell holds the signed median error, its interval and how many rows
// they are of. Grey does not apply and says why, blank has no truth.

#include <QAbstractTableModel>
#include <QTableView>

#include <vector>

namespace orrery::ui {

struct MatrixPicture {
    struct Cell {
        enum class State { NoTruth, NotApplicable, Judged } state = State::NoTruth;
        double median = 0, low = 0, high = 0;  ///< signed relative errors
        qint64 rows = 0;
        bool least = false;  ///< errs least of its equals in the column: bold
        bool common = true;  ///< false: of other rows than its neighbours in the column
        QString tip;
    };
    struct Row {
        int entry = -1;  ///< that clicks name; below 0: the head of a group, no cells
        QString title, tip;
        int colour = 0;  ///< index for Theme::methodColour
        std::vector<Cell> cells;
    };
    QStringList columns, columnTips;
    std::vector<Row> rows;
};

class MethodMatrixModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    void set(MatrixPicture picture);
    const MatrixPicture& picture() const { return picture_; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;  ///< the title, then the picture's
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Null for titles and group heads.
    const MatrixPicture::Cell* cell(const QModelIndex& index) const;
    void setChosen(int entry, int column);

private:
    MatrixPicture picture_;
    int chosenEntry_ = -1, chosenColumn_ = -1;
};

class MethodMatrixView : public QTableView {
    Q_OBJECT
public:
    explicit MethodMatrixView(QWidget* parent = nullptr);
    void setPicture(MatrixPicture picture);
    MethodMatrixModel* matrixModel() const { return model_; }
    void setChosen(int entry, int column);  ///< ringed; -1: none

signals:
    void cellChosen(int entry, int column);  ///< of the picture; also for grey and blank ones
    void rowChosen(int entry);               ///< its title was clicked

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    MethodMatrixModel* model_;
};

}  // namespace orrery::ui
