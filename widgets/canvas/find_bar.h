#pragma once

#include "hardware/component.h"

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;

namespace orrery::ui {

class CanvasView;

/// Components of which the name, the kind, or an attribute as `name value` contains all words, ignoring case; in tree
/// order. `hbm 80`, `dram`, `bandwidth 3.35`.
std::vector<ComponentPath> findInDesign(const Component& root, const QString& words);

/// Ctrl+F on the canvas: goes from one component that matches to the next. Hidden until open().
class FindBar : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(CanvasView* view, QWidget* parent = nullptr);
    void open();     ///< shows it and takes the focus
    void dismiss();  ///< gives the focus back to the canvas
    void next() { go(1); }
    void previous() { go(-1); }
    const std::vector<ComponentPath>& found() const { return found_; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void search();
    void go(int step);
    void say();

    CanvasView* view_;
    QLineEdit* words_;
    QLabel* count_;
    std::vector<ComponentPath> found_;
    int at_ = -1;
};

}  // namespace orrery::ui
