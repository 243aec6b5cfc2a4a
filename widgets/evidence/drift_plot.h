#pragma once

// How stale families of kernels became, and what repairs them: one line per family, errors on a logarithmic axis.

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct PlotAxis;

struct DriftMarks {
    QString label, tip;
    double untouched = 0, factor = 0, repaired = 0;  ///< shares: 0.1 is 10 %
    bool moved = false;
};

class DriftPlot : public QWidget {
    Q_OBJECT
public:
    explicit DriftPlot(QWidget* parent = nullptr);
    void setRows(std::vector<DriftMarks> rows);
    void setCurrent(int row);  ///< -1: none
    int rowCount() const { return static_cast<int>(rows_.size()); }
    int rowAt(const QPointF& place) const;  ///< -1: none
    QRect lineOf(int row) const;            ///< in the widget
    /// As it stands here, of any size: for files.
    void paintPicture(QPainter& painter, const QRect& area) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void chosen(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    int lineHeight() const;
    int top() const;
    void paintLegend(QPainter& painter, const QRect& area) const;
    void paintLine(QPainter& painter, const DriftMarks& row, const PlotAxis& axis, const QRect& line, int labels) const;

    std::vector<DriftMarks> rows_;
    int current_ = -1;
};

}  // namespace orrery::ui
