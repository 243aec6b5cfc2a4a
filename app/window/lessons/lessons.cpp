#include "app/window/lessons/lessons.h"

#include "app/window/lessons/lesson_panel.h"
#include "app/window/studio.h"
#include "widgets/common/text.h"

#include <QLayout>
#include <QMainWindow>

namespace orrery::app {

Lessons::Lessons(Studio& studio) : studio_(studio), run_(studio) {
    connect(&studio.docks, &DockSet::arranged, this, &Lessons::keepInView);
    connect(&run_, &LessonRun::opened, this, &Lessons::keepInView);
}

void Lessons::addDock() {
    studio_.docks.add(QStringLiteral("lesson"), tr("Lesson"), tr("Lessons that check themselves, step by step"),
                      [this](QWidget* parent) { return new LessonPanel(studio_, run_, parent); });
}

void Lessons::addActions() {
    studio_.actions.add({QStringLiteral("helpLessons"),
                         tr("Help"),
                         tr("&Lessons"),
                         tr("Ten lessons that check themselves, each with a hand-out"),
                         QStringLiteral("help-contents"),
                         {}},
                        [this] { show(); });
    connect(&studio_, &Studio::ready, this, [this] {
        for (const LessonHead& head : shippedLessons()) {
            studio_.actions.add({QStringLiteral("lesson.") + ui::qs(head.id),
                                 tr("Lesson"),
                                 ui::qs(head.title),
                                 ui::qs(head.summary),
                                 {},
                                 {}},
                                [this, file = ui::qs(head.file)] {
                                    run_.open(file);
                                    if (run_.lesson()) show();
                                });
        }
    });
}

void Lessons::show() {
    studio_.layouts.showProject();
    studio_.docks.reveal(QStringLiteral("lesson"));
}

void Lessons::keepInView() {
    Dock* dock = studio_.docks.dock(QStringLiteral("lesson"));
    QMainWindow* window = studio_.window;
    if (!run_.lesson() || !dock || !studio_.docks.isShown()) return;
    // A layout without a place for it: below the inspector, so that what a task asks for can be done.
    studio_.docks.reveal(QStringLiteral("lesson"));
    window->layout()->activate();
    if (dock->isFloating()) return;
    constexpr double high = 0.62, wide = 0.21;  // of the window
    const int wantedHeight = static_cast<int>(high * window->height());
    const int wantedWidth = static_cast<int>(wide * window->width());
    if (dock->height() < wantedHeight) window->resizeDocks({dock}, {wantedHeight}, Qt::Vertical);
    if (dock->width() < wantedWidth) window->resizeDocks({dock}, {wantedWidth}, Qt::Horizontal);
}

}  // namespace orrery::app
