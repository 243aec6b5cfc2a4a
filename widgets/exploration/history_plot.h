#pragma once

// How a search came to what it found: of each curve, how near it was to where it ended, over the points asked for.

#include "widgets/common/plot_axis.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace orrery::ui {

struct HistoryCurve {
    QString name;               ///< `Time`, `What the front covers`
    std::vector<double> share;  ///< of each sample, 0 to 1; no number: nothing yet
    QString last;               ///< where it ended: `4.75 ms`
};

class HistoryPlot : public QWidget {
    Q_OBJECT
public:
    explicit HistoryPlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setCurves(std::vector<std::uint64_t> evaluations, std::vector<HistoryCurve> curves);
    const std::vector<HistoryCurve>& curves() const { return curves_; }
    const std::vector<std::uint64_t>& evaluations() const { return evaluations_; }
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {520, 300}; }
    QSize minimumSizeHint() const override { return {240, 160}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paint(QPainter& painter) const;

    std::vector<std::uint64_t> evaluations_;
    std::vector<HistoryCurve> curves_;
    QString emptySentence_;
};

}  // namespace orrery::ui
