#pragma once

#include "widgets/common/result_view.h"

#include <QColor>
#include <QRectF>

#include <vector>

namespace orrery::ui {

class HoverCard;

/// Weights, KV cache and activations against the device's capacity: what is free, or by how much it does not fit.
class MemoryView : public ResultView {
    Q_OBJECT
public:
    explicit MemoryView(Selection* selection, QWidget* parent = nullptr);

    QString csv() const override;
    QString verdict() const;  ///< `Fits: 48.3 GB free`, `Does not fit: 24.7 GB over the 80 GB of H100 SXM`

    struct Part {
        QString label;
        QColor colour;
        double bytes = 0;
        QRectF box;
    };
    std::vector<Part> parts() const;  ///< pieces of the bar, in this widget's pixels
    double capacityEdge() const;      ///< x of the capacity line; 0 if the capacity is unknown
    const HoverCard* card() const { return card_; }

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void paintEvent(QPaintEvent* event) override;
    void paintPicture(QPainter& painter, const QRect& target) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    EmptyState nothingYet() const;
    const MemoryUse* use() const;
    QString method() const;
    QRectF barBox() const;
    void paintAll(QPainter& painter);

    HoverCard* card_ = nullptr;
};

}  // namespace orrery::ui
