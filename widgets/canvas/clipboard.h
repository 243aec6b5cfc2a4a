#pragma once

// Components on the clipboard: YAML that any editor can read and write as text, and beside it, in a format of our own,
// where they stood.

#include "hardware/component.h"
#include "widgets/canvas/placements.h"

#include <QString>

#include <memory>
#include <vector>

class QMimeData;

namespace orrery::ui {

inline constexpr auto placementsMimeType = "application/x-orrery-placements";

struct Clip {
    std::vector<Component> parts;
    /// In the order of `parts`, from the top left of all of them; empty for text from elsewhere.
    std::vector<Placement> places;
};

std::unique_ptr<QMimeData> toMimeData(const Clip& clip);
/// From our own data, or any text that is a YAML list of components, one component or a hardware file. The error says
/// what is wrong with the text and where.
Expected<Clip> fromMimeData(const QMimeData* data);

}  // namespace orrery::ui
