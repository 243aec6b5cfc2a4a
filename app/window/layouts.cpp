#include "app/window/layouts.h"

#include "app/window/settings.h"
#include "app/window/studio.h"
#include "widgets/common/theme.h"

#include <QActionGroup>
#include <QEvent>
#include <QLayout>
#include <QMainWindow>
#include <QTabWidget>
#include <QToolButton>

#include <algorithm>
#include <utility>
#include <vector>

namespace orrery::app {

void Layouts::addActions() {
    const QString view = tr("View");
    Actions& actions = studio_.actions;
    auto* group = new QActionGroup(this);
    int number = 0;
    for (const LayoutPlan& plan : layoutPlans()) {
        const auto digit = static_cast<Qt::Key>(Qt::Key_1 + number++);
        QAction* action = actions.add({QStringLiteral("layout-") + toText(plan.layout),
                                       tr("Layout"),  // what one looks for
                                       tr(plan.title),
                                       tr(plan.meaning),
                                       {},
                                       QKeySequence(Qt::ALT | digit)},
                                      [this, which = plan.layout] { choose(which); });
        action->setCheckable(true);
        group->addAction(action);
    }
    actions.add({"layoutReset", view, tr("&Reset layout"), tr("Restores the default panels"), {}, {}},
                [this] { choose(studio_.docks.layout(), true); });
    actions.addToggle({"viewDocuments",
                       view,
                       tr("&Documents"),
                       tr("Show the document pages above the results"),
                       {},
                       QKeySequence(Qt::ALT | Qt::Key_0)},
                      true, [this](bool on) {
                          showPages(on);
                          // A page that fills the window does so as soon as it is seen, and leaves it with its docks.
                          studio_.docks.setAside(on && studio_.router.front()->card().alone);
                          showPages(on);  // with its tabs, which docks that come back may have hidden
                      });
    studio_.window->centralWidget()->installEventFilter(this);
    studio_.window->installEventFilter(this);
    // New type is laid out once the window has come to rest.
    retype_.setSingleShot(true);
    retype_.setInterval(200);
    connect(&retype_, &QTimer::timeout, this, [this] { fitType(planOf(studio_.docks.layout()).presents); });
    // Of a layout without pages nothing would be left.
    connect(&studio_.docks, &DockSet::pageAlone, this, [this] { showPages(true); });
}

void Layouts::choose(Layout layout, bool asShipped) {
    studio_.docks.remember();
    const QSize before = studio_.window->size();
    chosen(planOf(layout));
    studio_.docks.apply(layout, asShipped);
    // On the way the docks of before may have needed more room, in the type of now.
    studio_.window->layout()->activate();
    if (studio_.window->size() != before && !studio_.window->isMaximized() && !studio_.window->isFullScreen())
        studio_.window->resize(before);
    studio_.window->setFocus(Qt::OtherFocusReason);  // else the window gives it to the first dock's menu button
}

void Layouts::chosen(const LayoutPlan& plan) {
    fitType(plan.presents);
    showPages(plan.pages);
    if (auto* palette = studio_.window->findChild<QToolButton*>(QStringLiteral("helpPaletteButton"))) {
        palette->setToolButtonStyle(plan.presents ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    }
    openSettings()->setValue("layout/last", toText(plan.layout));
    studio_.actions.find(QStringLiteral("layout-") + toText(plan.layout))->setChecked(true);
}

void Layouts::fitType(bool presents) {
    ui::Theme& theme = ui::Theme::instance();
    const double usual = ui::presentingScale({}), before = ui::formGrowth(theme.scale());
    constexpr int narrowestForm = 200;
    std::vector<std::pair<QWidget*, int>> forms;
    for (QWidget* each : studio_.window->findChildren<QWidget*>())
        if (each->minimumWidth() == each->maximumWidth() && each->minimumWidth() >= narrowestForm)
            forms.emplace_back(each, each->minimumWidth());
    theme.setPresenter(presents, studio_.window->size());
    const double growth = ui::formGrowth(theme.scale()) / before;
    for (const auto& [form, width] : forms)
        if (growth != 1 && form->minimumWidth() == width) form->setFixedWidth(qRound(width * growth));
    // Type for a large picture would not let the window become a small one.
    studio_.window->setMinimumSize(theme.scale() > usual ? QSize(1280, 720) : QSize(0, 0));
}

void Layouts::showPages(bool shown) {
    studio_.router.showPages(shown);
    fitCentre();
    if (QAction* action = studio_.actions.find(QStringLiteral("viewDocuments"))) action->setChecked(shown);
}

void Layouts::showProject(bool alone) {
    const Layout layout = studio_.docks.layout();
    if (!studio_.docks.isShown() && alone) {
        chosen(planOf(layout));
        studio_.docks.applyLater(layout);
    } else if (!studio_.docks.isShown()) {
        choose(layout);
    }
    if (!alone) studio_.router.leaveFirst();  // else its caller shows the page
}

void Layouts::fitCentre() {
    // Without pages only the note, the headline and notifications are left: the docks get the rest.
    QWidget* centre = studio_.window->centralWidget();
    const bool pages = studio_.router.tabs()->isVisibleTo(centre);
    const QLayout* column = centre->layout();
    // Words that wrap need the height of the width that there is.
    const int wanted =
        column->hasHeightForWidth() ? column->totalHeightForWidth(centre->width()) : column->sizeHint().height();
    centre->setMinimumHeight(pages ? 0 : wanted);
    centre->setMaximumHeight(pages ? QWIDGETSIZE_MAX : wanted);
}

bool Layouts::eventFilter(QObject* watched, QEvent* event) {
    const bool moved = event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize;
    if (moved && watched == studio_.window->centralWidget()) fitCentre();
    if (event->type() == QEvent::Resize && watched == studio_.window && ui::Theme::instance().presenter())
        retype_.start();
    return QObject::eventFilter(watched, event);
}

}  // namespace orrery::app
