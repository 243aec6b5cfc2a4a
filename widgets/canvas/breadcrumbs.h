#pragma once

#include <QWidget>

class QHBoxLayout;

namespace orrery::ui {

class CanvasView;

/// Where the canvas is: `dgx › node › h100`. Each step is a button that goes out to it; the last says where one is.
class Breadcrumbs : public QWidget {
    Q_OBJECT
public:
    explicit Breadcrumbs(CanvasView* view, QWidget* parent = nullptr);

protected:
    void keyPressEvent(QKeyEvent* event) override;  ///< Left and Right walk the steps

private:
    void build();

    CanvasView* view_;
    QHBoxLayout* row_;
    QStringList shown_;
};

}  // namespace orrery::ui
