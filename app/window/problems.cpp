#include "app/window/problems.h"

#include "app/window/studio.h"
#include "widgets/common/text.h"
#include "widgets/messages/problems_panel.h"

#include <QListView>
#include <QTimer>

namespace orrery::app {
namespace {

/// What several methods miss is one problem, and one that the design's own check says already is not said twice.
void addFailures(const ui::Snapshot& snapshot, Diagnostics& all) {
    std::vector<std::pair<Diagnostic, int>> failures;
    for (const ui::Answer& answer : snapshot.answers) {
        if (!answer.failure) continue;
        Diagnostic failure = *answer.failure;
        // Nothing is wrong with a model that a method is not made for.
        if (!answer.failed()) failure.severity = Severity::Note;
        const auto same = std::ranges::find_if(failures, [&](const auto& each) { return each.first == failure; });
        if (same == failures.end())
            failures.emplace_back(std::move(failure), 1);
        else
            ++same->second;
    }
    for (auto& [failure, methods] : failures) {
        std::erase_if(all, [&](const Diagnostic& said) {
            return said.code == "hardware.missing-attribute" && said.place.path == failure.place.path &&
                   said.severity < failure.severity;
        });
        if (methods > 1) {
            if (!failure.hint.empty()) failure.hint += "; ";
            failure.hint += Problems::tr("%n methods say so", nullptr, methods).toStdString();
        }
        all.push_back(std::move(failure));
    }
}

}  // namespace

Problems::Problems(Studio& studio) : studio_(studio) {
    connect(&studio.messages, &Messages::complained, this, [this](const Diagnostic& why) {
        if (why.place.file.empty()) return;
        std::erase(ofFile_, why);
        ofFile_.push_back(why);
        refresh();
    });
    connect(&studio.document, &Document::problemsChanged, this, &Problems::refresh);
    connect(&studio.document, &Document::replaced, this, [this] { live_.reset(); });
    connect(&studio.live, &LiveController::snapshotReady, this, [this](const ui::SnapshotPtr& snapshot) {
        if (snapshot) live_.reset();
        refresh();
    });
    connect(&studio.live, &LiveController::failed, this, [this](const Diagnostic& why) {
        live_ = why;
        refresh();
    });
}

void Problems::addDock() {
    studio_.docks.add(
        QStringLiteral("problems"), tr("Problems"), tr("What is wrong and what to do"), [this](QWidget* parent) {
            panel_ = new ui::ProblemsPanel(parent);
            panel_->list()->setToolTip(tr("Enter goes to the place; Ctrl+C copies"));
            connect(panel_, &ui::ProblemsPanel::jumpTo, this, &Problems::goTo);
            connect(panel_, &ui::ProblemsPanel::fixRequested, this, &Problems::fixRequested);
            connect(panel_, &ui::ProblemsPanel::countsChanged, this, [this](int errors, int warnings) {
                QStringList parts;
                if (errors > 0) parts << tr("%n error(s)", nullptr, errors);
                if (warnings > 0) parts << tr("%n warning(s)", nullptr, warnings);
                studio_.docks.dock(QStringLiteral("problems"))->setTitleNote(parts.join(QStringLiteral(", ")));
            });
            QTimer::singleShot(0, this, &Problems::refresh);
            return panel_.data();
        });
}

void Problems::setOfFile(Diagnostics found) {
    ofFile_ = std::move(found);
    refresh();
}

Diagnostics Problems::current() const {
    const Document& document = studio_.document;
    Diagnostics all = ofFile_;
    all.insert(all.end(), document.problems().begin(), document.problems().end());
    if (live_) all.push_back(*live_);
    if (const auto& snapshot = studio_.live.snapshot()) {
        addFailures(*snapshot, all);
        const Diagnostics& warnings = snapshot->scenario.workload->warnings;
        all.insert(all.end(), warnings.begin(), warnings.end());
        if (const Estimate* primary = snapshot->primaryEstimate()) {
            // Some methods pass on what was said of the model.
            std::ranges::copy_if(primary->warnings, std::back_inserter(all), [&](const Diagnostic& said) {
                return std::ranges::find(warnings, said) == warnings.end();
            });
        }
    }
    return all;
}

void Problems::refresh() {
    if (!panel_) return;
    panel_->setDesign(studio_.document.hardware());
    panel_->setDiagnostics(current());
}

void Problems::goTo(const Place& place) {
    if (!place.path.empty()) studio_.router.goTo(place);
}

void Problems::fixRequested(const Diagnostic& problem, int fix) {
    const HardwarePtr design = studio_.document.hardware();
    if (!design) return;
    const std::vector<Fix> fixes = fixesFor(*design, problem);
    if (fix >= 0 && fix < static_cast<int>(fixes.size())) applyFix(studio_, fixes[static_cast<std::size_t>(fix)]);
}

void applyFix(Studio& studio, const Fix& fix) {
    const Document& document = studio.document;
    Expected<Hardware> mended = fix.apply(*document.hardware());
    if (!mended) return studio.messages.complain(mended.error());
    Edit edit{*document.state(), ui::windowText(fix.title), {}, {}, {}};
    edit.after.hardware[static_cast<std::size_t>(document.hardwareIndex())] =
        std::make_shared<const Hardware>(std::move(*mended));
    studio.apply(std::move(edit));
}

}  // namespace orrery::app
