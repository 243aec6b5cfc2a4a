// The serving page as a page of the window: the document's question, and what a person makes of it.

#include "app/document/commands/serving_edits.h"
#include "app/window/serving/serving_page.h"
#include "app/window/studio.h"
#include "store/project/serving_file.h"

namespace orrery::app {

PageCard ServingPage::card() const {
    return {QStringLiteral("serving"),
            tr("Serving"),
            tr("A fleet under traffic: what its users will see"),
            QStringLiteral("network-server"),
            {},
            true,
            {}};
}

void ServingPage::join(Studio& studio) {
    studio_ = &studio;
    for (const auto signal :
         {&Document::hardwareChanged, &Document::layoutChanged, &Document::servingChanged, &Document::replaced})
        connect(&studio.document, signal, this, &ServingPage::followDocument);
    // What is dragged, or typed in one go, is one entry of the undo list.
    connect(this, &ServingPage::edited, this,
            [this, since = QElapsedTimer(), gesture = 0](const ServingStudy& study) mutable {
                if (!since.isValid() || since.elapsed() > 800) gesture = studio_->document.newGesture();
                since.start();
                studio_->apply(setServingEdit(*studio_->document.state(), study, usualQuestion()), gesture);
            });
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this](const Example& example) {
        if (!example.serving) return;
        studio_->layouts.showProject();
        studio_->router.show(this);
        studio_->docks.setAside(true);  // also where the page was in front already
    });
}

void ServingPage::followDocument() {
    const ProjectState& state = *studio_->document.state();
    const auto& study = state.serving;
    const int named = study ? state.hardwareIndex(study->hardware) : -1;
    setHardware(named < 0 ? studio_->document.hardware() : state.hardware[static_cast<std::size_t>(named)],
                named < 0 ? studio_->document.placements() : state.placementsOf(named));
    setQuestion(study ? *study : usualQuestion());
}

bool ServingPage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("serving");
}

void ServingPage::open(const QString& path) {
    Expected<LoadedServing> loaded = readServingFile(path.toStdString());
    if (!loaded) {
        studio_->messages.complain(loaded.error());
        emit opened(path, false);
        return;
    }
    ServingStudy study = std::move(loaded->study);
    // A file of its own names a device of the catalogue; in a project, `hardware` is one of its designs.
    if (studio_->document.state()->hardwareIndex(study.hardware) < 0) {
        for (PoolSpec& pool : study.scenario.pools)
            if (pool.hardware.empty()) pool.hardware = study.hardware;
        study.hardware.clear();
    }
    const bool added = studio_->apply(setServingEdit(*studio_->document.state(), study));
    if (added) {
        studio_->files.addRecent(path);
        studio_->messages.log(Severity::Note, tr("Opened %1").arg(path));
        studio_->problems.setOfFile(loaded->warnings);
        studio_->router.show(this);
    }
    emit opened(path, added);
}

}  // namespace orrery::app
