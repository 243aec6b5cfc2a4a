#pragma once

// Parallel coordinates: an upright axis for each knob and each objective, a line for each point, coloured by one of
// them. Dragging along an axis keeps the lines that pass there; a click chooses a line, of the front first. The lines
// are drawn beside the window's thread, so that a hundred thousand of them hold nobody up.

#include "widgets/common/picture_thread.h"
#include "widgets/exploration/search_raster.h"

#include <QImage>
#include <QWidget>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace orrery::ui {

struct ParallelAxis {
    QString name;
    bool objective = false;
    std::vector<float> at;  ///< of each point, 0 (bottom) to 1 (top); no number: it is not drawn
    std::vector<std::pair<float, QString>> ticks;
};
struct ParallelData {
    std::vector<ParallelAxis> axes;
    std::vector<PointPlace> places;
    std::size_t coloured = 0;  ///< the axis that colours the lines, unless another one is chosen
};

class ParallelPlot : public QWidget {
    Q_OBJECT
public:
    explicit ParallelPlot(QWidget* parent = nullptr);
    ~ParallelPlot() override;
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    /// Null: nothing. Brushes stay while the axes do.
    void setData(std::shared_ptr<const ParallelData> data);
    const std::shared_ptr<const ParallelData>& data() const { return data_; }
    void setCurrent(int index);  ///< −1: none
    int current() const { return current_; }

    using Span = std::pair<float, float>;  ///< along an axis, 0 to 1
    const std::vector<std::optional<Span>>& brushes() const { return brushes_; }
    void setBrush(std::size_t axis, std::optional<Span> span);
    bool isKept(std::size_t point) const { return kept_[point] != 0; }
    std::size_t keptPoints() const { return keptCount_; }
    std::size_t coloured() const;
    void setColoured(std::size_t axis);
    double xOf(std::size_t axis) const;
    double yOf(float at) const;
    int indexAt(const QPointF& place) const;  ///< the nearest line within a few pixels, of the front first; −1: none
    bool isPainted() const { return picture_ && !waiting_; }  ///< the lines of the newest data and brushes
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {640, 360}; }
    QSize minimumSizeHint() const override { return {240, 180}; }

signals:
    void chosen(int index);
    void brushed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    const QRectF& area() const { return area_; }  ///< inside the axes
    void layOut();
    int axisAt(const QPointF& place) const;
    float spotAt(double y) const;
    void sieve();     ///< which points the brushes keep
    void askAgain();  ///< for the picture of the lines
    /// `front`: its lines too, which are else a part of the picture.
    void paint(QPainter& painter, const QImage& lines, bool front) const;
    QPolygonF lineOf(std::size_t point) const;
    std::vector<QPolygonF> frontLines() const;  ///< of those that pass
    void paintAxes(QPainter& painter) const;

    std::shared_ptr<const ParallelData> data_;
    std::vector<std::optional<Span>> brushes_;
    std::optional<std::size_t> coloured_;
    std::vector<std::uint8_t> kept_;
    std::size_t keptCount_ = 0;
    QRectF area_;
    std::vector<std::size_t> front_;
    QString emptySentence_;
    std::optional<QImage> picture_;
    bool waiting_ = false;
    int current_ = -1, dragging_ = -1;
    float dragFrom_ = 0;
    PictureThread painter_;  ///< last
};

}  // namespace orrery::ui
