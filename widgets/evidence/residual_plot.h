#pragma once

// Residuals: relative error of every row against what may explain it. Ten thousands of rows are drawn as a density, so
// the picture is made once and kept.

#include "widgets/common/plot_zoom.h"

#include <QPixmap>
#include <QWidget>

#include <vector>

namespace orrery::ui {

struct ResidualRows {
    std::vector<double> x;      ///< positive
    std::vector<double> error;  ///< (predicted − measured) ÷ measured
    std::vector<bool> outside;  ///< of the learned domain; empty: none
    QString xName;
    bool seconds = false;  ///< x is a time
    bool simulated = false;
};

class ResidualPlot : public QWidget {
    Q_OBJECT
public:
    explicit ResidualPlot(QWidget* parent = nullptr);
    void setRows(ResidualRows rows);
    void setCurrent(int row);  ///< -1: none
    void setEmptySentence(const QString& sentence);  ///< stands where there are no rows
    std::size_t rowCount() const { return rows_.x.size(); }
    /// Rows whose error the axis does not reach: they stand at its end as arrows, with their count in words.
    std::size_t beyond() const;
    /// Nearest row within a few pixels, -1 for none.
    int rowAt(const QPointF& place) const;
    QSize sizeHint() const override { return {420, 260}; }
    QSize minimumSizeHint() const override;

signals:
    void chosen(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    void place();
    void draw();
    void drawMedians(QPainter& painter) const;
    QString beyondText() const;
    PlotAxis acrossAxis(const QRectF& area) const;
    PlotAxis upAxis(const QRectF& area) const;

    ResidualRows rows_;
    std::vector<QPointF> places_;
    QPixmap picture_;
    int look_ = -1;  ///< generation of the theme that the picture was drawn in
    int current_ = -1;
    QString emptySentence_;
    double height_ = 0.5;  ///< of the error axis, each way
    PlotZoom zoom_;
};

}  // namespace orrery::ui
