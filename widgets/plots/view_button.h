#pragma once

#include <QString>

#include <initializer_list>

class QToolButton;
class QWidget;

namespace orrery::ui {

/// A small icon button that floats over a view's upper right corner. Its icon follows the theme.
QToolButton* viewButton(QWidget* view, const QString& name, const QString& icon, const QString& toolTip);
/// Places buttons from the right; call on resize.
void placeViewButtons(QWidget* view, std::initializer_list<QToolButton*> buttons);

}  // namespace orrery::ui
