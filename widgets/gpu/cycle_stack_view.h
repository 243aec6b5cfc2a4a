#pragma once

// Cycles by cause, a bar per design, above the bounds of the roofline for the same work: how far it is, and why.

#include "simulation/gpu/recorder.h"

#include <QWidget>

#include <vector>

class QPainter;

namespace orrery::ui {

struct CycleStackBar {
    QString name;
    double cycles = 0;                                   ///< simulated, without launch
    std::array<double, gpusim::warpStateCount> stack{};  ///< cycles per instruction of a scheduler, by cause
    double compute = 0, dram = 0, l2 = 0;                ///< bounds of the roofline in the same cycles; 0: not known
    double memory() const { return dram > l2 ? dram : l2; }
};

class CycleStackView : public QWidget {
    Q_OBJECT
public:
    explicit CycleStackView(QWidget* parent = nullptr);
    void setBars(std::vector<CycleStackBar> bars);
    void clear(const QString& why);
    const std::vector<CycleStackBar>& bars() const { return bars_; }
    QString textAt(const QPointF& place) const;
    /// Which memory binds, and what the other allows: `memory, L2: 1,200 cycles (DRAM: 900)`.
    static QString memoryText(const CycleStackBar& bar);
    /// Of a part of a bar; empty where it has none.
    QRectF partRect(std::size_t bar, gpusim::WarpState state) const;
    QString exportTo(const QString& file) const;
    QSize sizeHint() const override { return {560, 300}; }
    QSize minimumSizeHint() const override { return {260, 180}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    double longest() const;
    double barTop(std::size_t bar) const;
    void paint(QPainter& painter, const QRect& all) const;
    void paintBound(QPainter& painter, double top, double cycles, const QString& text, const QColor& fill) const;

    std::vector<CycleStackBar> bars_;
    QString empty_;
};

}  // namespace orrery::ui
