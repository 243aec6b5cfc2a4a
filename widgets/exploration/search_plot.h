#pragma once

// The points of a search by two of their numbers: the front and its intervals, the points that may belong to it, where
// the drawing stands. A click chooses one. Dots are drawn beside the window's thread and kept as a picture, so that a
// hundred thousand of them hold nobody up.

#include "widgets/common/picture_thread.h"
#include "widgets/exploration/search_raster.h"

#include <QPixmap>
#include <QWidget>

#include <functional>
#include <memory>
#include <utility>

namespace orrery::ui {

class SearchPlot : public QWidget {
    Q_OBJECT
public:
    explicit SearchPlot(QWidget* parent = nullptr);
    void setEmptySentence(const QString& sentence) {
        if (std::exchange(emptySentence_, sentence) != sentence) update();
    }
    const QString& emptySentence() const { return emptySentence_; }
    /// What is said of a point under the cursor: by its owner, who knows the knobs.
    void setTips(std::function<QString(int)> tips) { tips_ = std::move(tips); }
    void setData(std::shared_ptr<const SearchPlotData> data);  ///< from readied(); null: nothing
    const SearchPlotData& data() const { return *data_; }
    void setCurrent(int index);  ///< −1: none
    /// Whether the question that is marked is still the one that is drawn; else it is marked as the one that was
    /// searched.
    void setDrawnAsSearched(bool same);
    int current() const { return current_; }
    QPointF placeOf(int index) const;
    int indexAt(const QPointF& place) const;  ///< nearest within a few pixels, of the front first; −1: none
    bool isPainted() const { return !painter_.isWaiting(); }  ///< the dots of the newest data
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
    bool isDrawn(std::size_t i) const { return data_->isDrawn(i); }
    void layOut();
    SearchFrame frame() const;
    void paint(QPainter& painter, bool keep);
    void paintMarks(QPainter& painter) const;

    std::shared_ptr<const SearchPlotData> data_;
    QString emptySentence_;
    std::function<QString(int)> tips_;
    PlotAxis x_, y_;
    QPixmap dots_;  ///< of the newest data, or of what was shown before while that is drawn
    int current_ = -1;
    bool drawnAsSearched_ = true;
    PictureThread painter_;  ///< last
};

}  // namespace orrery::ui
