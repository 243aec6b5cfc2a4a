#pragma once

// What each knob does alone, as bars from its least to its greatest value, the widest first (a tornado).

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct EffectBar {
    QString name, lowText, highText;  ///< `hbm3.bandwidth`; the knob's values at the ends: `1.68 TB/s`, `6.7 TB/s`
    double low = 0, high = 0;         ///< the objective there, as a ratio to the drawing's
    QString tip;
};

class EffectBars : public QWidget {
    Q_OBJECT
public:
    explicit EffectBars(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    /// `title`: what the bars are of: `Time`.
    void setBars(const QString& title, std::vector<EffectBar> bars);
    const std::vector<EffectBar>& bars() const { return bars_; }
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {420, 260}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paint(QPainter& painter) const;
    QString title_, emptySentence_;
    std::vector<EffectBar> bars_;
};

}  // namespace orrery::ui
