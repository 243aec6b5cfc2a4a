#include "app/window/lessons/lessons.h"

#include "app/window/lessons/lesson_panel.h"
#include "app/window/studio.h"
#include "widgets/common/text.h"

namespace orrery::app {

Lessons::Lessons(Studio& studio) : studio_(studio), run_(studio) {}

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

}  // namespace orrery::app
