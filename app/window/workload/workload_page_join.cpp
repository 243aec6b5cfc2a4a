// The workload page as a page of the window: models that it opens, answers to it, its wishes to the document.

#include "app/document/background.h"
#include "app/document/commands/project_edits.h"
#include "app/window/settings.h"
#include "app/window/studio.h"
#include "app/window/workload/add_workload.h"
#include "app/window/workload/workload_page.h"
#include "widgets/common/text.h"
#include "widgets/graph/graph_view.h"
#include "workload/importers.h"

#include <QFileInfo>
#include <QMimeData>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

namespace {

const QString modelMime = QStringLiteral("application/x-orrery-workload");  ///< of the library's drags

/// What the undo list calls the step from one list of what-ifs to the next.
QString wordsOf(const std::vector<WhatIf>& before, const std::vector<WhatIf>& after) {
    if (after.empty()) return WorkloadPage::tr("Take back the what-ifs");
    for (std::size_t i = 0; i < after.size(); ++i) {
        const bool same = i < before.size() && before[i] == after[i];
        if (!same && after.size() >= before.size())
            return WorkloadPage::tr("What if: %1").arg(ui::qs(orrery::toText(after[i])));
        if (!same) return WorkloadPage::tr("Take back: %1").arg(ui::qs(orrery::toText(before[i])));
    }
    return WorkloadPage::tr("Take back: %1").arg(ui::qs(orrery::toText(before.back())));
}

bool isYaml(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    return ending == QLatin1String("yaml") || ending == QLatin1String("yml");
}

}  // namespace

WorkloadPage::WorkloadPage(Studio& studio, QWidget* parent) : WorkloadPage(&studio.selection, parent) {}

PageCard WorkloadPage::card() const {
    return {QStringLiteral("workload"),
            tr("Workload"),
            tr("The model's operators"),
            QStringLiteral("view-list-tree"),
            {},
            false,
            {}};
}

void WorkloadPage::join(Studio& studio) {
    studio_ = &studio;
    connect(&studio.live, &LiveController::workloadReady, this, &WorkloadPage::setWorkload);
    connect(&studio.live, &LiveController::lateChanged, this, [this] { feed(studio_->live.snapshot()); });
    const auto listRuns = [this] {
        const auto runs = storedRuns(studio_->runs.storeFile());
        if (!runs) studio_->messages.log(Severity::Warning, ui::qs(orrery::toText(runs.error())));
        setRuns(runs.value_or(std::vector<RunChoice>{}));
    };
    connect(&studio.runs, &RunController::finished, this, listRuns);
    connect(&studio.document, &Document::fileChanged, this, listRuns);
    connect(&studio.document, &Document::replaced, this, [this, listRuns] {
        setStored({});
        listRuns();
    });
    connect(&studio, &Studio::ready, this, listRuns);
    connect(this, &WorkloadPage::runChosen, this, &WorkloadPage::showStoredRun);
    connect(this, &WorkloadPage::workloadClicked, &studio.inspection, &Inspection::showWorkload);
    // Who comes here finds the options of the model at hand, unless one operator is looked at.
    connect(studio.router.tabs(), &QTabWidget::currentChanged, this, [this] {
        const bool taken = !studio_->document.workload() || studio_->selection.operators().size() == 1;
        if (studio_->router.front() == this && !taken) studio_->inspection.showWorkload();
    });
    connect(this, &WorkloadPage::whatIfsRequested, this, [this](const std::vector<WhatIf>& all) {
        const Document& document = studio_->document;
        const ProjectWorkload* workload = document.workload();
        if (!workload || workload->recipe.whatIfs == all) return;
        studio_->apply(
            setWhatIfsEdit(*document.state(), document.workloadIndex(), all, wordsOf(workload->recipe.whatIfs, all)));
    });
    connect(this, &WorkloadPage::operatorActivated, this, [this](int op) {
        studio_->selection.select({op});
        studio_->inspection.reveal();
    });
    connect(this, &WorkloadPage::showInRooflineRequested, this,
            [this] { studio_->docks.reveal(QStringLiteral("roofline")); });
    connect(this, &WorkloadPage::refused, &studio.messages, &Messages::complain);
    connect(this, &WorkloadPage::noted, this, [this](const QString& text, const QString& detail) {
        studio_->messages.say(Severity::Note, text, detail, QStringLiteral("workload-page"));
    });
}

void WorkloadPage::showStoredRun(std::int64_t run) {
    const WorkloadPtr workload = studio_->live.workload();
    if (run == 0 || !workload) return setStored({});
    // Estimates of large models are megabytes of JSON: read beside the window.
    reading_.ask([file = studio_->runs.storeFile(), run, workload](
                     std::stop_token, Progress&) { return answersOfRun(file, run, *workload); },
                 [this, workload](Expected<std::vector<ui::StoredAnswers>> answers) {
                     if (studio_->live.workload() != workload) return setStored({});
                     if (!answers) studio_->messages.complain(answers.error());
                     setStored(answers ? std::move(*answers) : std::vector<ui::StoredAnswers>{});
                 });
}

bool WorkloadPage::accepts(const OpenFile& file) const {
    if (file.kind == QLatin1String("workload")) return true;
    if (isYaml(file.path)) return false;
    return std::ranges::any_of(importers(),
                               [&](const Importer& importer) { return importer.accepts(file.path.toStdString()); });
}

std::vector<FileFilter> WorkloadPage::filters() const {
    std::vector<FileFilter> filters;
    for (const Importer& importer : importers()) {
        FileFilter& filter = filters.emplace_back();
        filter.name = QString::fromUtf8(importer.name.data(), qsizetype(importer.name.size()));
        const auto words = QString::fromUtf8(importer.extensions.data(), qsizetype(importer.extensions.size()));
        for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            filter.endings << QLatin1Char('.') + word;
    }
    return filters;
}

// Several files may be read beside each other: all of them were asked for.
void WorkloadPage::open(const QString& path) {
    WorkloadRecipe recipe;
    recipe.source = QFileInfo(path).absoluteFilePath().toStdString();
    const QString key = QStringLiteral("reading ") + path;
    ui::Notification reading;
    reading.text = tr("Reading %1…").arg(QFileInfo(path).fileName());
    reading.key = key;
    reading.dismissAfterMs = 0;
    studio_->messages.notify(reading);
    const auto read = [cache = studio_->cache, recipe](std::stop_token, Progress&) { return cache->get(recipe); };
    Background::once(this, read, [this, path, key](const Expected<WorkloadPtr>& loaded) {
        studio_->messages.dismiss(key);
        if (loaded) {
            take(path, **loaded);
        } else {
            studio_->messages.complain(loaded.error());
        }
        emit opened(path, loaded.has_value());
    });
}

void WorkloadPage::take(const QString& path, const Workload& workload) {
    studio_->problems.setOfFile({});
    const std::string fallback = QFileInfo(path).completeBaseName().toStdString();
    addWorkload(*studio_, {workload.name.empty() ? fallback : workload.name, workload.recipe, {}});
    studio_->messages.log(
        Severity::Note,
        tr("Imported %1: %n operator(s), %2 MACs", nullptr, static_cast<int>(workload.graph.operators.size()))
            .arg(path, QString::fromStdString(formatMeasure(workload.totals.macs, Dimension::Number))));
}

bool WorkloadPage::acceptsDrop(const QMimeData& mime) const {
    return mime.hasFormat(modelMime);
}

void WorkloadPage::drop(const QMimeData& mime) {
    addBuiltinWorkload(*studio_, QString::fromUtf8(mime.data(modelMime)));
}

std::vector<ui::PaletteEntry> WorkloadPage::findable() {
    std::vector<ui::PaletteEntry> entries;
    for (const WorkloadInfo& info : builtinWorkloads()) {
        entries.push_back({QString::fromStdString(info.name),
                           tr("Model"),
                           QString::fromStdString(info.group),
                           {},
                           [this, id = info.id] { addBuiltinWorkload(*studio_, QString::fromStdString(id)); }});
    }
    entries.push_back({tr("One kernel by its fields"),
                       tr("Model"),
                       tr("A matrix product, attention, a convolution; or a network of a search space by its code"),
                       {},
                       [this] { addSpelledWorkload(*studio_, this); }});
    return entries;
}

void WorkloadPage::feed(const ui::SnapshotPtr& snapshot) {
    // Heat of an earlier question would colour operators of this one.
    setSnapshot(studio_->live.late().isEmpty() ? snapshot : nullptr);
}

bool WorkloadPage::goTo(const Place& place) {
    const auto& snapshot = studio_->live.snapshot();
    if (!snapshot) return false;
    const auto& operators = snapshot->scenario.workload->graph.operators;
    const auto found = std::ranges::find(operators, place.path, &Operator::name);
    if (found == operators.end()) return false;
    selection_->select({static_cast<int>(found - operators.begin())});
    return true;
}

}  // namespace orrery::app
