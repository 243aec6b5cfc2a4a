#include "app/window/result_docks.h"

#include "app/document/commands/project_edits.h"
#include "app/window/exports.h"
#include "app/window/lack.h"
#include "app/window/studio.h"
#include "widgets/common/veil.h"
#include "widgets/comparison/comparison_view.h"
#include "widgets/comparison/operator_table.h"
#include "widgets/evidence/why_view.h"
#include "widgets/plots/breakdown_view.h"
#include "widgets/plots/memory_view.h"
#include "widgets/plots/roofline_plot.h"
#include "widgets/plots/timeline_view.h"

#include <QMainWindow>
#include <QTableView>

#include <algorithm>

namespace orrery::app {

template <class View>
void ResultDocks::addView(const QString& id, const QString& title, const QString& meaning) {
    Dock* dock = studio_.docks.add(id, title, meaning, [this](QWidget* parent) -> QWidget* {
        auto* view = new View(&studio_.selection, parent);
        wire(view);
        return view;
    });
    connect(dock, &Dock::exportRequested, this, [this](ui::ResultView* view) { exportView(studio_, view); });
    connect(dock, &Dock::copyRequested, this, [this](ui::ResultView* view) { copyView(studio_, view); });
}

void ResultDocks::add() {
    addView<ui::RooflinePlot>(QStringLiteral("roofline"), tr("Roofline"),
                              tr("Operators against what the device can do"));
    addView<ui::TimelineView>(QStringLiteral("timeline"), tr("Timeline"), tr("When each operator runs"));
    addView<ui::ComparisonView>(QStringLiteral("comparison"), tr("Comparison"), tr("The methods side by side"));
    addView<ui::BreakdownView>(QStringLiteral("breakdown"), tr("Breakdown"), tr("Where the time goes"));
    addView<ui::OperatorTableView>(QStringLiteral("operators"), tr("Operators"),
                                   tr("Every operator as a row of a table"));
    addView<ui::MemoryView>(QStringLiteral("memory"), tr("Memory"), tr("What must fit, and whether it does"));
    addView<ui::WhyView>(QStringLiteral("why"), tr("Why"), tr("The terms of the selected operator's time"));
}

const QStringList& ResultDocks::ids() {
    static const QStringList ids = {QStringLiteral("roofline"),   QStringLiteral("timeline"),
                                    QStringLiteral("comparison"), QStringLiteral("breakdown"),
                                    QStringLiteral("operators"),  QStringLiteral("memory"),
                                    QStringLiteral("why")};
    return ids;
}

ui::ResultView* ResultDocks::view(const QString& id) const {
    if (!ids().contains(id)) return nullptr;
    Dock* dock = studio_.docks.dock(id);
    return dock ? dock->view() : nullptr;
}

void ResultDocks::wire(ui::ResultView* view) {
    studio_.feeder.add(view);
    auto* veil = new ui::Veil(view);
    const auto cover = [view, veil](const QString& why) {
        why.isEmpty() || view->isEmpty() ? veil->lift() : veil->drop(why);
    };
    connect(&studio_.live, &LiveController::lateChanged, veil, cover);
    cover(studio_.live.late());
    const auto offered = [this, view] { view->setEmptyAction(offerFor(lackOf(studio_.document))); };
    connect(view, &ui::ResultView::emptyActionTriggered, this, [this] { fillIn(studio_, lackOf(studio_.document)); });
    connect(&studio_.document, &Document::projectChanged, view, offered);
    connect(&studio_.document, &Document::replaced, view, offered);
    offered();
    if (auto* comparison = qobject_cast<ui::ComparisonView*>(view)) {
        connect(comparison, &ui::ComparisonView::primaryMethodChosen, &studio_.live, &LiveController::setPrimary);
        connect(comparison, &ui::ComparisonView::methodChanged, this, &ResultDocks::changeMethod);
    }
    if (auto* operators = qobject_cast<ui::OperatorTableView*>(view)) {
        operators->table()->setToolTip(tr("Selecting operators selects them in every view"));
        connect(operators, &ui::OperatorTableView::operatorActivated, this, [this](int op) {
            studio_.selection.select({op});
            studio_.inspection.reveal();
        });
    }
}

// One method of the set asked in another way; an empty `before` adds `after`.
void ResultDocks::changeMethod(const QString& before, const QString& after) {
    std::vector<std::string> methods = studio_.document.state()->methods;
    const std::string now = after.toStdString();
    const bool there = std::ranges::find(methods, now) != methods.end();
    const auto at = std::ranges::find(methods, before.toStdString());
    if (there) {
        if (at == methods.end()) return;  // asked already
        methods.erase(at);
    } else if (at != methods.end()) {
        *at = now;
    } else {
        methods.push_back(now);
    }
    studio_.apply(setMethodsEdit(*studio_.document.state(), std::move(methods)));
}

}  // namespace orrery::app
