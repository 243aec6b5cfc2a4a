// The serving page as a page of the window: the document's question, and what a person makes of it.

#include "app/document/commands/serving_edits.h"
#include "app/window/exports.h"
#include "app/window/serving/serving_figures.h"
#include "app/window/serving/serving_page.h"
#include "app/window/shown_export.h"
#include "app/window/studio.h"
#include "base/text/latex_table.h"
#include "store/export/serving_trace.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/fleet_picture.h"
#include "widgets/serving/line_plot.h"
#include "workload/models/transformer_source.h"

#include <QDir>
#include <QTabWidget>

namespace orrery::app {

PageCard ServingPage::card() const {
    return {QStringLiteral("serving"),
            tr("Serving"),
            tr("A fleet under traffic: latencies, throughput, SLO attainment"),
            QStringLiteral("network-server"),
            {},
            true,
            {},
            true};
}

void ServingPage::join(Studio& studio) {
    studio_ = &studio;
    connect(&studio.document, &Document::replaced, this, &ServingPage::forget);
    for (const auto signal : {&Document::hardwareChanged, &Document::workloadChanged, &Document::scenarioChanged,
                              &Document::layoutChanged, &Document::servingChanged, &Document::replaced})
        connect(&studio.document, signal, this, &ServingPage::followDocument);
    // What is dragged, or typed in one go, is one entry of the undo list.
    connect(this, &ServingPage::edited, this,
            [this, since = QElapsedTimer(), gesture = 0](const ServingStudy& study) mutable {
                if (!since.isValid() || since.elapsed() > 800) gesture = studio_->document.newGesture();
                since.start();
                studio_->apply(setServingEdit(*studio_->document.state(), study, usual()), gesture);
            });
}

void ServingPage::followDocument() {
    const ProjectState& state = *studio_->document.state();
    const auto& study = state.serving;
    const int named = study ? state.hardwareIndex(study->hardware) : -1;
    setHardware(named < 0 ? studio_->document.hardware() : state.hardware[static_cast<std::size_t>(named)],
                named < 0 ? studio_->document.placements() : state.placementsOf(named));
    setQuestion(study ? *study : usual());
}

ServingStudy ServingPage::usual() {
    const ProjectWorkload* workload = studio_->document.workload();
    const std::string source = workload ? workload->recipe.source : std::string();
    if (source != model_.first) model_ = {source, transformerConfig(source).has_value()};
    return usualQuestion(hardware_, model_.second ? source : std::string());
}

// What answers another question is not reported as an answer to this one, whether it is dimmed already or not.
bool ServingPage::showsAnswer() const {
    return form_ && !runs_.empty() && !outdated_;
}

Expected<QStringList> ServingPage::report(const QString& folder) {
    if (!showsAnswer()) return QStringList();
    QStringList files;
    const auto put = [&](const char* name, const std::string& text) -> Expected<void> {
        const QString file = QDir(folder).filePath(QLatin1String(name));
        Expected<void> saved = saveFileAtomically(file.toStdString(), text);
        if (saved) files << file;
        return saved;
    };
    if (auto done = put("serving.csv", csvOf(*figures_)); !done) return Unexpected(done.error());
    if (auto done = put("serving.tex", latexTable(csvOf(*figures_))); !done) return Unexpected(done.error());
    if (auto done = put("serving.yaml", writeServing(question_)); !done) return Unexpected(done.error());
    if (auto done = put("serving-timeline.json", trace()); !done) return Unexpected(done.error());
    for (const auto& [name, view] :
         {std::pair<const char*, QWidget*>{"serving-fleet.png", fleet_}, {"serving-latency.svg", latency_}}) {
        const QString file = QDir(folder).filePath(QLatin1String(name));
        if (const QString problem = writeShown(file, {{}, view, {}, {}}); !problem.isEmpty())
            return Unexpected(exportFailed(file, problem));
        files << file;
    }
    return files;
}

std::string ServingPage::trace() const {
    std::vector<TracedRun> all;
    for (const auto& run : runs_) all.push_back({run->result, *run->fleet, run->name.toStdString()});
    return servingTrace(all);
}

void ServingPage::exportFront() {
    if (!showsAnswer()) {
        studio_->messages.say(Severity::Note, tr("There is no answer to export yet"), {},
                              QStringLiteral("serving.export"));
        return;
    }
    exportShown(*studio_, {QStringLiteral("serving"), tabs_->currentWidget(), [this] { return csvOf(*figures_); },
                           [this] { return trace(); }});
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
