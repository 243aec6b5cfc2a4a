#include "app/window/hardware/limit_marks.h"

#include "app/window/hardware/component_loads.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/studio.h"
#include "widgets/common/theme.h"

namespace orrery::app {

LimitMarks::LimitMarks(Studio& studio, HardwarePage& page) : QObject(&page), studio_(studio), page_(page) {
    connect(&studio.selection, &ui::Selection::changed, this, &LimitMarks::showLimiters);
    connect(&studio.live, &LiveController::lateChanged, this, &LimitMarks::showLoads);
}

bool LimitMarks::selectLimited(const ComponentPath& component) {
    const auto& snapshot = studio_.live.snapshot();
    if (!snapshot || snapshot->scenario.hardware != studio_.document.hardware()) return false;
    const QSet<int> operators = operatorsLimitedBy(*snapshot, component);
    if (operators.isEmpty()) return false;
    studio_.selection.select(operators);
    studio_.messages.say(Severity::Note,
                         tr("Selected %n operator(s) that it limits", nullptr, static_cast<int>(operators.size())), {},
                         QStringLiteral("limited"));
    return true;
}

void LimitMarks::holdAgainst(ui::SnapshotPtr before, const QString& name) {
    before_ = std::move(before);
    beforeName_ = name;
    showLoads();
}

void LimitMarks::showLoads() {
    const auto& snapshot = studio_.live.snapshot();
    // A chip with the numbers of a design of before would lie; while a slider moves the answer is a frame behind.
    const bool known = snapshot && studio_.document.hardware() &&
                       snapshot->scenario.hardware->name == studio_.document.hardware()->name &&
                       studio_.live.late().isEmpty();
    page_.canvas()->setLoads(!known    ? std::vector<ui::ComponentLoad>{}
                             : before_ ? loadsAgainst(*before_, *snapshot, beforeName_)
                                       : componentLoads(*snapshot));
    page_.canvas()->setIgnored(known ? ignoredComponents(*snapshot) : std::vector<ComponentPath>{});
    showLimiters();
}

void LimitMarks::showLimiters() {
    if (page_.compared() >= 0) return;  // marks say what differs
    const auto& snapshot = studio_.live.snapshot();
    std::vector<ui::CanvasView::Mark> marks;
    if (snapshot && !studio_.selection.operators().isEmpty() &&
        snapshot->scenario.hardware == studio_.document.hardware()) {
        for (const ComponentPath& path : componentsLimiting(*snapshot, studio_.selection.operators()))
            marks.push_back({path, tr("Limits the selected operators"), ui::Theme::instance().colours().accent});
    }
    page_.canvas()->setMarks(std::move(marks));
}

}  // namespace orrery::app
