#include "app/window/project_files.h"

#include "app/window/file_kind.h"
#include "app/window/settings.h"
#include "app/window/studio.h"
#include "app/window/welcome/examples.h"
#include "store/project/project.h"
#include "widgets/common/text.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>
#include <QMessageBox>

namespace orrery::app {

ProjectFiles::ProjectFiles(Studio& studio)
    : studio_(studio), autosave_(studio.document, autosaveFolder()), watch_(studio.document) {
    watchDisk();
    connect(&autosave_, &Autosave::failed, this, [this](const Diagnostic& why) {
        studio_.messages.say(Severity::Warning, tr("Autosave failed: %1").arg(ui::windowText(why.message)),
                             tr("Save the project, or free some space in %1.").arg(autosaveFolder()),
                             QStringLiteral("autosave"));
    });
}

void ProjectFiles::addActions() {
    const QString file = tr("File");
    Actions& a = studio_.actions;
    a.add({"fileOpen", file, tr("&Open…"), tr("Open a project, a hardware file, an ONNX model or a config.json"),
           "document-open", QKeySequence::Open},
          [this] { chooseFile(); });
    a.add({"fileSave", file, tr("&Save"), tr("Save the project"), "document-save", QKeySequence::Save},
          [this] { save(); });
    a.add({"fileSaveAs", file, tr("Save &as…"), tr("Save the project in another file"), "document-save-as",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
          [this] { saveAs(); });
}

bool ProjectFiles::maybeSave() {
    if (!studio_.document.isModified()) return true;
    QMessageBox box(QMessageBox::Question, tr("Orrery"), tr("Save the changes to “%1”?").arg(studio_.document.title()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, studio_.window);
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

void ProjectFiles::start(Project project) {
    studio_.document.reset(std::move(project));
    studio_.problems.setOfFile({});
}

void ProjectFiles::openProject(const QString& path) {
    // Read before asking: a file that cannot be opened is no reason to save or lose anything.
    const Expected<LoadedProject> probe = readProjectFile(path.toStdString());
    if (!probe) return studio_.messages.complain(probe.error());
    if (!maybeSave()) return;
    Expected<Diagnostics> loaded = studio_.document.load(path);
    if (!loaded) return studio_.messages.complain(loaded.error());
    addRecent(path);
    studio_.messages.log(Severity::Note, tr("Opened %1").arg(path));
    if (!probe->migratedFrom.empty()) {
        studio_.messages.say(Severity::Note,
                             tr("The project is of an older format (%1) and was brought up to date")
                                 .arg(QString::fromStdString(probe->migratedFrom)),
                             tr("Saving writes the new format."));
    }
    studio_.layouts.showProject();
    studio_.problems.setOfFile(*loaded);
    studio_.inspection.showSelected();
}

void ProjectFiles::openExample(const QString& id) {
    const std::optional<Example> example = exampleById(id);
    if (!example) {
        return studio_.messages.complain({Severity::Error,
                                          "example.unknown",
                                          "there is no example " + id.toStdString(),
                                          "the id of an example in presets/examples",
                                          "see the welcome page",
                                          {}});
    }
    if (example->cases()) return studio_.router.open(example->file);
    Expected<LoadedProject> loaded = readProjectFile(example->file.toStdString());
    if (!loaded) return studio_.messages.complain(loaded.error());
    if (!maybeSave()) return;
    // An example has no file of its own: saving asks for a place, and the example stays as it ships.
    start(std::move(loaded->project));
    studio_.messages.log(Severity::Note, tr("Opened the example %1").arg(example->title));
    if (Page* page = studio_.router.page(example->opens)) {
        studio_.layouts.showProject(page->card().alone);
        studio_.router.show(page);
        studio_.docks.setAside(true);  // also where the page was in front already
    }
    // One that names no page is answered around the drawing, whichever page was in front.
    if (example->opens.isEmpty()) studio_.router.show(QStringLiteral("hardware"));
    emit exampleOpened(*example);
    studio_.layouts.showProject();
    studio_.problems.setOfFile(loaded->warnings);
    studio_.inspection.showSelected();
}

void ProjectFiles::chooseFile() {
    auto* dialog = new QFileDialog(studio_.window, tr("Open"), QFileInfo(studio_.document.file()).absolutePath(),
                                   openFileFilter(studio_.router.filters()));
    dialog->setObjectName(QStringLiteral("openDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
        for (const QString& file : files) studio_.router.open(file);
    });
    dialog->open();
}

bool ProjectFiles::save() {
    Document& document = studio_.document;
    if (document.file().isEmpty()) return saveAs();
    if (!studio_.messages.report(document.save())) return false;
    studio_.messages.log(Severity::Note, tr("Saved %1").arg(document.file()));
    return true;
}

bool ProjectFiles::saveAs() {
    QString file = QFileDialog::getSaveFileName(studio_.window, tr("Save project as"),
                                                studio_.document.title() + QStringLiteral(".yaml"),
                                                tr("Orrery projects (*.yaml)"));
    if (file.isEmpty()) return false;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
    if (!studio_.messages.report(studio_.document.saveAs(file))) return false;
    addRecent(file);
    studio_.messages.log(Severity::Note, tr("Saved %1").arg(file));
    return true;
}

void ProjectFiles::addRecent(const QString& file) {
    addRecentFile(file);
    emit recentChanged();
}

void ProjectFiles::watchDisk() {
    const QString key = QStringLiteral("disk");
    connect(&watch_, &DiskWatch::changedOnDisk, this, [this, key](const QString& file) {
        ui::Notification notice;
        notice.severity = Severity::Warning;
        notice.text = tr("%1 was changed by another program").arg(QFileInfo(file).fileName());
        notice.key = key;
        notice.dismissAfterMs = 0;
        const bool modified = studio_.document.isModified();
        notice.actions.push_back({modified ? tr("Read it, losing my changes") : tr("Read it"), [this, key] {
                                      studio_.messages.dismiss(key);
                                      reload();
                                  }});
        notice.actions.push_back({tr("Keep mine"), [this, key] { studio_.messages.dismiss(key); }});
        studio_.messages.notify(notice);
    });
    connect(&watch_, &DiskWatch::removedFromDisk, this, [this, key](const QString& file) {
        studio_.messages.say(Severity::Warning, tr("%1 is no longer on disk").arg(QFileInfo(file).fileName()),
                             tr("The project is still open: save it to write the file again."), key);
    });
}

void ProjectFiles::reload() {
    const QString file = studio_.document.file();
    if (Expected<Diagnostics> loaded = studio_.document.load(file); !loaded) {
        studio_.messages.complain(loaded.error());
    } else {
        studio_.messages.log(Severity::Note, tr("Read %1 again").arg(file));
    }
}

void ProjectFiles::offerRecovery() {
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
                                     studio_.messages.dismiss(found.copy);
                                 }});
        studio_.messages.notify(offer);
    }
}

void ProjectFiles::recover(const QString& copy, const QString& original) {
    Expected<LoadedProject> loaded = readProjectFile(copy.toStdString());
    if (!loaded) return studio_.messages.complain(loaded.error());
    if (!maybeSave()) return;
    studio_.document.reset(std::move(loaded->project), original, true);
    studio_.messages.dismiss(copy);
    autosave_.writeNow();  // the old copy goes only when the work is safe again
    autosave_.waitForWrite();
    Autosave::discard({copy, original, {}});
    studio_.messages.log(Severity::Note, tr("Recovered unsaved work"));
    studio_.layouts.showProject();
}

}  // namespace orrery::app
