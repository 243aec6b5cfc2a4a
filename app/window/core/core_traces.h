#pragma once

// The timelines of the core's page as Chrome/Perfetto traces.

#include "store/export/lane_trace.h"
#include "widgets/common/picture_file.h"
#include "widgets/core/pipeline_view.h"
#include "widgets/memory/command_timeline.h"

namespace orrery::app {

/// Ports with what executes on them, and every operation from fetch to retirement with its stages inside; operations in
/// flight together lie on as many lanes. A cycle is a nanosecond: the picture knows no clock.
LaneTrace pipelineLanes(const ui::PipelinePicture& picture);
/// Banks with the stretches in which a row was open and the commands, and the data buses. At the memory's clock.
LaneTrace commandLanes(const ui::CommandPicture& picture);

/// By the ending: the lanes of what `view` shows as a trace (`.json`), else what the view writes. What went wrong,
/// empty if nothing.
template <class View, class Lanes>
QString writeViewOrLanes(const QString& file, View& view, const Lanes& lanes) {
    return file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)
               ? ui::writeText(file, QByteArray::fromStdString(laneTrace(lanes(view.picture()))))
               : view.exportTo(file);
}

}  // namespace orrery::app
