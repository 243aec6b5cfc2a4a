#include "app/window/page.h"

#include <utility>

namespace orrery::app {

void Page::make() {
    if (!std::exchange(made_, true)) build();
}

void Page::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    make();
}

}  // namespace orrery::app
