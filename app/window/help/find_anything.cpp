#include "app/window/help/find_anything.h"

#include "app/document/commands/project_edits.h"
#include "app/window/help/handbook_places.h"
#include "app/window/studio.h"
#include "hardware/attributes.h"
#include "hardware/walk.h"
#include "methods/method.h"
#include "study/serving/sweep.h"
#include "widgets/common/text.h"
#include "widgets/handbook/handbook.h"

#include <QCoreApplication>

#include <algorithm>
#include <optional>
#include <set>

namespace orrery::app {

namespace {

QString words(const char* text) {
    return QCoreApplication::translate("FindAnything", text);
}

/// The first component of the design, from the top, that has the attribute.
std::optional<ComponentPath> holderOf(const Component& root, const std::string& attribute) {
    if (root.find(attribute)) return ComponentPath{};
    std::optional<ComponentPath> found;
    walk(root, [&](const Component& at, const ComponentPath& path) {
        if (!found && at.find(attribute)) found = path;
        return !found.has_value();
    });
    return found;
}

void addPanels(Studio& studio, std::vector<ui::PaletteEntry>& all) {
    for (Dock* dock : studio.docks.all()) {
        all.push_back({dock->toggleViewAction()->text().remove(QLatin1Char('&')),
                       words("Panel"),
                       dock->toggleViewAction()->toolTip(),
                       {},
                       [&studio, id = dock->objectName()] {
                           studio.layouts.showProject();
                           studio.docks.reveal(id);
                       }});
    }
}

void addMethods(Studio& studio, std::vector<ui::PaletteEntry>& all) {
    for (const Method& method : builtinMethods()) {
        const std::string id(method.card.id);
        all.push_back({ui::qs(method.card.title),
                       words("Method"),
                       ui::qs(method.card.id) + QStringLiteral(" · ") + ui::qs(method.card.summary),
                       {},
                       [&studio, id] {
                           std::vector<std::string> asked = studio.document.state()->methods;
                           if (std::ranges::find(asked, id) == asked.end()) {
                               asked.push_back(id);
                               if (!studio.apply(setMethodsEdit(*studio.document.state(), std::move(asked)))) return;
                           }
                           studio.layouts.showProject();
                           studio.docks.reveal(QStringLiteral("comparison"));
                       }});
    }
}

void addParameters(Studio& studio, const std::function<void(const QString&)>& openHandbook,
                   std::vector<ui::PaletteEntry>& all) {
    std::set<std::string_view> told;  // several kinds of component share a name
    for (const AttributeSpec& spec : attributeSpecs()) {
        if (!told.insert(spec.name).second) continue;
        const std::string name(spec.name);
        all.push_back({ui::qs(spec.name), words("Parameter"), ui::windowText(spec.meaning), {}, [&studio, name, openHandbook] {
                           const HardwarePtr design = studio.document.hardware();
                           const auto holder = design ? holderOf(design->root, name) : std::nullopt;
                           if (!holder) return openHandbook(QStringLiteral("files.md"));
                           studio.layouts.showProject();
                           studio.inspection.reveal();
                           studio.inspection.showComponent(*holder);
                       }});
    }
}

void addServing(Studio& studio, std::vector<ui::PaletteEntry>& all) {
    for (const SweepKey& key : sweepKeys()) {
        all.push_back({ui::qs(key.key), words("Serving parameter"), ui::windowText(key.meaning), {}, [&studio] {
                           studio.layouts.showProject();
                           studio.router.show(QStringLiteral("serving"));
                       }});
    }
}

void addHandbook(const std::function<void(const QString&)>& openHandbook, std::vector<ui::PaletteEntry>& all) {
    static const ui::Handbook book = ui::Handbook::of(handbookFolder());
    for (const ui::HandbookPage& page : book.pages()) {
        for (std::size_t s = 0; s < page.sections.size(); ++s) {
            const QString heading = page.sections[s].heading;
            all.push_back({heading,
                           words("Handbook"),
                           s == 0 ? QString() : page.title,
                           {},
                           [openHandbook, place = page.file + QLatin1Char('#') + heading] { openHandbook(place); }});
        }
    }
}

}  // namespace

std::vector<ui::PaletteEntry> findables(Studio& studio, std::function<void(const QString&)> openHandbook) {
    std::vector<ui::PaletteEntry> all;
    addPanels(studio, all);
    addMethods(studio, all);
    addParameters(studio, openHandbook, all);
    addServing(studio, all);
    addHandbook(openHandbook, all);
    return all;
}

}  // namespace orrery::app
