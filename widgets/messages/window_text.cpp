#include "widgets/messages/window_text.h"

#include "widgets/common/text.h"

namespace orrery::ui {

QString windowText(std::string_view text) {
    return qs(text).remove(QLatin1Char('`'));
}

}  // namespace orrery::ui
