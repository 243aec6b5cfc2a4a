#include "app/window/help/handbook_places.h"

#include "app/window/dock.h"
#include "app/window/page.h"
#include "hardware/files/catalogue.h"

#include <QDir>

#include <array>

namespace orrery::app {

namespace {

struct Line {
    const char *id, *place;
};

// Pages by the id of their card, panels by theirs.
constexpr std::array lines{
    Line{"welcome", "README.md"},
    Line{"hardware", "drawing.md"},
    Line{"workload", "graph.md"},
    Line{"mapping", "mapping.md"},
    Line{"gpu", "gpu-cycles.md#in-the-studio"},
    Line{"training", "training.md"},
    Line{"serving", "serving.md"},
    Line{"explore", "exploration.md"},
    Line{"compare", "against.md"},
    Line{"evidence", "evidence.md"},
    Line{"core", "core.md"},
    Line{"library", "files.md"},
    Line{"project", "files.md"},
    Line{"parts", "drawing.md"},
    Line{"inspector", "drawing.md"},
    Line{"problems", "trust.md"},
    Line{"roofline", "README.md#the-views"},
    Line{"timeline", "README.md#the-views"},
    Line{"breakdown", "README.md#the-views"},
    Line{"operators", "README.md#the-views"},
    Line{"memory", "README.md#the-views"},
    Line{"why", "README.md#the-views"},
    Line{"comparison", "methods.md"},
    Line{"methods", "methods.md"},
    Line{"fidelity", "fidelity.md"},
    Line{"lesson", "lessons.md"},
    Line{"jobs", "many-machines.md"},
    Line{"log", "README.md"},
    Line{"history", "drawing.md"},
};

// Views of a page that have a place of their own, by their object's name.
constexpr std::array views{
    Line{"gpu.counters", "gpu-cycles.md#counters-from-code"},
};

}  // namespace

QString handbookFolder() {
    const QDir presets(QString::fromStdString(presetsFolder()));
    for (const char* beside : {"../handbook", "../resources/handbook"})
        if (const QString folder = presets.filePath(QLatin1String(beside)); QDir(folder).exists())
            return QDir::cleanPath(folder);
    return {};
}

QString handbookOf(const QString& id) {
    for (const Line& line : lines)
        if (id == QLatin1String(line.id)) return QLatin1String(line.place);
    return {};
}

QString handbookOf(const QWidget* widget) {
    for (const QWidget* at = widget; at; at = at->parentWidget()) {
        for (const Line& view : views)
            if (at->objectName() == QLatin1String(view.id)) return QLatin1String(view.place);
        if (const auto* dock = qobject_cast<const Dock*>(at)) return handbookOf(dock->objectName());
        if (const auto* page = qobject_cast<const Page*>(at)) return handbookOf(page->card().id);
    }
    return {};
}

}  // namespace orrery::app
