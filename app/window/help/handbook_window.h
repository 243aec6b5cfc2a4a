#pragma once

#include <QDialog>

namespace orrery::ui {
class HandbookView;
}

namespace orrery::app {

/// The handbook beside the window, not modal.
class HandbookWindow : public QDialog {
    Q_OBJECT
public:
    explicit HandbookWindow(QWidget* parent);
    /// `serving.md#a-file`; empty: as it was left.
    void open(const QString& place);
    ui::HandbookView* view() const { return view_; }

private:
    ui::HandbookView* view_;
};

}  // namespace orrery::app
