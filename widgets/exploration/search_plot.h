#pragma once

// The points of a search by two of their numbers: the front and its intervals, the points that may belong to it, where
// the drawing stands. A click chooses one. Draws 100,000 points once and keeps the picture.

#include "widgets/evidence/plot_frame.h"

#include <QImage>
#include <QPixmap>
#include <QWidget>

#include <cstdint>
#include <optional>
#include <vector>

class QPainter;

namespace orrery::ui {

enum class PointPlace : std::uint8_t { Beaten, Possible, Front, Broken };  ///< Broken: a constraint is not kept

/// The numbers of points along one axis; not above 0 or no number: the point is not drawn.
struct SearchAxis {
    QString name;
    TickText ticks = TickText::Number;
    std::vector<double> value, low, high;
    std::optional<double> drawn;  ///< of the question as it stands
    bool unsure = false;          ///< no interval is known
};

struct SearchPlotData {
    SearchAxis x, y;
    std::vector<PointPlace> places;
};

class SearchPlot : public QWidget {
    Q_OBJECT
public:
    explicit SearchPlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) { emptySentence_ = sentence; }
    void setData(SearchPlotData data);
    const SearchPlotData& data() const { return data_; }
    void setCurrent(int index);  ///< −1: none
    int current() const { return current_; }
    QPointF placeOf(int index) const;
    int indexAt(const QPointF& place) const;  ///< nearest within a few pixels, of the front first; −1: none
    /// PNG, SVG, PDF by the ending. What went wrong; empty if nothing.
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {520, 360}; }
    QSize minimumSizeHint() const override { return {240, 180}; }

signals:
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    bool isDrawn(std::size_t i) const;
    void layOut();
    void paint(QPainter& painter, bool keep);
    void paintCloud(QPainter& painter) const;
    QImage cloudOfMany() const;
    QColor dotColour(PointPlace place) const;
    void paintFront(QPainter& painter) const;

    SearchPlotData data_;
    std::vector<int> front_;  ///< by x
    QString emptySentence_;
    PlotAxis x_, y_;
    QPixmap cloud_;  ///< of what is not the front; null: to be painted anew
    int current_ = -1;
};

}  // namespace orrery::ui
