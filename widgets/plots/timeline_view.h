#pragma once

#include "widgets/common/result_view.h"
#include "widgets/plots/timeline_model.h"

#include <QImage>

#include <optional>

class QLineEdit;
class QToolButton;

namespace orrery::ui {

class HoverCard;

/// Spans over time, a row per engine. The keys are Perfetto's: W S zoom, A D pan, F fits the selection, `.` and `,`
/// step, R makes the selection an area (or, without one, lets the next drag mark an area), Esc clears; Ctrl+wheel zooms
/// at the cursor, the wheel scrolls, drag pans, Shift+drag or a drag in the ruler marks an area, Ctrl+F searches.
class TimelineView : public ResultView {
    Q_OBJECT
public:
    struct Area {
        double from = 0, to = 0;  ///< picoseconds
        int firstRow = 0, lastRow = 0;
    };

    explicit TimelineView(Selection* selection, QWidget* parent = nullptr);

    QString csv() const override;
    void fit();  ///< the selected operators' spans, or everything
    void fitAll();
    void openSearch();

    /// For tests and linked views: what is drawn, and where.
    const TimelineModel& model() const { return model_; }
    const TimeMap& map() const { return map_; }
    QRect rowRect(int row) const;  ///< in this widget, without the name
    QRect rulerRect() const;
    QRect overviewRect() const;
    std::optional<Area> area() const { return area_; }
    SpanStatistics areaStatistics() const;
    std::int64_t currentSpan() const { return current_; }
    const HoverCard* card() const { return card_; }

signals:
    void areaChanged();

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintPicture(QPainter& painter, const QRect& target) override;

private:
    enum class Drag { None, Pressed, Pan, Area, Overview };

    EmptyState nothingYet() const;
    void layOut();
    QRect rowsRect() const;
    QRect footerRect() const;
    int rowAt(int y) const;
    std::int64_t spanAt(const QPoint& pixel) const;
    void setMap(const TimeMap& map);
    void zoomAt(double factor, double pixel);
    void panBy(double share);
    void scrollRows(int pixels);
    void step(int by);
    void makeCurrent(std::int64_t span, bool reveal);
    void markArea(const QPoint& a, const QPoint& b);
    void setArea(std::optional<Area> area);
    void overviewTo(int x);
    void hoverAt(const QPoint& pixel);
    void search(bool next);

    void paintAll(QPainter& painter, bool vector);
    void paintRows(QPainter& painter);
    void paintRow(QPainter& painter, int row, const QRect& rect);
    void paintRuler(QPainter& painter);
    void paintMini(QPainter& painter, const QRectF& strip);
    void paintOverview(QPainter& painter, bool vector);
    void paintArea(QPainter& painter);
    void paintFooter(QPainter& painter);
    QColor colourOf(std::int32_t op) const;
    static QString workText(std::int32_t work);  ///< of a SpanWork

    SnapshotPtr shown_;  // keeps the timeline alive that the model points into
    TimelineModel model_;
    TimeMap map_;
    bool whole_ = true;  // the person has not zoomed
    int gutter_ = 0, rowHeight_ = 24, scroll_ = 0;
    std::optional<Area> area_;
    bool areaNext_ = false;
    std::int64_t current_ = -1, hovered_ = -1;
    Drag drag_ = Drag::None;
    QPoint pressed_;
    TimeMap pressedMap_;
    int pressedScroll_ = 0;
    QPoint mouse_{-1, -1};
    QImage overview_;
    HoverCard* card_ = nullptr;
    QLineEdit* search_ = nullptr;
    QToolButton* fitButton_ = nullptr;
    QToolButton* searchButton_ = nullptr;
};

}  // namespace orrery::ui
