#include "widgets/schedules/nest_marks.h"

#include "widgets/common/theme.h"

#include <QCoreApplication>

namespace orrery::ui {

namespace {

QString words(const char* text) {
    return QCoreApplication::translate("NestMarks", text);
}

}  // namespace

QColor markColour(LoopMark mark) {
    const Theme& theme = Theme::instance();
    switch (mark) {
        case LoopMark::Serial:
            return theme.colours().mutedText;
        case LoopMark::Parallel:
            return theme.methodColour(0);
        case LoopMark::Vectorized:
            return theme.methodColour(1);
        case LoopMark::Unrolled:
            return theme.methodColour(2);
        case LoopMark::Block:
            return theme.methodColour(0);
        case LoopMark::VirtualThread:
            return theme.methodColour(3);
        case LoopMark::Thread:
            return theme.methodColour(1);
    }
    return {};
}

QString markText(LoopMark mark) {
    switch (mark) {
        case LoopMark::Serial:
            return words("one after another");
        case LoopMark::Parallel:
            return words("parallel on cores");
        case LoopMark::Vectorized:
            return words("vectorized");
        case LoopMark::Unrolled:
            return words("unrolled");
        case LoopMark::Block:
            return words("blocks");
        case LoopMark::VirtualThread:
            return words("virtual threads");
        case LoopMark::Thread:
            return words("threads");
    }
    return {};
}

}  // namespace orrery::ui
