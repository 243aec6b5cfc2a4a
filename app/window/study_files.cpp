#include "app/window/study_files.h"

#include "app/document/background.h"
#include "app/window/studio.h"
#include "store/project/study_to_project.h"

namespace orrery::app {

namespace {

struct OpenedStudy {
    Project project;
    Diagnostics warnings;
};

Expected<OpenedStudy> readAsProject(const std::string& path) {
    auto loaded = readStudyFile(path);
    if (!loaded) return Unexpected(std::move(loaded.error()));
    auto project = projectOfStudy(loaded->study);
    if (!project) {
        Diagnostic why = std::move(project.error());
        why.place.file = path;
        return Unexpected(std::move(why));
    }
    return OpenedStudy{std::move(*project), std::move(loaded->warnings)};
}

}  // namespace

void openStudy(Studio& studio, const QString& path) {
    studio.messages.log(Severity::Note, QObject::tr("Reading the study %1").arg(path));
    Background::once(
        &studio.files, [path](std::stop_token, Progress&) { return readAsProject(path.toStdString()); },
        [&studio, path](Expected<OpenedStudy> read) {
            if (!read) return studio.messages.complain(read.error());
            if (!studio.files.maybeSave()) return;
            studio.files.start(std::move(read->project));
            studio.messages.log(Severity::Note, QObject::tr("Opened the study %1").arg(path));
            studio.layouts.showProject();
            studio.problems.setOfFile(read->warnings);
            studio.inspection.showSelected();
        });
}

}  // namespace orrery::app
