#pragma once

#include "app/window/hardware_layout.h"
#include "methods/method.h"

#include <QWidget>

namespace orrery::app {

/// A design as nested boxes with their key numbers. A click or the arrow keys select; nothing is edited here.
class HardwarePicture : public QWidget {
    Q_OBJECT
public:
    explicit HardwarePicture(QWidget* parent = nullptr);
    void setHardware(HardwarePtr hardware);
    void setCurrent(const ComponentPath& path);  ///< emits nothing
    const ComponentPath& current() const { return current_; }
    const std::vector<PlacedComponent>& placed() const { return placed_; }
    QSize sizeHint() const override { return {420, 260}; }

signals:
    void componentSelected(const orrery::ComponentPath& path);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void arrange();
    const PlacedComponent* at(const QPointF& position) const;
    void choose(const ComponentPath& path);
    void paintBox(QPainter& painter, const PlacedComponent& item) const;

    HardwarePtr hardware_;
    std::vector<PlacedComponent> placed_;
    ComponentPath current_;
    ComponentPath hovered_;
    bool hovering_ = false;
};

}  // namespace orrery::app
