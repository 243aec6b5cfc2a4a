#include "app/window/studio.h"

#include "app/window/settings.h"

#include <QMainWindow>

namespace orrery::app {

Studio::Studio(QMainWindow* parent)
    : window(parent),
      cache(std::make_shared<WorkloadCache>()),
      live(document, cache),
      runs(document, cache, stateFolder()),
      actions(*new Actions(parent)),
      docks(*new DockSet(parent)),
      files(*this),
      layouts(*this),
      router(*this),
      inspection(*this),
      problems(*this) {}

Studio::~Studio() = default;

bool Studio::apply(Expected<Edit> edit, int gesture) {
    return messages.report(document.apply(std::move(edit), gesture));
}

}  // namespace orrery::app
