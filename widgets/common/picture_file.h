#pragma once

// A picture as a file: PNG at twice the density, SVG or PDF, by the file's ending.

#include <QSize>
#include <QString>

#include <functional>

class QPainter;
class QRect;

namespace orrery::ui {

/// `paint` fills the rectangle, which is `size` at the origin, over the surface colour. Returns an error text, empty
/// where the whole file is written; a file that was there before stays as it was if not.
QString writePicture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPainter&, const QRect&)>& paint);
/// The same care for text.
QString writeText(const QString& file, const QByteArray& text);

}  // namespace orrery::ui
