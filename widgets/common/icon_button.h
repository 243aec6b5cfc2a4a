#pragma once

#include <QToolButton>

namespace orrery::ui {

/// A small button that is only its icon, from the theme, and takes the theme's next one by itself. Names itself by the
/// tooltip.
class IconButton : public QToolButton {
    Q_OBJECT
public:
    IconButton(const QString& icon, const QString& name, const QString& objectName, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {22, 22}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString icon_;
};

}  // namespace orrery::ui
