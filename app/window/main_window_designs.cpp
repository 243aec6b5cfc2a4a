#include "app/document/commands/project_edits.h"
#include "app/document/commands/show_hardware.h"
#include "app/window/actions.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/design_bar.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "store/project/project.h"
#include "widgets/canvas/canvas_view.h"

#include <QFileDialog>
#include <QInputDialog>
#include <QMenu>
#include <QTabWidget>
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

void MainWindow::buildDesignActions() {
    Actions& a = *actions_;
    const QString group = tr("Design");
    a.add({"designNew", group, tr("&New empty design"), tr("Add an empty design to the project and draw on it"),
           "document-new", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_N)},
          [this] { addEmptyDesign(); });
    a.add({"designDerive", group, tr("&Derive and compare"),
           tr("Add a copy of this design and show both side by side with what differs"), "document-edit",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_V)},
          [this] { deriveDesign(true); });
    a.add({"designDuplicate",
           group,
           tr("D&uplicate"),
           tr("Add a copy of this design to the project"),
           "edit-duplicate",
           {}},
          [this] { deriveDesign(false); });
    a.add({"designRename", group, tr("&Rename…"), tr("Give this design another name"), "edit-rename", {}},
          [this] { renameDesign(document_->hardwareIndex()); });
    a.add({"designDelete", group, tr("De&lete"), tr("Take this design out of the project"), "edit-delete", {}},
          [this] { report(document_->apply(removeHardwareEdit(*document_->state(), document_->hardwareIndex()))); });
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
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), hardwarePage_},
          [this] { hardwarePage_->activeCanvas()->copyPicture(); });
    DesignBar* bar = hardwarePage_->designs();
    connect(bar, &DesignBar::designChosen, this, &MainWindow::showDesign);
    connect(bar, &DesignBar::renameRequested, this, &MainWindow::renameDesign);
    const auto enable = [this] {
        const bool some = document_->hardwareIndex() >= 0;
        for (const char* id : {"designDerive", "designDuplicate", "designRename", "fileExportDrawing",
                               "fileExportDesign", "editCopyPicture", "arrangeAuto", "arrangeForget"})
            actions_->find(QLatin1String(id))->setEnabled(some);
        actions_->find(QStringLiteral("designDelete"))->setEnabled(document_->state()->hardware.size() > 1);
    };
    connect(document_, &Document::projectChanged, this, enable);
    enable();
}

void MainWindow::drawYourOwn() {
    if (!maybeSave()) return;
    Project project;
    project.methods = usualMethods();
    project.hardware.push_back(emptyDesign(tr("My design")));
    project.scenarios.push_back({project.hardware.front().name, {}, {}});
    document_->reset(std::move(project));
    fileProblems_.clear();
    setLayoutMode(Layout::Draw);
    refreshProblems();
    beginDrawing();
}

void MainWindow::addEmptyDesign() {
    if (report(document_->apply(addHardwareEdit(*document_->state(), emptyDesign(tr("Design")))))) beginDrawing();
}

void MainWindow::beginDrawing() {
    showProject();
    documents_->setCurrentWidget(hardwarePage_);
    docks_->reveal(QStringLiteral("parts"));
    inspectComponent({});
    hardwarePage_->canvas()->setFocus();
}

void MainWindow::deriveDesign(bool compare) {
    if (!document_->hardware()) return;
    const std::string before = document_->hardware()->name;
    if (!report(document_->apply(deriveHardwareEdit(*document_->state(), document_->hardwareIndex())))) return;
    beginDrawing();
    if (compare) hardwarePage_->compareWith(document_->state()->hardwareIndex(before));
}

void MainWindow::derivePreset(const QString& id) {
    QUndoStack* stack = document_->undoStack();
    stack->beginMacro(tr("Derive from %1").arg(id));
    addCatalogueHardware(id);
    deriveDesign(true);
    stack->endMacro();
}

void MainWindow::fillPresetMenu(QMenu* menu) {
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

void MainWindow::showDesign(int index) {
    const ProjectState& state = *document_->state();
    if (index < 0 || index >= static_cast<int>(state.hardware.size()) || index == state.currentHardware()) return;
    const int compared = hardwarePage_->compared(), before = state.currentHardware();
    report(document_->apply(showHardwareEdit(state, index)));
    if (compared == index) hardwarePage_->compareWith(before);  // the two change sides
}

void MainWindow::renameDesign(int index) {
    const ProjectState& state = *document_->state();
    if (index < 0 || index >= static_cast<int>(state.hardware.size())) return;
    const Hardware& design = *state.hardware[static_cast<std::size_t>(index)];
    bool given = false;
    const QString name = QInputDialog::getText(this, tr("Rename design"), tr("Name"), QLineEdit::Normal,
                                               QString::fromStdString(design.name), &given)
                             .trimmed();
    if (!given || name.isEmpty() || name.toStdString() == design.name) return;
    report(document_->apply(renameHardwareEdit(state, index, name)));
}

void MainWindow::exportDrawing() {
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export the drawing"), QString::fromStdString(document_->hardware()->name) + QStringLiteral(".svg"),
        tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf)"), &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = hardwarePage_->activeCanvas()->exportTo(file); !problem.isEmpty()) {
        return complain({Severity::Error,
                         "export.failed",
                         problem.toStdString(),
                         {},
                         "choose another folder",
                         {file.toStdString(), 0, 0, {}}});
    }
    say(Severity::Note, tr("Wrote %1").arg(file));
}

void MainWindow::exportDesign() {
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export the design"), QString::fromStdString(document_->hardware()->name) + QStringLiteral(".yaml"),
        tr("Hardware (*.yaml)"));
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
    Hardware design = *document_->hardware();
    design.layoutYaml = ui::writePlacements(*document_->placements());
    if (auto saved = saveFileAtomically(file.toStdString(), writeHardware(design)); !saved)
        return complain(saved.error());
    say(Severity::Note, tr("Wrote %1").arg(file));
}

}  // namespace orrery::app
