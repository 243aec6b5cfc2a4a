// The hardware page as a page of the window.

#include "app/window/exports.h"
#include "app/window/hardware/add_hardware.h"
#include "app/window/hardware/canvas_actions.h"
#include "app/window/hardware/canvas_desk.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/design_desk.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/hardware/limit_marks.h"
#include "app/window/hardware/link_heat.h"
#include "app/window/lack.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/text.h"
#include "widgets/library/component_palette.h"

#include <QAction>
#include <QDir>
#include <QMimeData>
#include <QTabWidget>

namespace orrery::app {

namespace {

const QString deviceMime = QStringLiteral("application/x-orrery-hardware");  ///< of the library's drags

}  // namespace

PageCard HardwarePage::card() const {
    return {QStringLiteral("hardware"), tr("Hardware"), tr("The design's parts"), QStringLiteral("cpu"), {}, false, {}};
}

void HardwarePage::join(Studio& studio) {
    studio_ = &studio;
    limits_ = new LimitMarks(studio, *this);
    heat_ = new LinkHeat(studio, *this);
    pane_->addStrip(heat_);
    canvasDesk_ = new CanvasDesk(studio, *this);
    designDesk_ = new DesignDesk(studio, *this);
    addCanvasActions(studio, *this, *canvasDesk_);
    addInsertActions(studio, *canvasDesk_);
    designDesk_->addActions();
    setActions(studio.actions);
    connect(pane_, &CanvasPane::designWanted, studio.actions.find(QStringLiteral("designNew")), &QAction::trigger);
    connect(pane_, &CanvasPane::deviceWanted, this, [&studio] { fillIn(studio, Lack::Device); });
    studio.docks.add(QStringLiteral("parts"), tr("Palette"), tr("Parts of designs: drag one onto the canvas"),
                     [this](QWidget* parent) {
                         auto* palette = new ui::ComponentPalette(parent);
                         connect(palette, &ui::ComponentPalette::placeRequested, canvasDesk_,
                                 &CanvasDesk::startPlacing);
                         return palette;
                     });
    connect(this, &HardwarePage::canvasMade, this, [this](ui::CanvasView* canvas) {
        canvasDesk_->wire(canvas);
        const Actions& actions = studio_->actions;
        secondPane()->setTools(
            {}, {actions.find(QStringLiteral("canvasZoomOut")), actions.find(QStringLiteral("canvasZoomIn")),
                 actions.find(QStringLiteral("canvasFit"))});
    });
    connect(studio.router.tabs(), &QTabWidget::currentChanged, this, [this] {
        if (studio_->router.front() == this && studio_->selection.operators().size() != 1)
            studio_->inspection.showSelected();
    });
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this](const Example& example) {
        if (example.opens != QLatin1String("drawing")) return;
        studio_->layouts.choose(Layout::Draw);
        studio_->router.show(this);
    });
}

std::vector<MenuPart> HardwarePage::menus() {
    const QString edit = QStringLiteral("menuEdit"), canvas = QStringLiteral("menuCanvas"),
                  arrange = QStringLiteral("menuArrange"), design = QStringLiteral("menuDesign");
    std::vector<MenuPart> parts;
    parts.push_back({QStringLiteral("menuExport"), {}, {}, {"fileExportDrawing", "fileExportDesign", "-"}, {}});
    parts.push_back({edit,
                     {},
                     {},
                     {"editCut", "editCopy", "editPaste", "editDuplicate", "editDelete", "-", "editRename",
                      "editSelectAll", "editFind", "editCopyPicture", "-"},
                     {}});
    parts.push_back({canvas,
                     tr("&Canvas"),
                     QStringLiteral("menuView"),
                     {"canvasFit", "canvasFitSelection", "canvasZoomIn", "canvasZoomOut", "canvasZoomOne", "-",
                      "canvasEnter", "canvasLeave", "canvasOperators", "-", "canvasGrid", "canvasSnap", "canvasMap",
                      "canvasTree", "-", "toolSelect", "toolLink", "toolPan", "toolMeasure"},
                     {}});
    parts.push_back({QStringLiteral("menuInsert"), tr("&Insert"), {}, {}, [this](QMenu* menu) {
                         fillInsertMenu(studio_->actions, menu);
                     }});
    parts.push_back({arrange,
                     tr("&Arrange"),
                     {},
                     {"editGroup", "editUngroup", "arrangeFold", "arrangeOpen", "-", "alignLeft", "alignCentre",
                      "alignRight", "alignTop", "alignMiddle", "alignBottom", "-", "distributeAcross", "distributeDown",
                      "-", "arrangeAll", "arrangeAuto", "arrangeForget"},
                     {}});
    parts.push_back({design, tr("&Design"), {}, {"designNew", "designDerive", "designDuplicate"}, {}});
    parts.push_back({QStringLiteral("menuPresets"),
                     tr("Derive from a &preset"),
                     design,
                     {},
                     [this](QMenu* menu) { designDesk_->fillPresetMenu(menu); },
                     true});
    parts.push_back({design, {}, {}, {"-", "designRename", "designDelete"}, {}});
    return parts;
}

bool HardwarePage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("hardware");
}

void HardwarePage::open(const QString& path) {
    Expected<LoadedHardware> loaded = readHardwareFile(path.toStdString());
    if (loaded) {
        addHardware(*studio_, std::move(loaded->hardware));
        studio_->problems.setOfFile(loaded->warnings);
    } else {
        studio_->messages.complain(loaded.error());
    }
    emit opened(path, loaded.has_value());
}

bool HardwarePage::acceptsDrop(const QMimeData& mime) const {
    return mime.hasFormat(deviceMime);
}

void HardwarePage::drop(const QMimeData& mime) {
    addCatalogueHardware(*studio_, QString::fromUtf8(mime.data(deviceMime)));
}

std::vector<ui::PaletteEntry> HardwarePage::findable() {
    std::vector<ui::PaletteEntry> entries;
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        entries.push_back({QString::fromStdString(entry.name),
                           tr("Device"),
                           QString::fromStdString(entry.group),
                           {},
                           [this, id = entry.id] { addCatalogueHardware(*studio_, QString::fromStdString(id)); }});
    }
    return entries;
}

void HardwarePage::feed(const ui::SnapshotPtr&) {
    limits_->showLoads();
    heat_->showAnswer();
}

bool HardwarePage::goTo(const Place& place) {
    const HardwarePtr design = document_.hardware();
    if (!design) return false;
    // `system/h100/hbm3.bandwidth`: the component stands before the last dot.
    const std::string names = place.path.substr(0, place.path.find_last_of('.'));
    Expected<ComponentPath> path = findComponent(design->root, names);
    if (!path) path = findComponent(design->root, place.path);
    if (!path) return false;
    studio_->router.show(this);
    studio_->inspection.reveal();
    studio_->inspection.showComponent(*path);
    canvas()->ensureVisible(*path);
    // A part may have a dot in its own name.
    if (const std::string attribute = place.path.substr(pathText(design->root, *path).size()); attribute.size() > 1)
        studio_->inspection.editAttribute(ui::qs(attribute.substr(1)));
    return true;
}

Expected<QStringList> HardwarePage::report(const QString& folder) {
    const QString drawing = QDir(folder).filePath(QStringLiteral("hardware.svg"));
    if (const QString problem = canvas()->exportTo(drawing); !problem.isEmpty()) {
        return fail("report.picture", problem.toStdString(), {}, "choose another folder",
                    {drawing.toStdString(), 0, 0, {}});
    }
    return QStringList{drawing};
}

CanvasPane* HardwarePage::activePane() const {
    return second_ && second_->view() == activeCanvas() ? second_ : pane_;
}

void HardwarePage::drawYourOwn() {
    designDesk_->drawYourOwn();
}

void HardwarePage::derivePreset(const QString& id) {
    designDesk_->derivePreset(id);
}

void HardwarePage::insertDevice(const QString& id) {
    if (!document_.hardware()) return addCatalogueHardware(*studio_, id);
    studio_->layouts.showProject();
    studio_->router.show(this);
    canvasDesk_->addDevice(*canvas(), id, studio_->components.current(), std::nullopt);
}

}  // namespace orrery::app
