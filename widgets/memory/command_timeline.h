#pragma once

// The commands of a DRAM channel over its cycles, bank under bank: rows that are open, activates, precharges, reads,
// writes, refreshes; at each bank the share of the time for which a row was open; below, the data bus with its gaps in
// the colour of the timing that held it. Ctrl and the wheel zoom, the wheel scrolls in time, a drag moves, a double
// click shows all.

#include "simulation/dram/ruled/ruled_run.h"
#include "widgets/common/plot_axis.h"
#include "widgets/plots/figure_view.h"

#include <cstdint>
#include <map>
#include <vector>

namespace orrery::ui {

struct CommandPicture {
    std::vector<QString> banks;                         ///< names
    std::vector<RuledIssued> issued;                    ///< in order
    std::vector<QString> holders;                       ///< by RuledIssued::heldBy: `nCCDL`; equal names are one colour
    std::int64_t readLag = 0, writeLag = 0, burst = 1;  ///< cycles from a column command to its data; of the data
    int buses = 1;                                      ///< banks are shared out among them evenly
    double cycleSeconds = 0;
    bool cut = false;  ///< the run went on
};

/// A stretch of a bank's time with a row open.
struct OpenSpan {
    std::int64_t from = 0, to = 0;
};
/// Of each bank; what is still open at the end is closed by `end`.
std::vector<std::vector<OpenSpan>> openSpans(const CommandPicture& picture, std::int64_t end);

class CommandTimeline : public FigureView {
    Q_OBJECT
public:
    explicit CommandTimeline(QWidget* parent = nullptr);
    void setPicture(CommandPicture picture);
    const CommandPicture& picture() const { return picture_; }

    std::int64_t end() const { return end_; }      ///< cycle after the last that is drawn
    double openShare(int bank) const;              ///< of the cycles drawn
    double busShare() const { return busShare_; }  ///< of the cycles drawn in which the data buses were busy
    QRectF laneOf(int bank) const;
    QRectF busArea() const;
    double x(double cycle) const;
    double cycleWidth() const { return cycleWidth_; }
    void fit();
    void zoomBy(double factor);

    bool isEmpty() const override { return picture_.issued.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override { return {720, 420}; }
    QSize minimumSizeHint() const override { return {320, 220}; }

protected:
    void paintFigure(QPainter& painter) const override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    QRectF lanesArea() const;
    void zoomAt(double factor, double pixel);
    void keepInside();
    int busOf(int bank) const;
    std::int64_t dataFrom(const RuledIssued& one) const;
    QColor holderColour(int holder) const;
    void paintLanes(QPainter& painter) const;
    void paintBus(QPainter& painter) const;
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    CommandPicture picture_;
    std::vector<std::vector<OpenSpan>> spans_;
    std::map<QString, int> holderNumber_;  ///< of those that held something, by how much
    std::int64_t end_ = 1;
    double busShare_ = 0;
    double from_ = 0, cycleWidth_ = 1;
    bool whole_ = true, held_ = false;
    double pressed_ = 0, pressedFrom_ = 0;
};

/// `ACT`, `RD`, … as data sheets write them.
QString commandName(RuledCommand command);

}  // namespace orrery::ui
