#pragma once

// The ready projects of presets/examples: each an ordinary project file whose name and description the
// gallery shows; a comment `# order: 3` gives its place, `# opens: drawing` opens it on the canvas, `# opens:
// serving` on the serving page, `# opens: training` on the training page. Also
// the runs of presets/training, which are no projects (`# opens: training-cases`).

#include "widgets/welcome/welcome_page.h"

#include <QString>

#include <vector>

namespace orrery::app {

struct Example {
    QString id;  ///< file name without extension: `first-light`
    QString file;
    QString title;
    QString description;
    int order = 0;
    bool serving = false;   ///< opens on the serving page; its picture is the traffic
    bool training = false;  ///< opens on the training page
    bool exploring = false;  ///< opens on the explore page
    bool cases = false;     ///< runs of another tool, on the training page
    bool drawing = false;   ///< opens on the canvas, in the Draw layout; its picture is the drawing
};

/// In gallery order. Reads the heads of the files only.
std::vector<Example> examples();
/// By id; nothing if there is none.
std::optional<Example> exampleById(const QString& id);

}  // namespace orrery::app
