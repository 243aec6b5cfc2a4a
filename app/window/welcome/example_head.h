#pragma once

// What the head of an example's file says beside its name.

#include <QString>

namespace orrery::app {

/// The page that it opens on, by its `# opens:`; empty: it does not say.
QString exampleOpens(const QString& file);

}  // namespace orrery::app
