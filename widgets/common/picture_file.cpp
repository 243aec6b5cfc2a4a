#include "widgets/common/picture_file.h"

#include "widgets/common/theme.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWidget>

#include <algorithm>

namespace orrery::ui {

namespace {

QSize chosenSize;
bool onPaper = true;

QString cannotWrite(const QSaveFile& out) {
    return QCoreApplication::translate("PictureFile", "Cannot write %1: %2").arg(out.fileName(), out.errorString());
}

}  // namespace

QString writePicture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPainter&, const QRect&)>& paint) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("png") && ending != QLatin1String("svg") && ending != QLatin1String("pdf")) {
        return QCoreApplication::translate("PictureFile", "Cannot export to .%1: choose PNG, SVG, PDF, CSV or TEX.")
            .arg(ending);
    }
    const PaperLook look;
    const QRect target(QPoint(), size.expandedTo({1, 1}));
    const auto paintWhole = [&](QPainter& painter) {
        painter.fillRect(target, Theme::instance().colours().surface);
        paint(painter, target);
    };
    const auto paintAll = [&](QPaintDevice& device) {
        QPainter painter(&device);
        paintWhole(painter);
    };
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return cannotWrite(out);
    if (ending == QLatin1String("png")) {
        constexpr int density = 2;
        QImage image(target.size() * density, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(density);
        paintAll(image);
        if (!image.save(&out, "PNG")) return cannotWrite(out);
    } else if (ending == QLatin1String("svg")) {
        const QByteArray svg = svgOf(target.size(), target, title, paintWhole);
        if (out.write(svg) != svg.size()) return cannotWrite(out);
    } else {
        QPdfWriter pdf(&out);
        pdf.setResolution(96);
        pdf.setTitle(title);
        pdf.setPageSize(QPageSize(QSizeF(target.size()) * 72.0 / 96.0, QPageSize::Point));
        pdf.setPageMargins({});
        paintAll(pdf);
    }
    return out.commit() ? QString() : cannotWrite(out);
}

QByteArray svgOf(const QSize& size, const QRectF& viewBox, const QString& title,
                 const std::function<void(QPainter&)>& paint) {
    QByteArray text;
    QBuffer buffer(&text);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(viewBox);
    svg.setTitle(title);
    {
        QPainter painter(&svg);
        paint(painter);
    }
    const auto name = [&text](FontRole role, const char* families) {
        const QByteArray own = Theme::instance().font(role).family().toUtf8();
        text.replace("font-family=\"" + own + '"', QByteArray("font-family=\"") + families + '"');
    };
    name(FontRole::Body, "Inter, Helvetica, Arial, sans-serif");
    name(FontRole::Mono, "JetBrains Mono, DejaVu Sans Mono, Menlo, monospace");
    return text;
}

void setPictureSize(const QSize& size) {
    chosenSize = size;
}

QSize pictureSize() {
    return chosenSize;
}

QSize pictureSizeOf(const QString& text) {
    static const QRegularExpression form(QStringLiteral("^\\s*(\\d{3,5})\\s*[x×X]\\s*(\\d{3,5})\\s*$"));
    const auto match = form.match(text);
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    constexpr int least = 100, most = 10000;
    const bool usable = match.hasMatch() && std::min(size.width(), size.height()) >= least &&
                        std::max(size.width(), size.height()) <= most;
    return usable ? size : QSize();
}

QString atPictureSize(QWidget& widget, const std::function<QString()>& write) {
    // One behind a tab has the size that its dock left it, in which nothing can be read. To Qt it is visible.
    constexpr QSize unseen(1200, 760);
    const bool hidden = widget.parentWidget() && widget.visibleRegion().isEmpty();
    const QSize wanted = chosenSize.isValid() ? chosenSize : hidden ? unseen : QSize();
    if (!wanted.isValid()) return write();
    const QSize own = widget.size();
    widget.resize(wanted.expandedTo(widget.minimumSizeHint()));
    QString problem = write();
    widget.resize(own);
    return problem;
}

void setPicturesOnPaper(bool on) {
    onPaper = on;
}

PaperLook::PaperLook() : wasDark_(onPaper && Theme::instance().mode() == Mode::Dark) {
    if (wasDark_) Theme::instance().setMode(Mode::Light);
}

PaperLook::~PaperLook() {
    if (wasDark_) Theme::instance().setMode(Mode::Dark);
}

QString writeText(const QString& file, const QByteArray& text) {
    QSaveFile out(file);
    const bool done = out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit();
    return done ? QString() : cannotWrite(out);
}

}  // namespace orrery::ui
