#pragma once

// Configurations by two of their figures, and the front of the best. A click chooses one.

#include "widgets/evidence/plot_frame.h"

#include <QWidget>

#include <optional>
#include <vector>

namespace orrery::ui {

struct FrontPlotData {
    QString title, xName, yName;
    TickText xTicks = TickText::Number, yTicks = TickText::Number;
    bool xMore = false, yMore = true;  ///< whether more of it is better
    std::vector<double> x, y;          ///< per configuration; not above 0 or no number: it is not drawn
    std::vector<QString> names;        ///< for the tooltip
    /// Which of them are the best, where that is judged by more than the two figures. None: those that no other one
    /// beats in both.
    std::optional<std::vector<bool>> best;
};

class FrontPlot : public QWidget {
    Q_OBJECT
public:
    FrontPlot(const QString& objectName, const QString& name, const QString& tip, QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setData(FrontPlotData data);
    const FrontPlotData& data() const { return data_; }
    const std::vector<bool>& front() const { return front_; }  ///< the filled ones: the best, per configuration
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
    std::vector<bool> line_;  ///< of the best, those that no other one of them beats in both figures
    QString emptySentence_;
    int current_ = -1;
};

}  // namespace orrery::ui
