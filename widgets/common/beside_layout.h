#pragma once

// A form beside what it asks for, or above it where there is no room for both.

#include <QLayout>

#include <array>
#include <memory>

namespace orrery::ui {

/// Of two widgets: the first has its least width at the left, the second the rest. Where the second would have less
/// than its least width, the first stands above it, across, `high` pixels high.
class BesideLayout : public QLayout {
public:
    BesideLayout(QWidget* parent, int high);
    ~BesideLayout() override;
    bool isAbove() const { return isAbove(geometry().width()); }

    void addItem(QLayoutItem* item) override;  ///< of a third on: not shown
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    QSize sizeHint() const override;  ///< beside
    QSize minimumSize() const override;
    void setGeometry(const QRect& room) override;

private:
    bool isAbove(int width) const;

    std::array<std::unique_ptr<QLayoutItem>, 2> items_;
    int high_;
    bool wasAbove_ = false;
};

}  // namespace orrery::ui
