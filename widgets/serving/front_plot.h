#pragma once

// Configurations by two of their figures, and the front of those that no other beats in both. A click chooses one.

#include "widgets/evidence/plot_frame.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct FrontPlotData {
    QString title, xName, yName;
    TickText xTicks = TickText::Number, yTicks = TickText::Number;
    bool xMore = false, yMore = true;  ///< whether more of it is better
    std::vector<double> x, y;          ///< per configuration; not above 0 or no number: it is not drawn
    std::vector<QString> names;        ///< for the tooltip
};

class FrontPlot : public QWidget {
    Q_OBJECT
public:
    FrontPlot(const QString& objectName, const QString& name, const QString& tip, QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setData(FrontPlotData data);
    const FrontPlotData& data() const { return data_; }
    const std::vector<bool>& front() const { return front_; }  ///< per configuration
    void setCurrent(int index);                                ///< −1: none
    int current() const { return current_; }
    QPointF placeOf(int index) const;  ///< of a configuration that is drawn
    int indexAt(const QPointF& place) const;
    QSize sizeHint() const override { return {420, 320}; }
    QSize minimumSizeHint() const override { return {220, 160}; }

signals:
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    bool isDrawn(std::size_t i) const;
    void axes(PlotAxis& x, PlotAxis& y) const;

    FrontPlotData data_;
    std::vector<bool> front_;
    QString emptySentence_;
    int current_ = -1;
};

}  // namespace orrery::ui
