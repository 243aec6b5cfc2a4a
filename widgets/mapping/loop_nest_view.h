#pragma once

// One mapping, as the loop nest that it is: loops indented and coloured by the level that holds them, beside each level
// what of every tensor it holds and moves, below the array's units in use. A loop can be dragged to another place, its
// bound turned by wheel or keys, a tensor kept or passed by; every change is counted at once.

#include "widgets/mapping/loop_nest_layout.h"

#include <QAbstractScrollArea>

namespace orrery::ui {

class LoopNestView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LoopNestView(QWidget* parent = nullptr);
    void setNest(NestProblem problem, NestHardware hardware, NestMapping mapping);
    void clear(const QString& why);
    const NestProblem& problem() const { return problem_; }
    const NestHardware& hardware() const { return hardware_; }
    const NestMapping& mapping() const { return mapping_; }
    /// Nothing while empty or while the mapping does not fit.
    const std::optional<NestCounts>& counts() const { return counts_; }
    const std::optional<Diagnostic>& problemOfMapping() const { return fault_; }
    const LoopNestLayout& places() const { return layout_; }  ///< in the coordinates of the whole, not of the viewport
    std::optional<LoopPlace> current() const { return current_; }
    bool canUndo() const { return !before_.empty(); }
    void undo();  ///< the last change by hand

signals:
    void mappingEdited(const orrery::NestMapping& mapping);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void relayout();
    void count();
    /// Keeps the mapping before it, counts and tells.
    void take(NestMapping changed, std::optional<LoopPlace> current);
    void turn(LoopPlace loop, bool larger);
    void shift(LoopPlace loop, bool outwards);
    void change(LoopPlace loop, LoopKind kind);
    void setCurrent(std::optional<LoopPlace> loop);
    QPoint toWhole(const QPoint& viewport) const;
    QString tip(const QPoint& whole) const;
    QString describe(LoopPlace loop) const;
    void say();

    NestProblem problem_;
    NestHardware hardware_;
    NestMapping mapping_;
    std::optional<NestEvaluator> evaluator_;
    std::optional<NestCounts> counts_, lastGood_;
    std::optional<Diagnostic> fault_;
    QString why_;
    LoopNestLayout layout_;
    std::vector<NestMapping> before_;
    std::optional<LoopPlace> current_, hovered_, dragged_, drop_;
    QPoint pressed_;
    int turned_ = 0;
};

}  // namespace orrery::ui
