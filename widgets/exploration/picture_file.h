#pragma once

// A picture of this folder as a file.

#include <QSize>
#include <QString>

#include <functional>

class QPainter;

namespace orrery::ui {

/// SVG and PDF as `paint` draws them, anything else (PNG) pixel by pixel at twice the size. What went wrong; empty if
/// nothing.
QString writePicture(const QString& file, const QSize& size, const std::function<void(QPainter&)>& paint);

}  // namespace orrery::ui
