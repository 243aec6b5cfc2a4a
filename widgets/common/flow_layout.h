#pragma once

// A row of controls that goes on below itself where its window is narrow.

#include <QLayout>

#include <memory>
#include <vector>

namespace orrery::ui {

/// Its items stand in lines, like words; the spare room of a line goes to those that expand across. The least width is
/// that of the widest item, the height that of as many lines as the width makes.
class FlowLayout : public QLayout {
public:
    /// `gap`: pixels between items, across and down.
    FlowLayout(int gap, QWidget* parent = nullptr);
    ~FlowLayout() override;
    /// A group whose items stay side by side.
    void addGroup(QLayout* group);
    /// Between what comes before and after, unless the line ends there.
    void addSpacing(int pixels);
    void clear();  ///< its widgets are hidden, and go with the next turn of events

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;  ///< one line
    QSize minimumSize() const override;
    void setGeometry(const QRect& room) override;

private:
    /// The height that it takes; items are only measured with `place` false.
    int flow(const QRect& room, bool place) const;

    std::vector<std::unique_ptr<QLayoutItem>> items_;
    int gap_;
    int height_ = -1;  ///< of its lines when they were last placed
};

}  // namespace orrery::ui
