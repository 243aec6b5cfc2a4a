#include "widgets/canvas/clipboard.h"

#include "hardware/edit/tree_edit.h"

#include <QMimeData>

#include <sstream>

namespace orrery::ui {

namespace {

// One line per part: x y width height folded expanded placed.
QByteArray write(const std::vector<Placement>& places) {
    QByteArray text;
    for (const Placement& place : places) {
        text += QByteArray::number(place.x) + ' ' + QByteArray::number(place.y) + ' ' +
                QByteArray::number(place.width) + ' ' + QByteArray::number(place.height) + ' ' +
                (place.folded ? "1 " : "0 ") + (place.expanded ? "1 " : "0 ") + (place.placed ? "1\n" : "0\n");
    }
    return text;
}

std::vector<Placement> read(const QByteArray& text) {
    std::vector<Placement> places;
    std::istringstream in(text.toStdString());
    for (Placement place;
         in >> place.x >> place.y >> place.width >> place.height >> place.folded >> place.expanded >> place.placed;)
        places.push_back(place);
    return places;
}

}  // namespace

std::unique_ptr<QMimeData> toMimeData(const Clip& clip) {
    auto data = std::make_unique<QMimeData>();
    data->setText(QString::fromStdString(writeComponents(clip.parts)));
    data->setData(placementsMimeType, write(clip.places));
    return data;
}

Expected<Clip> fromMimeData(const QMimeData* data) {
    if (!data || data->text().trimmed().isEmpty())
        return fail("clipboard.empty", "The clipboard has no components", "components, or their YAML as text",
                    "Copy components on a canvas, or the lines of a hardware file");
    auto parts = readComponents(data->text().toStdString());
    if (!parts) return tl::unexpected(parts.error());
    if (parts->empty())
        return fail("clipboard.empty", "The text on the clipboard has no components", "a YAML list of components",
                    "A component has at least a kind: `- kind: core`");
    Clip clip{std::move(*parts), read(data->data(placementsMimeType))};
    if (clip.places.size() != clip.parts.size()) clip.places.clear();
    return clip;
}

}  // namespace orrery::ui
