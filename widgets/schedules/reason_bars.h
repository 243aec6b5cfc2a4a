#pragma once

// What each feature adds to what a model says, as bars to both sides of nothing; those that count most first.

#include "widgets/plots/figure_view.h"

#include <vector>

namespace orrery::ui {

struct Reason {
    QString name;
    QString value;    ///< of the feature; may be empty
    double adds = 0;  ///< share: 0.1 is 10 percentage points
};

class ReasonBars : public FigureView {
    Q_OBJECT
public:
    explicit ReasonBars(QWidget* parent = nullptr);
    /// In any order. `signs`: false where they are sizes, which have none.
    void setReasons(const QString& title, std::vector<Reason> reasons, bool signs);
    void clear() { setReasons({}, {}, true); }
    const std::vector<Reason>& reasons() const { return reasons_; }  ///< the largest first
    QRectF rowOf(int reason) const;
    int reasonAt(const QPointF& place) const;  ///< −1: none that is drawn

    bool isEmpty() const override { return reasons_.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override { return {420, 320}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

protected:
    void paintFigure(QPainter& painter) const override;

private:
    double rowHeight() const;
    double top() const;
    int drawn() const;  ///< how many find room

    QString title_;
    std::vector<Reason> reasons_;
    bool signs_ = true;
};

}  // namespace orrery::ui
