#include "app/window/top_bar.h"

#include "app/window/hardware/add_hardware.h"
#include "app/window/scenario_bar.h"
#include "app/window/studio.h"
#include "app/window/workload/add_workload.h"
#include "widgets/common/theme.h"

#include <string_view>

namespace orrery::app {

TopBar::TopBar(Studio& studio, QWidget* parent) : QToolBar(tr("Main"), parent), studio_(studio) {
    setObjectName(QStringLiteral("mainToolbar"));
    setAccessibleName(tr("Main toolbar"));
    setMovable(false);
    setToolButtonStyle(Qt::ToolButtonIconOnly);
    for (const char* id : {"fileOpen", "fileSave", "editUndo", "editRedo"}) addButton(id, nullptr);
    addSeparator();
    addButton("runStart", nullptr, true);
    addLive();
    addSeparator();
    addScenario();
    auto* gap = new QWidget(this);
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(gap);
    addButton("viewDark", nullptr);
    addButton("helpPalette", nullptr, true);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &TopBar::fitRoom);
    fitRoom();
}

void TopBar::addButton(const char* id, QAction* before, bool withText) {
    QAction* action = studio_.actions.find(QLatin1String(id));
    insertAction(before, action);
    auto* button = qobject_cast<QToolButton*>(widgetForAction(action));
    button->setObjectName(QLatin1String(id) + QStringLiteral("Button"));
    button->setAccessibleName(action->text().remove(QLatin1Char('&')));
    if (withText) button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
}

void TopBar::resizeEvent(QResizeEvent* event) {
    QToolBar::resizeEvent(event);
    fitRoom();
}

// In a projector's type a small window has no room for all: what has a place in menus and a key gives way, so that the
// palette and the theme stay. Run shows its icon alone.
void TopBar::fitRoom() {
    const bool tight = ui::Theme::instance().presenter() && width() < ScenarioBar::roomToPresent();
    if (auto* run = findChild<QToolButton*>(QStringLiteral("runStartButton")))
        run->setToolButtonStyle(tight ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    for (const char* id : {"fileOpen", "fileSave", "editRedo"}) {
        QAction* action = studio_.actions.find(QLatin1String(id));
        const bool there = actions().contains(action);
        if (tight && there) removeAction(action);
        if (tight || there) continue;
        // Open and save before undo, redo after it.
        const auto all = actions();
        const auto undo = all.indexOf(studio_.actions.find(QStringLiteral("editUndo")));
        addButton(id, all.value(undo + (std::string_view(id) == "editRedo" ? 1 : 0)));
    }
}

void TopBar::addLive() {
    live_ = new LiveButton(this);
    addWidget(live_);
    QAction* action = studio_.actions.find(QStringLiteral("runLive"));
    connect(live_, &QToolButton::toggled, action, &QAction::setChecked);
    connect(action, &QAction::toggled, live_, &QToolButton::setChecked);
    connect(live_, &QToolButton::toggled, this,
            [this](bool on) { live_->setState(on ? LiveButton::State::Idle : LiveButton::State::Off); });
    connect(&studio_.live, &LiveController::busyChanged, this, &TopBar::showLive);
    connect(&studio_.live, &LiveController::snapshotReady, this, [this](const ui::SnapshotPtr& snapshot) {
        if (!snapshot) return;
        double cost = 0;
        for (const ui::Answer& answer : snapshot->answers) cost += answer.estimate ? answer.estimate->cost.value : 0;
        live_->setCost(cost, static_cast<int>(snapshot->scenario.workload->graph.operators.size()));
    });
}

void TopBar::showLive() {
    using State = LiveButton::State;
    const auto& snapshot = studio_.live.snapshot();
    const bool answered = snapshot && snapshot->primaryEstimate();
    const bool asked = studio_.document.hardware() && studio_.document.workload();
    live_->setState(!studio_.live.isEnabled() ? State::Off
                    : studio_.live.isBusy()   ? State::Busy
                    : answered || !asked      ? State::Idle
                                              : State::Failed);
}

void TopBar::addScenario() {
    auto* scenario = new ScenarioBar(studio_.document, this);
    addWidget(scenario);
    connect(scenario, &ScenarioBar::catalogueHardwareChosen, this,
            [this](const QString& id) { addCatalogueHardware(studio_, id); });
    connect(scenario, &ScenarioBar::builtinWorkloadChosen, this,
            [this](const QString& id) { addBuiltinWorkload(studio_, id); });
    connect(scenario, &ScenarioBar::codeRequested, this, [this] { addSpelledWorkload(studio_, this); });
    connect(scenario, &ScenarioBar::knobRequested, &studio_.inspection, &Inspection::knobRequested);
    connect(scenario, &ScenarioBar::openRequested, &studio_.files, &ProjectFiles::chooseFile);
    connect(scenario, &ScenarioBar::methodsRequested, this,
            [this] { studio_.actions.find(QStringLiteral("runMethods"))->trigger(); });
    connect(scenario, &ScenarioBar::refused, &studio_.messages, &Messages::complain);
}

}  // namespace orrery::app
