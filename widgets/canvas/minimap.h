#pragma once

#include <QPixmap>
#include <QWidget>

namespace orrery::ui {

class CanvasView;

/// The whole drawing, small, with the part that the canvas shows as a rectangle: click or drag to look elsewhere,
/// arrows with the keyboard.
class Minimap : public QWidget {
    Q_OBJECT
public:
    explicit Minimap(CanvasView* view, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {180, 120}; }
    QSize minimumSizeHint() const override { return {96, 64}; }
    QPointF toScene(const QPointF& at) const;
    QRectF viewport() const;  ///< of the canvas, in this widget's coordinates

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void forget();  ///< the cached picture
    double zoom() const;
    QPointF origin() const;

    CanvasView* view_;
    QPixmap picture_;
    QPointF grabbed_;  ///< from the viewport's middle to where it was pressed
};

}  // namespace orrery::ui
