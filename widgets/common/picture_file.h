#pragma once

// A picture as a file: PNG at twice the density, SVG or PDF, by the file's ending.

#include <QByteArray>
#include <QSize>
#include <QString>

#include <functional>

class QPainter;
class QRect;
class QRectF;
class QWidget;

namespace orrery::ui {

/// `paint` fills the rectangle, which is `size` at the origin, over the surface colour, in the look of pictures
/// (PaperLook). Returns an error text, empty
/// where the whole file is written; a file that was there before stays as it was if not.
QString writePicture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPainter&, const QRect&)>& paint);
/// What `paint` draws as an SVG of this size and view box. Its text names fonts that other programs know, the window's
/// own first, and a family that any of them has: the window's is one that it made for itself.
QByteArray svgOf(const QSize& size, const QRectF& viewBox, const QString& title,
                 const std::function<void(QPainter&)>& paint);
/// The size that a person chose for exported plots, in pixels of which 96 make an inch; not valid: as on the screen.
void setPictureSize(const QSize& size);
QSize pictureSize();
/// `1600x1000`, also with `×`; an invalid size for anything else, or beyond 100 to 10,000.
QSize pictureSizeOf(const QString& text);
/// Gives the widget the pictures' size (or the least in which it shows everything) for as long as `write` takes, and
/// its own again; one that is not seen has a usual size where none is chosen. Returns what `write` returns.
QString atPictureSize(QWidget& widget, const std::function<QString()>& write);
/// Whether pictures take the light colours, which print needs, whatever the screen has. They do unless told.
void setPicturesOnPaper(bool on);
/// The light colours while it lives, where pictures are to have them. The outermost one pays for the change, so one
/// around many pictures spares each its own.
class PaperLook {
public:
    PaperLook();
    ~PaperLook();
    PaperLook(const PaperLook&) = delete;
    PaperLook& operator=(const PaperLook&) = delete;

private:
    bool wasDark_ = false;
};
/// The same care for text.
QString writeText(const QString& file, const QByteArray& text);

}  // namespace orrery::ui
