#include "widgets/gpu/warp_colours.h"

#include "widgets/common/theme.h"

#include <QCoreApplication>

namespace orrery::ui {

namespace {

QString said(const char* text) {
    return QCoreApplication::translate("Warps", text);
}

}  // namespace

using gpusim::Unit;
using gpusim::WarpState;

QColor warpColour(WarpState state) {
    const Theme& theme = Theme::instance();
    switch (state) {
        case WarpState::Absent:
            return theme.colours().surface;
        case WarpState::Issue:
            return theme.methodColour(0);
        case WarpState::NotSelected:
            return theme.methodColour(5);
        case WarpState::Unit:
            return theme.methodColour(2);
        case WarpState::Memory:
            return theme.methodColour(1);
        case WarpState::Shared:
            return theme.methodColour(4);
        case WarpState::Arithmetic:
            return theme.methodColour(6);
        case WarpState::Barrier:
            return theme.methodColour(3);
        case WarpState::Copies:
            return theme.operatorColour(OperatorKind::Routing);
        case WarpState::Atomic:
            return theme.levelColour(3);
        case WarpState::Fence:
            return theme.levelColour(4);
        case WarpState::Fetch:
            return theme.operatorColour(OperatorKind::Movement);
        case WarpState::Code:
            return theme.methodColour(7);
        case WarpState::Constant:
            return theme.operatorColour(OperatorKind::Reduce);
        case WarpState::Done:
            return theme.colours().line;
    }
    return theme.colours().line;
}

QString warpText(WarpState state) {
    switch (state) {
        case WarpState::Absent:
            return said("no warp");
        case WarpState::Issue:
            return said("issued");
        case WarpState::NotSelected:
            return said("not selected");
        case WarpState::Unit:
            return said("unit busy");
        case WarpState::Memory:
            return said("memory");
        case WarpState::Shared:
            return said("shared memory");
        case WarpState::Arithmetic:
            return said("arithmetic");
        case WarpState::Barrier:
            return said("barrier");
        case WarpState::Copies:
            return said("copies");
        case WarpState::Atomic:
            return said("atomics");
        case WarpState::Fence:
            return said("fence");
        case WarpState::Fetch:
            return said("fetch");
        case WarpState::Code:
            return said("instruction cache");
        case WarpState::Constant:
            return said("constant cache");
        case WarpState::Done:
            return said("done");
    }
    return {};
}

QString warpMeaning(WarpState state) {
    switch (state) {
        case WarpState::Absent:
            return said("no warp stands here");
        case WarpState::Issue:
            return said("its next instruction is issued");
        case WarpState::NotSelected:
            return said("ready; its scheduler chose another warp");
        case WarpState::Unit:
            return said("ready; its unit is busy");
        case WarpState::Memory:
            return said("waits for an operand from global memory");
        case WarpState::Shared:
            return said("waits for an operand from shared memory");
        case WarpState::Arithmetic:
            return said("waits for an operand from a unit");
        case WarpState::Barrier:
            return said("waits for the other warps of its block");
        case WarpState::Copies:
            return said("waits for copies into shared memory");
        case WarpState::Atomic:
            return said("waits for its atomics");
        case WarpState::Fence:
            return said("waits at a memory fence");
        case WarpState::Fetch:
            return said("its instruction buffer is empty");
        case WarpState::Code:
            return said("its next instructions have missed the instruction caches");
        case WarpState::Constant:
            return said("an operand has missed the constant cache, or its scheduler waits for one");
        case WarpState::Done:
            return said("has ended; results are still in flight");
    }
    return {};
}

QString unitText(Unit unit) {
    switch (unit) {
        case Unit::Sp:
            return said("FP32");
        case Unit::Sfu:
            return said("special functions");
        case Unit::Mem:
            return said("load and store");
        case Unit::Dp:
            return said("FP64");
        case Unit::Int:
            return said("integer");
        case Unit::Special1:
            return said("branches");
        case Unit::Special2:
            return said("texture");
        case Unit::Tensor:
        case Unit::Special3:
            return said("tensor");
        case Unit::Special4:
            return said("uniform");
    }
    return {};
}

}  // namespace orrery::ui
