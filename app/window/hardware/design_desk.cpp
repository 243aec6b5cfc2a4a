#include "app/window/hardware/design_desk.h"

#include "app/document/commands/project_edits.h"
#include "app/document/commands/show_hardware.h"
#include "app/window/exports.h"
#include "app/window/hardware/add_hardware.h"
#include "app/window/hardware/design_bar.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "store/project/project.h"
#include "widgets/canvas/canvas_view.h"

#include <QFileDialog>
#include <QInputDialog>
#include <QMenu>
#include <QUndoStack>

#include <map>

namespace orrery::app {

namespace {

Hardware emptyDesign(const QString& name) {
    Hardware design;
    design.name = name.toStdString();
    design.root.kind = ComponentKind::System;
    design.root.name = "system";
    return design;
}

}  // namespace

DesignDesk::DesignDesk(Studio& studio, HardwarePage& page) : QObject(&page), studio_(studio), page_(page) {
    connect(page_.designs(), &DesignBar::designChosen, this, &DesignDesk::show);
    connect(page_.designs(), &DesignBar::renameRequested, this, &DesignDesk::rename);
}

void DesignDesk::addActions() {
    Actions& a = studio_.actions;
    a.add({"fileNew", tr("File"), tr("&New project"), tr("Start an empty project and draw its hardware"),
           "document-new", QKeySequence::New},
          [this] { drawYourOwn(); });
    const QString group = tr("Design");
    a.add({"designNew", group, tr("&New empty design"), tr("Add an empty design to the project and draw on it"),
           "document-new", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N)},
          [this] { addEmpty(); });
    a.add({"designDerive", group, tr("&Derive and compare"),
           tr("Adds a copy of this design and shows both side by side, with the differences"), "document-edit",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_V)},
          [this] { derive(true); });
    a.add({"designDuplicate",
           group,
           tr("D&uplicate"),
           tr("Add a copy of this design to the project"),
           "edit-duplicate",
           {}},
          [this] { derive(false); });
    a.add({"designRename", group, tr("&Rename…"), tr("Give this design another name"), "edit-rename", {}},
          [this] { rename(studio_.document.hardwareIndex()); });
    a.add({"designDelete", group, tr("De&lete"), tr("Removes this design from the project"), "edit-delete", {}},
          [this] { studio_.apply(removeHardwareEdit(*studio_.document.state(), studio_.document.hardwareIndex())); });
    a.add({"fileExportDrawing",
           tr("File"),
           tr("Export &drawing…"),
           tr("Write the drawing as SVG, PNG or PDF"),
           "document-export",
           {}},
          [this] { exportDrawing(); });
    a.add({"fileExportDesign",
           tr("File"),
           tr("Export design &YAML…"),
           tr("Write this design as a hardware file, with its placements"),
           "document-export",
           {}},
          [this] { exportDesign(); });
    a.add({"editCopyPicture", tr("Edit"), tr("Copy pict&ure"), tr("Copy the drawing as a picture"), "edit-copy",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), &page_},
          [this] { page_.activeCanvas()->copyPicture(); });
    const auto enable = [this] {
        const bool some = studio_.document.hardwareIndex() >= 0;
        for (const char* id : {"designDerive", "designDuplicate", "designRename", "fileExportDrawing",
                               "fileExportDesign", "editCopyPicture", "arrangeAll", "arrangeAuto", "arrangeForget"})
            studio_.actions.find(QLatin1String(id))->setEnabled(some);
        studio_.actions.find(QStringLiteral("designDelete"))->setEnabled(studio_.document.state()->hardware.size() > 1);
    };
    connect(&studio_.document, &Document::projectChanged, this, enable);
    enable();
}

void DesignDesk::drawYourOwn() {
    if (!studio_.files.maybeSave()) return;
    Project project;
    project.methods = usualMethods();
    project.hardware.push_back(emptyDesign(tr("My design")));
    project.scenarios.push_back({project.hardware.front().name, {}, {}});
    studio_.files.start(std::move(project));
    studio_.layouts.choose(Layout::Draw);
    begin();
}

void DesignDesk::addEmpty() {
    if (studio_.apply(addHardwareEdit(*studio_.document.state(), emptyDesign(tr("Design"))))) begin();
}

void DesignDesk::begin() {
    studio_.layouts.showProject();
    studio_.router.show(&page_);
    studio_.docks.reveal(QStringLiteral("parts"));
    studio_.inspection.showComponent({});
    page_.canvas()->setFocus();
}

void DesignDesk::derive(bool compare) {
    if (!studio_.document.hardware()) return;
    const std::string before = studio_.document.hardware()->name;
    if (!studio_.apply(deriveHardwareEdit(*studio_.document.state(), studio_.document.hardwareIndex()))) return;
    begin();
    if (compare) page_.compareWith(studio_.document.state()->hardwareIndex(before));
}

void DesignDesk::derivePreset(const QString& id) {
    QUndoStack* stack = studio_.document.undoStack();
    stack->beginMacro(tr("Derive from %1").arg(id));
    addCatalogueHardware(studio_, id);
    derive(true);
    stack->endMacro();
}

void DesignDesk::fillPresetMenu(QMenu* menu) {
    menu->clear();
    std::map<std::string, QMenu*> groups;
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        QMenu*& group = groups[entry.group];
        if (!group) {
            group = menu->addMenu(QString::fromStdString(entry.group));
            group->setToolTipsVisible(true);
        }
        QAction* action = group->addAction(QString::fromStdString(entry.name), this,
                                           [this, id = QString::fromStdString(entry.id)] { derivePreset(id); });
        action->setToolTip(QString::fromStdString(entry.description));
    }
}

void DesignDesk::show(int index) {
    const ProjectState& state = *studio_.document.state();
    if (index < 0 || index >= static_cast<int>(state.hardware.size()) || index == state.currentHardware()) return;
    const int compared = page_.compared(), before = state.currentHardware();
    studio_.apply(showHardwareEdit(state, index));
    if (compared == index) page_.compareWith(before);  // the two change sides
}

void DesignDesk::rename(int index) {
    const ProjectState& state = *studio_.document.state();
    if (index < 0 || index >= static_cast<int>(state.hardware.size())) return;
    const Hardware& design = *state.hardware[static_cast<std::size_t>(index)];
    bool given = false;
    const QString name = QInputDialog::getText(&page_, tr("Rename design"), tr("Name"), QLineEdit::Normal,
                                               QString::fromStdString(design.name), &given)
                             .trimmed();
    if (!given || name.isEmpty() || name.toStdString() == design.name) return;
    studio_.apply(renameHardwareEdit(state, index, name));
}

void DesignDesk::exportDrawing() {
    QString chosen;
    QString file =
        QFileDialog::getSaveFileName(&page_, tr("Export the drawing"),
                                     QString::fromStdString(studio_.document.hardware()->name) + QStringLiteral(".svg"),
                                     tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf)"), &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = page_.activeCanvas()->exportTo(file); !problem.isEmpty()) {
        return studio_.messages.complain(exportFailed(file, problem));
    }
    studio_.messages.say(Severity::Note, tr("Wrote %1").arg(file));
}

void DesignDesk::exportDesign() {
    QString file = QFileDialog::getSaveFileName(
        &page_, tr("Export the design"),
        QString::fromStdString(studio_.document.hardware()->name) + QStringLiteral(".yaml"), tr("Hardware (*.yaml)"));
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
    Hardware design = *studio_.document.hardware();
    design.layoutYaml = ui::writePlacements(*studio_.document.placements());
    if (auto saved = saveFileAtomically(file.toStdString(), writeHardware(design)); !saved)
        return studio_.messages.complain(saved.error());
    studio_.messages.say(Severity::Note, tr("Wrote %1").arg(file));
}

}  // namespace orrery::app
