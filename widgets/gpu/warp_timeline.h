#pragma once

// The warps of one multiprocessor over cycles, by scheduler: what each does in every cycle. The wheel zooms at the
// pointer, a drag moves, a click sets the cursor, a double click shows everything; Left and Right go from issue to
// issue; Ctrl and a click show one instruction alone, Esc all again. Close up, every issue names its instruction; from
// afar a pixel has the state that holds longest in it.

#include "simulation/gpu/recorder.h"

#include <QWidget>

#include <memory>

class QPainter;

namespace orrery::ui {

using RecordingPtr = std::shared_ptr<const gpusim::Recording>;

class WarpTimeline : public QWidget {
    Q_OBJECT
public:
    explicit WarpTimeline(const QString& objectName, QWidget* parent = nullptr);
    /// `title`: what it is of, above. Shows the first thousands of cycles.
    void setRecording(RecordingPtr recording, const QString& title);
    void clear(const QString& why);
    const RecordingPtr& recording() const { return recording_; }

    /// The cycles that are shown.
    double from() const { return from_; }
    double length() const { return length_; }
    void setView(double from, double length);
    void showAll();
    void showBusiest();
    qint64 cursor() const { return cursor_; }
    void setCursor(qint64 cycle);
    /// To the next cycle in which a scheduler issues, or the one before.
    void step(bool backwards);
    /// Only its issues and waits keep their colour; −1: all.
    void setHighlighted(int instruction);
    int highlighted() const { return highlighted_; }

    QString textAt(const QPointF& place) const;  ///< what a warp does there
    QString cursorText() const;                  ///< what every scheduler does at the cursor
    double xOf(double cycle) const;
    QRectF rowOf(std::size_t warp) const;
    /// PNG, SVG, PDF or CSV by the ending. What went wrong; empty if nothing.
    QString exportTo(const QString& file) const;
    QSize sizeHint() const override { return {560, 420}; }
    QSize minimumSizeHint() const override { return {260, 200}; }

signals:
    void viewChanged(double from, double length);  ///< by a person
    void cursorMoved(qint64 cycle);
    void instructionChosen(int instruction);  ///< to stand alone; −1: none

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Row {
        std::size_t warp = 0;
        double top = 0;
    };
    void layRows();
    QRectF area() const;
    double cycleAt(double x) const;
    const gpusim::WarpSpan* spanAt(std::size_t warp, qint64 cycle) const;
    void paint(QPainter& painter, const QRect& all) const;
    void paintRow(QPainter& painter, const Row& row) const;
    void paintAxis(QPainter& painter) const;
    void paintLegend(QPainter& painter, const QRect& all) const;
    void look(double from, double length, bool byPerson);

    RecordingPtr recording_;
    QString title_, empty_;
    std::vector<Row> rows_;              ///< warps that were ever there, by scheduler
    std::vector<std::uint32_t> issues_;  ///< cycles in which a scheduler issues, rising, each once
    double rowHeight_ = 6, from_ = 0, length_ = 1;
    qint64 cursor_ = 0;
    int highlighted_ = -1;
    bool held_ = false, dragged_ = false;
    QPointF pressed_;
    double pressedFrom_ = 0;
};

}  // namespace orrery::ui
