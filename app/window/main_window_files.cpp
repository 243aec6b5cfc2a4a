#include "app/document/autosave.h"
#include "app/document/background.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/serving_edits.h"
#include "app/document/workload_cache.h"
#include "app/window/example_pictures.h"
#include "app/window/examples.h"
#include "app/window/file_kind.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/serving/serving_page.h"
#include "app/window/workload/workload_page.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "store/project/serving_file.h"
#include "widgets/messages/notification_bar.h"
#include "widgets/welcome/welcome_page.h"

#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

namespace {

// MIME types of the library's drags.
const QString hardwareMime = QStringLiteral("application/x-orrery-hardware");
const QString workloadMime = QStringLiteral("application/x-orrery-workload");

WorkloadRecipe fileRecipe(const QString& path) {
    WorkloadRecipe recipe;
    recipe.source = QFileInfo(path).absoluteFilePath().toStdString();
    return recipe;
}

// Prices kernels of GPUs, of no other device.
bool ofGpus(const MethodCard& card) {
    const auto& platforms = card.platforms;
    return findKernelMethod(card.id) && std::find(platforms.begin(), platforms.end(), "GPU") != platforms.end();
}

}  // namespace

std::vector<std::string> MainWindow::usualMethods() {
    // Of the methods that price kernels of GPUs, the most exact one is enough to begin with.
    constexpr std::string_view bestOfKernels = "tile-hybrid";
    std::vector<std::string> ids;
    for (const Method& method : builtinMethods()) {
        const bool usual = method.card.id == bestOfKernels || !ofGpus(method.card);
        if (method.card.live && usual) ids.emplace_back(method.card.id);
    }
    return ids;
}

bool MainWindow::maybeSave() {
    if (!document_->isModified()) return true;
    QMessageBox box(QMessageBox::Question, tr("Orrery"), tr("Save the changes to %1?").arg(document_->title()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setObjectName(QStringLiteral("saveQuestion"));
    box.setInformativeText(tr("What is not saved is lost."));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
        case QMessageBox::Save:
            return save();
        case QMessageBox::Discard:
            return true;
        default:
            return false;
    }
}

void MainWindow::openFile(const QString& path) {
    const Expected<FileKind> kind = fileKind(path);
    if (!kind) return complain(kind.error());
    switch (*kind) {
        case FileKind::Project:
            return openProject(path);
        case FileKind::Hardware:
            return openHardware(path);
        case FileKind::Workload:
            return openModel(path);
        case FileKind::Serving:
            return openServing(path);
    }
}

void MainWindow::openServing(const QString& path) {
    Expected<LoadedServing> loaded = readServingFile(path.toStdString());
    if (!loaded) return complain(loaded.error());
    fileProblems_ = loaded->warnings;
    ServingStudy study = std::move(loaded->study);
    // A file of its own names a device of the catalogue; in a project, `hardware` is one of its designs.
    if (document_->state()->hardwareIndex(study.hardware) < 0) {
        for (PoolSpec& pool : study.scenario.pools)
            if (pool.hardware.empty()) pool.hardware = study.hardware;
        study.hardware.clear();
    }
    if (!report(document_->apply(setServingEdit(*document_->state(), study)))) return;
    addRecentFile(path);
    fillWelcome();
    log(Severity::Note, tr("Opened %1").arg(path));
    refreshProblems();
    documents_->setCurrentWidget(servingPage_);
}

void MainWindow::openProject(const QString& path) {
    // Read before asking: a file that cannot be opened is no reason to save or lose anything.
    const Expected<LoadedProject> probe = readProjectFile(path.toStdString());
    if (!probe) return complain(probe.error());
    if (!maybeSave()) return;
    Expected<Diagnostics> loaded = document_->load(path);
    if (!loaded) return complain(loaded.error());
    fileProblems_ = *loaded;
    addRecentFile(path);
    fillWelcome();
    log(Severity::Note, tr("Opened %1").arg(path));
    if (!probe->migratedFrom.empty()) {
        say(Severity::Note,
            tr("The project is of an older format (%1) and was brought up to date")
                .arg(QString::fromStdString(probe->migratedFrom)),
            tr("Saving writes the new format."));
    }
    showProject();
    refreshProblems();
    inspectComponent(components_.current());
}

void MainWindow::openExample(const QString& id) {
    const std::optional<Example> example = exampleById(id);
    if (!example) {
        return complain({Severity::Error,
                         "example.unknown",
                         "there is no example " + id.toStdString(),
                         "the id of an example in presets/examples",
                         "see the welcome page",
                         {}});
    }
    Expected<LoadedProject> loaded = readProjectFile(example->file.toStdString());
    if (!loaded) return complain(loaded.error());
    if (!maybeSave()) return;
    // An example has no file of its own: saving asks for a place, and the example stays as it ships.
    document_->reset(std::move(loaded->project));
    fileProblems_ = loaded->warnings;
    log(Severity::Note, tr("Opened the example %1").arg(example->title));
    if (example->drawing) {
        setLayoutMode(Layout::Draw);
        documents_->setCurrentWidget(hardwarePage_);
    }
    showProject();
    if (example->serving) {
        documents_->setCurrentWidget(servingPage_);
        docks_->setAside(true);  // also where the page was in front already
    }
    refreshProblems();
    inspectComponent(components_.current());
}

void MainWindow::openHardware(const QString& path) {
    Expected<LoadedHardware> loaded = readHardwareFile(path.toStdString());
    if (!loaded) return complain(loaded.error());
    fileProblems_ = loaded->warnings;
    addHardware(std::move(loaded->hardware));
}

void MainWindow::openModel(const QString& path) {
    const QString name = QFileInfo(path).fileName();
    const QString key = QStringLiteral("reading ") + path;
    ui::Notification reading;
    reading.text = tr("Reading %1…").arg(name);
    reading.key = key;
    reading.dismissAfterMs = 0;
    notifications_->notify(reading);
    const auto read = [cache = cache_, recipe = fileRecipe(path)](std::stop_token, Progress&) {
        return cache->get(recipe);
    };
    Background::once(this, read, [this, path, key](const Expected<WorkloadPtr>& loaded) {
        notifications_->dismissKey(key);
        if (!loaded) {
            complain(loaded.error());
            emit modelOpened(path, false);
            return;
        }
        fileProblems_.clear();
        const Workload& workload = **loaded;
        const std::string fallback = QFileInfo(path).completeBaseName().toStdString();
        addWorkload({workload.name.empty() ? fallback : workload.name, workload.recipe, {}});
        log(Severity::Note,
            tr("Imported %1: %n operator(s), %2 MACs", nullptr, static_cast<int>(workload.graph.operators.size()))
                .arg(path, QString::fromStdString(formatMeasure(workload.totals.macs, Dimension::Number))));
        emit modelOpened(path, true);
    });
}

void MainWindow::addWorkload(ProjectWorkload workload) {
    QUndoStack* stack = document_->undoStack();
    stack->beginMacro(tr("Add %1").arg(QString::fromStdString(workload.name)));
    const bool added = report(document_->apply(addWorkloadEdit(*document_->state(), std::move(workload))));
    if (added) makeAnswerable();
    stack->endMacro();
    if (!added) return;
    showProject();
    documents_->setCurrentWidget(workloadPage_);
    inspectWorkload();
}

void MainWindow::addHardware(Hardware design) {
    // A preset that is in the project already is shown, not added again.
    const int there = document_->state()->hardwareIndex(design.name);
    if (there >= 0 && *document_->state()->hardware[static_cast<std::size_t>(there)] == design) {
        const auto workload =
            document_->state()->scenarios.empty() ? std::string() : document_->state()->scenarios.front().workload;
        if (!workload.empty())
            report(document_->apply(chooseScenarioEdit(*document_->state(), {design.name, workload, {}})));
    } else {
        QUndoStack* stack = document_->undoStack();
        stack->beginMacro(tr("Add %1").arg(QString::fromStdString(design.name)));
        // An empty sheet gives way to the first device that is chosen.
        const HardwarePtr shown = document_->hardware();
        const bool blank = shown && shown->root.children.empty();
        const ProjectState& state = *document_->state();
        const bool added =
            report(document_->apply(blank ? replaceHardwareEdit(state, document_->hardwareIndex(), std::move(design))
                                          : addHardwareEdit(state, std::move(design))));
        if (added) makeAnswerable();
        stack->endMacro();
        if (!added) return;
    }
    showProject();
    documents_->setCurrentWidget(hardwarePage_);
    inspectComponent(components_.current());
}

void MainWindow::makeAnswerable() {
    const ProjectState& state = *document_->state();
    if (state.methods.empty()) report(document_->apply(setMethodsEdit(state, usualMethods())));
    if (document_->state()->hardware.empty()) {
        if (Expected<LoadedHardware> usual = loadHardware("h100-sxm")) {
            report(document_->apply(addHardwareEdit(*document_->state(), std::move(usual->hardware))));
        }
    }
}

void MainWindow::addCatalogueHardware(const QString& id) {
    Expected<LoadedHardware> loaded = loadHardware(id.toStdString());
    if (!loaded) return complain(loaded.error());
    addHardware(std::move(loaded->hardware));
}

void MainWindow::addBuiltinWorkload(const QString& id) {
    const WorkloadInfo* info = builtinWorkload(id.toStdString());
    if (!info) {
        return complain({Severity::Error,
                         "workload.unknown",
                         "there is no model " + id.toStdString(),
                         {},
                         "choose one of the library",
                         {}});
    }
    addWorkload({info->name, {info->id, info->usual}, {}});
}

void MainWindow::chooseFile() {
    auto* dialog = new QFileDialog(this, tr("Open"), QFileInfo(document_->file()).absolutePath(), openFileFilter());
    dialog->setObjectName(QStringLiteral("openDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
        for (const QString& file : files) openFile(file);
    });
    dialog->open();
}

bool MainWindow::save() {
    if (document_->file().isEmpty()) return saveAs();
    if (Expected<void> saved = document_->save(); !saved) {
        complain(saved.error());
        return false;
    }
    log(Severity::Note, tr("Saved %1").arg(document_->file()));
    return true;
}

bool MainWindow::saveAs() {
    QString file = QFileDialog::getSaveFileName(
        this, tr("Save project as"), document_->title() + QStringLiteral(".yaml"), tr("Orrery projects (*.yaml)"));
    if (file.isEmpty()) return false;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
    if (Expected<void> saved = document_->saveAs(file); !saved) {
        complain(saved.error());
        return false;
    }
    addRecentFile(file);
    fillWelcome();
    log(Severity::Note, tr("Saved %1").arg(file));
    return true;
}

void MainWindow::reloadFromDisk() {
    const QString file = document_->file();
    if (Expected<Diagnostics> loaded = document_->load(file); !loaded) {
        complain(loaded.error());
    } else {
        log(Severity::Note, tr("Read %1 again").arg(file));
    }
}

void MainWindow::offerRecovery() {
    for (const Recovery& found : Autosave::abandoned(autosaveFolder())) {
        const QString name =
            found.original.isEmpty() ? tr("a project that was never saved") : QFileInfo(found.original).fileName();
        ui::Notification offer;
        offer.severity = Severity::Warning;
        offer.text = tr("Orrery ended unexpectedly; unsaved work on %1 was kept (%2)").arg(name, found.when);
        offer.key = found.copy;
        offer.dismissAfterMs = 0;
        offer.actions.push_back({tr("Recover"), [this, found] { recover(found.copy, found.original); }});
        offer.actions.push_back({tr("Discard"), [this, found] {
                                     Autosave::discard(found);
                                     notifications_->dismissKey(found.copy);
                                 }});
        notifications_->notify(offer);
    }
}

void MainWindow::recover(const QString& copy, const QString& original) {
    Expected<LoadedProject> loaded = readProjectFile(copy.toStdString());
    if (!loaded) return complain(loaded.error());
    if (!maybeSave()) return;
    document_->reset(std::move(loaded->project), original, true);
    notifications_->dismissKey(copy);
    autosave_->writeNow();  // the old copy goes only when the work is safe again
    autosave_->waitForWrite();
    Autosave::discard({copy, original, {}});
    log(Severity::Note, tr("Recovered unsaved work"));
    showProject();
}

void MainWindow::fillWelcome() {
    std::vector<ui::ExampleCard> cards;
    for (const Example& example : examples()) {
        cards.push_back({example.id, example.title, example.description, pictures_->picture(example.id), example.file});
    }
    welcome_->setExamples(cards);
    std::vector<ui::RecentProject> recent;
    for (const QString& file : recentFiles()) recent.push_back({file, {}, {}, QFileInfo::exists(file)});
    welcome_->setRecent(recent);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!maybeSave()) return event->ignore();
    docks_->remember();
    openSettings()->setValue("window/geometry", saveGeometry());
    // What the person chose to discard is not to come back as recovered work.
    autosave_->forget();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QMimeData* mime = event->mimeData();
    if (mime->hasUrls() || mime->hasFormat(hardwareMime) || mime->hasFormat(workloadMime))
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QMimeData* mime = event->mimeData();
    if (mime->hasFormat(hardwareMime)) addCatalogueHardware(QString::fromUtf8(mime->data(hardwareMime)));
    if (mime->hasFormat(workloadMime)) addBuiltinWorkload(QString::fromUtf8(mime->data(workloadMime)));
    for (const QUrl& url : mime->urls()) openFile(url.toLocalFile());
    event->acceptProposedAction();
}

}  // namespace orrery::app
