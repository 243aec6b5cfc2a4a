#pragma once

// How busy a multiprocessor's units and banks are over the run, as heat, and what L1, L2 and DRAM carry, as areas.
// Shares are of the most that each could do.

#include "widgets/gpu/warp_timeline.h"

namespace orrery::ui {

struct ActivityRow {
    QString name, meaning;
    std::vector<double> share;  ///< by bin, 0…1
    double mean = 0;
    bool area = false;         ///< an area over time in place of heat
    std::vector<double> hits;  ///< of an area: the part of it that hit; empty: not told
};

/// Rows of units that were used, then banks, then memory.
std::vector<ActivityRow> activityRows(const gpusim::Recording& recording);

class ActivityHeat : public QWidget {
    Q_OBJECT
public:
    explicit ActivityHeat(const QString& objectName, QWidget* parent = nullptr);
    void setRecording(RecordingPtr recording, const QString& title);
    void clear(const QString& why);
    const std::vector<ActivityRow>& rows() const { return rows_; }
    QString textAt(const QPointF& place) const;
    QRectF rectOf(std::size_t row) const;
    QString exportTo(const QString& file) const;
    QSize sizeHint() const override { return {560, 420}; }
    QSize minimumSizeHint() const override { return {260, 240}; }

signals:
    void cycleChosen(qint64 cycle);  ///< clicked

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF area() const;
    std::size_t binAt(double x) const;
    void paint(QPainter& painter, const QRect& all) const;
    void paintLegend(QPainter& painter, const QRect& all) const;
    void paintArea(QPainter& painter, const QRectF& box, const ActivityRow& row) const;

    RecordingPtr recording_;
    QString title_, empty_;
    std::vector<ActivityRow> rows_;
};

}  // namespace orrery::ui
