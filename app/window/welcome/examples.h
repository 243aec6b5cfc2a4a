#pragma once

// The ready projects of presets/examples: each an ordinary project file whose name and description the
// gallery shows; a comment `# order: 3` gives its place, `# opens: serving` the page that it opens on. Also the runs of
// presets/training, which are no projects.

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
    /// Id of the page that it opens on; `drawing`: the canvas in the Draw layout; `training-cases`: runs of another
    /// tool, on the training page; empty: it does not say.
    QString opens;
    bool cases() const { return opens == QLatin1String("training-cases"); }
};

/// In gallery order. Reads the heads of the files only.
std::vector<Example> examples();
/// By id; nothing if there is none.
std::optional<Example> exampleById(const QString& id);

}  // namespace orrery::app
