#pragma once

// Coverage tables of methods: methodologies down, platforms (or classes, or levels) across. Each cell is a small scale
// of errors, from 1 % at its left to 300 % at its right, with one dot per method that rows judge there; an empty cell
// says what is missing.

#include <QAbstractTableModel>
#include <QList>
#include <QTableView>

#include <vector>

namespace orrery::ui {

struct SurveyPicture {
    struct Mark {
        int entry = -1;  ///< that clicks name
        double error = 0;
        bool simulated = false;  ///< hollow: its truth is
        QString tip;
    };
    struct Cell {
        std::vector<Mark> marks;
        QString text;     ///< in words, for readers of the screen
        QString missing;  ///< where there is no mark
    };
    struct Row {
        QString title;
        int colour = 0;  ///< index for Theme::methodColour
        std::vector<Cell> cells;
    };
    QStringList columns, columnTips;
    std::vector<Row> rows;
};

class SurveyModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    void set(SurveyPicture picture);
    const SurveyPicture& picture() const { return picture_; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    const SurveyPicture::Cell& cell(const QModelIndex& index) const;

private:
    SurveyPicture picture_;
};

class SurveyMatrix : public QTableView {
    Q_OBJECT
public:
    explicit SurveyMatrix(QWidget* parent = nullptr);
    void setPicture(SurveyPicture picture);
    void setEmptyText(const QString& text);  ///< while there is no picture
    SurveyModel* surveyModel() const { return model_; }
    /// Of the viewport; where the dot of a mark stands.
    QPointF placeOf(int row, int column, std::size_t mark) const;
    /// The marks within reach of a pointer at a place of the viewport, nearest first: dots of several may be one.
    QList<int> marksAt(const QModelIndex& index, const QPointF& at) const;
    /// What is written in a cell without marks: all of what is missing where it has room in lines, else its beginning.
    QString writtenIn(int row, int column) const;

signals:
    /// The entries of all marks under the pointer, nearest first; empty: the cell beside its dots.
    void chosen(int row, int column, const QList<int>& entries);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    void fit();

    SurveyModel* model_;
    QString emptyText_;
};

}  // namespace orrery::ui
