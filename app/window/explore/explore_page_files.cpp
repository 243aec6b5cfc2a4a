// The views of a search as files, and search files as questions.

#include "app/document/commands/search_edits.h"
#include "app/window/explore/explore_page.h"
#include "app/window/explore/explore_text.h"
#include "app/window/exports.h"
#include "app/window/studio.h"
#include "base/text/csv_cell.h"
#include "base/text/latex_table.h"
#include "store/project/search_file.h"
#include "widgets/common/picture_file.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/history_plot.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <QFileInfo>
#include <QMenu>
#include <QTabWidget>

#include <fmt/format.h>

#include <cmath>

namespace orrery::app {

namespace {

std::string line(const std::vector<std::string>& cells) {
    std::string text;
    for (const std::string& cell : cells) {
        if (&cell != &cells.front()) text += ',';
        text += csvCell(cell);
    }
    return text + "\r\n";
}

}  // namespace

SearchOutcome ExplorePage::outcome() const {
    return {.name = studio_.document.title().toStdString(),
            .problem = problem_.get(),
            .agent = *searchAgent(run_->agent),
            .evaluations = view_->seen,
            .base = drawn_};
}

std::string ExplorePage::tableOfView(int tab) const {
    std::string text;
    if (tab == EffectsTab) {
        text = line({"knob", "lowest", "ratio at lowest", "highest", "ratio at highest"});
        for (const ui::EffectBar& bar : effects_->bars()) {
            text += line({bar.name.toStdString(), bar.lowText.toStdString(), fmt::format("{}", bar.low),
                          bar.highText.toStdString(), fmt::format("{}", bar.high)});
        }
        return text;
    }
    if (tab == HistoryTab) {
        std::vector<std::string> cells{"points"};
        for (const ui::HistoryCurve& curve : history_->curves()) cells.push_back(curve.name.toStdString());
        text = line(cells);
        for (std::size_t i = 0; i < history_->evaluations().size(); ++i) {
            cells = {std::to_string(history_->evaluations()[i])};
            for (const ui::HistoryCurve& curve : history_->curves())
                cells.push_back(std::isfinite(curve.share[i]) ? fmt::format("{}", curve.share[i]) : std::string());
            text += line(cells);
        }
        return text;
    }
    if (tab == RefusedTab) {
        text = line({"points", "refusal", "example"});
        for (const ExploreView::Refused& each : view_->refused)
            text +=
                line({std::to_string(each.points), each.why, problem_->space.labelAt(view_->seen.points[each.first])});
        return text;
    }
    SearchOutcome front = outcome();
    PointAnswers kept;
    for (std::size_t i = 0; i < view_->seen.size(); ++i)
        if (tab == FrontTab ? view_->plot->places[i] == ui::PointPlace::Front : parallel_->isKept(i))
            kept.add(view_->seen.at(i));
    front.evaluations = std::move(kept);
    return searchCsv(front);
}

QString ExplorePage::written(const QString& file, int tab) const {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("csv") || ending == QLatin1String("json") || ending == QLatin1String("tex")) {
        std::string text = ending == QLatin1String("json") ? searchJson(outcome())
                           : tab < 0                       ? searchCsv(outcome())
                                                           : tableOfView(tab);
        if (ending == QLatin1String("tex")) text = latexTable(text);
        return ui::writeText(file, QByteArray::fromStdString(text));
    }
    switch (tab) {
        case ParallelTab:
            return parallel_->exportTo(file);
        case EffectsTab:
            return effects_->exportTo(file);
        case HistoryTab:
            return history_->exportTo(file);
        default:
            return plot_->exportTo(file);
    }
}

void ExplorePage::fillExports(QMenu* menu) {
    menu->clear();
    const int tab = tabs_->currentIndex();
    const QString view = tabs_->tabText(tab);
    static const char* const names[]{"front", "lines", "knobs", "history", "refused"};
    const QString name = QLatin1String(names[tab]);
    const auto add = [&](const char* id, const QString& text, const QString& file, const QString& filter, int of) {
        QAction* action =
            menu->addAction(text, this, [this, text, file, filter, of] { exportAs(text, file, filter, of); });
        action->setObjectName(QLatin1String(id));
    };
    if (tab != RefusedTab) {
        add("explore.export.picture", tr("%1 as a picture …").arg(view), name + QStringLiteral(".svg"),
            tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png)"), tab);
    }
    add("explore.export.table", tr("%1 as CSV or LaTeX …").arg(view), name + QStringLiteral(".csv"),
        tr("CSV (*.csv);;TEX table (*.tex)"), tab);
    menu->addSeparator();
    add("explore.export.points", tr("All points as CSV …"), QStringLiteral("points.csv"), tr("CSV (*.csv)"), -1);
    add("explore.export.json", tr("All of it as JSON …"), QStringLiteral("search.json"), tr("JSON (*.json)"), -1);
}

void ExplorePage::exportAs(const QString& title, const QString& name, const QString& filter, int tab) {
    if (!view_) return;
    exportWith(studio_, *tabs_, title, name, filter, [this, tab](const QString& file) { return written(file, tab); });
}

bool ExplorePage::showsAnswer() const {
    return view_ && problem_ && plot_ && !isBusy() && answers(exploreQuestion(studio_.document));
}

Expected<QStringList> ExplorePage::report(const QString& folder) {
    if (!showsAnswer()) return QStringList();
    QStringList files;
    for (const auto& [name, tab] : {std::pair{"search.svg", static_cast<int>(FrontTab)}, {"search.csv", -1}}) {
        const QString file = folder + QLatin1Char('/') + QLatin1String(name);
        if (const QString problem = written(file, tab); !problem.isEmpty())
            return Unexpected(exportFailed(file, problem));
        files << file;
    }
    return files;
}

bool ExplorePage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("search");
}

// The question of the file becomes the project's, with its knobs: one step of the undo list.
void ExplorePage::open(const QString& path) {
    auto loaded = readSearchFile(path.toStdString());
    if (!loaded) {
        studio_.messages.complain(loaded.error());
        emit opened(path, false);
        return;
    }
    if (loaded->problem.source) {
        studio_.messages.complain({Severity::Error,
                                   "explore.table",
                                   "a search over a table has no design to show in the window",
                                   "a search of a drawing",
                                   "`orrery-cli search FILE` answers it",
                                   {path.toStdString(), 0, 0, {}}});
        emit opened(path, false);
        return;
    }
    const bool made = studio_.apply(openSearchEdit(*studio_.document.state(), loaded->problem.space.base(),
                                                   loaded->settings, QString::fromStdString(loaded->name)));
    if (made) {
        studio_.layouts.showProject();
        studio_.router.show(this);
        studio_.docks.setAside(true);
        studio_.messages.log(Severity::Note, tr("Opened %1").arg(path));
    }
    emit opened(path, made);
}

}  // namespace orrery::app
