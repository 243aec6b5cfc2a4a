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

namespace orrery::app {

void Layouts::addActions() {
    const QString view = tr("View");
    Actions& actions = studio_.actions;
    auto* group = new QActionGroup(this);
    const auto add = [&](Layout which, const QString& text, const QString& meaning, int key) {
        QAction* action = actions.add(
            {QStringLiteral("layout-") + toText(which), view, text, meaning, {}, QKeySequence(Qt::ALT | key)},
            [this, which] { choose(which); });
        action->setCheckable(true);
        group->addAction(action);
    };
    add(Layout::Explore, tr("&Explore"), tr("Documents, library, inspector and results"), Qt::Key_1);
    add(Layout::Teach, tr("&Teach"), tr("Large type and few panels, for presenting"), Qt::Key_2);
    add(Layout::Compare, tr("&Compare"), tr("Methods and operators side by side"), Qt::Key_3);
    add(Layout::Draw, tr("&Draw"), tr("Room for the canvas, with palette, inspector and problems"), Qt::Key_4);
    actions.add({"layoutReset", view, tr("&Reset layout"), tr("Arrange the docks as they ship"), {}, {}},
                [this] { choose(studio_.docks.layout(), true); });
    actions.addToggle({"viewDocuments",
                       view,
                       tr("&Documents"),
                       tr("Show the document pages above the results"),
                       {},
                       QKeySequence(Qt::ALT | Qt::Key_0)},
                      true, [this](bool on) { showPages(on); });
    studio_.window->centralWidget()->installEventFilter(this);
}

void Layouts::choose(Layout layout, bool asShipped) {
    studio_.docks.remember();
    ui::Theme::instance().setPresenter(layout == Layout::Teach);
    // Explore and Draw work on documents; the other two are for looking, and give the docks their room.
    showPages(layout == Layout::Explore || layout == Layout::Draw);
    if (auto* palette = studio_.window->findChild<QToolButton*>(QStringLiteral("helpPaletteButton"))) {
        palette->setToolButtonStyle(layout == Layout::Teach ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    }
    studio_.docks.apply(layout, asShipped);
    studio_.window->setFocus(Qt::OtherFocusReason);  // else the window gives it to the first dock's menu button
    openSettings()->setValue("layout/last", toText(layout));
    for (const Layout each : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
        QAction* action = studio_.actions.find(QStringLiteral("layout-") + toText(each));
        if (action) action->setChecked(each == layout);
    }
}

void Layouts::showPages(bool shown) {
    studio_.router.tabs()->setVisible(shown);
    fitCentre();
    if (QAction* action = studio_.actions.find(QStringLiteral("viewDocuments"))) action->setChecked(shown);
}

void Layouts::showProject() {
    if (!studio_.docks.isShown()) choose(studio_.docks.layout());
    studio_.router.leaveFirst();
}

void Layouts::fitCentre() {
    // Without pages only the headline and notifications are left: the docks get the rest.
    QWidget* centre = studio_.window->centralWidget();
    const bool pages = studio_.router.tabs()->isVisibleTo(centre);
    centre->setMaximumHeight(pages ? QWIDGETSIZE_MAX : centre->layout()->sizeHint().height());
}

bool Layouts::eventFilter(QObject* watched, QEvent* event) {
    if (watched == studio_.window->centralWidget() && event->type() == QEvent::LayoutRequest) fitCentre();
    return QObject::eventFilter(watched, event);
}

}  // namespace orrery::app
