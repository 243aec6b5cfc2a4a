#pragma once

#include <QColor>
#include <QWidget>

#include <utility>
#include <vector>

namespace orrery::ui {

/// A small card beside the cursor: a title with its colour, and lines of label and value. Never takes the mouse.
class HoverCard : public QWidget {
    Q_OBJECT
public:
    using Lines = std::vector<std::pair<QString, QString>>;
    explicit HoverCard(QWidget* view);

    /// Shows the card near a point of the view, wholly inside the view where it fits.
    void showAt(const QPoint& near, const QColor& colour, const QString& title, const Lines& lines);
    const QString& title() const { return title_; }
    const Lines& lines() const { return lines_; }
    QString value(const QString& label) const;  ///< empty if there is no such line

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QColor colour_;
    QString title_;
    Lines lines_;
    int labelWidth_ = 0;
    int shownLines_ = 0;
};

}  // namespace orrery::ui
