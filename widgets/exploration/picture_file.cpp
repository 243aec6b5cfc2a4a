#include "widgets/exploration/picture_file.h"

#include <QCoreApplication>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace orrery::ui {

QString writePicture(const QString& file, const QSize& size, const std::function<void(QPainter&)>& paint) {
    const auto failed = [&] { return QCoreApplication::translate("PictureFile", "%1 cannot be written").arg(file); };
    QPainter painter;
    if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setFileName(file);
        svg.setSize(size);
        svg.setViewBox(QRect(QPoint(), size));
        if (!painter.begin(&svg)) return failed();
        paint(painter);
        painter.end();
        return {};
    }
    if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        QPdfWriter pdf(file);
        pdf.setPageSize(QPageSize(QSizeF(size) * 0.75, QPageSize::Point));
        pdf.setPageMargins({});
        if (!painter.begin(&pdf)) return failed();
        painter.scale(static_cast<double>(pdf.width()) / size.width(),
                      static_cast<double>(pdf.height()) / size.height());
        paint(painter);
        painter.end();
        return {};
    }
    QImage image(size * 2, QImage::Format_RGB32);
    image.setDevicePixelRatio(2);
    painter.begin(&image);
    paint(painter);
    painter.end();
    return image.save(file) ? QString() : failed();
}

}  // namespace orrery::ui
