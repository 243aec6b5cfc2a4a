// Pictures of the drawing.

#include "widgets/canvas/canvas_view_state.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr double mostPixels = 8192;  ///< of an image's longer side

QRectF pictureArea(const CanvasView::State& state) {
    if (state.scene.nodes().empty()) return {};
    return state.scene.nodes()[state.context.root()].box.adjusted(-16, -16, 16, 16);
}

void paintPicture(QPainter& painter, const CanvasView::State& state, const QRectF& area, double zoom) {
    PaintOptions options = state.options();
    options.transform = QTransform(zoom, 0, 0, zoom, -area.x() * zoom, -area.y() * zoom);
    options.exposed = area;
    options.selected.clear();
    options.leftOut.clear();
    options.forExport = true;
    paintScene(painter, state.scene, options);
}

QImage image(const CanvasView::State& state, const QRectF& area) {
    // Twice the size on screen: sharp in print, unless that would be enormous.
    const double zoom = std::min(2.0, mostPixels / std::max(area.width(), area.height()));
    QImage picture((area.size() * zoom).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    picture.fill(Theme::instance().colours().surface);
    QPainter painter(&picture);
    paintPicture(painter, state, area, zoom);
    return picture;
}

}  // namespace

QString CanvasView::exportTo(const QString& file) {
    const QRectF area = pictureArea(*state_);
    if (area.isEmpty()) return tr("There is nothing to draw");
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != "svg" && ending != "png" && ending != "pdf")
        return tr("The file's ending must be .svg, .png or .pdf, not “.%1”").arg(ending);
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return tr("%1: %2").arg(file, out.errorString());
    const PaperLook look;
    bool painted = true;
    if (ending == "svg") {
        const QByteArray svg = svgOf(area.size().toSize(), QRectF(QPointF(), area.size()),
                                     QString::fromStdString(state_->scene.hardware()->name),
                                     [&](QPainter& painter) { paintPicture(painter, *state_, area, 1); });
        painted = out.write(svg) == svg.size();
    } else if (ending == "pdf") {
        QPdfWriter pdf(&out);
        pdf.setResolution(72);
        pdf.setPageSize(QPageSize(area.size(), QPageSize::Point));
        pdf.setPageMargins({});
        pdf.setTitle(QString::fromStdString(state_->scene.hardware()->name));
        QPainter painter(&pdf);
        paintPicture(painter, *state_, area, 1);
    } else {
        painted = image(*state_, area).save(&out, "PNG");
    }
    if (!painted || !out.commit()) return tr("%1 could not be written: %2").arg(file, out.errorString());
    return {};
}

void CanvasView::copyPicture() {
    const QRectF area = pictureArea(*state_);
    if (!area.isEmpty()) QGuiApplication::clipboard()->setImage(image(*state_, area));
}

}  // namespace orrery::ui
