#include "app/window/link_use.h"

#include "hardware/walk.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace orrery::app {

namespace {

QString linkWords(const char* words) {
    return QCoreApplication::translate("LinkUse", words);
}

}  // namespace

void LinkMoment::set(int span) {
    if (span == span_) return;
    span_ = span;
    emit changed();
}

const Estimate* followedEstimate(const ui::Snapshot& snapshot) {
    const Estimate* primary = snapshot.primaryEstimate();
    if (linkSpans(primary) > 0) return primary;
    for (const ui::Answer& answer : snapshot.answers)
        if (linkSpans(answer.estimate.get()) > 0) return answer.estimate.get();
    return nullptr;
}

int linkSpans(const Estimate* estimate) {
    std::size_t most = 0;
    if (estimate)
        for (const NetworkUse::Row& row : estimate->networkUse.rows) most = std::max(most, row.busy.size());
    return static_cast<int>(most);
}

double busyIn(const NetworkUse::Row& row, int span) {
    if (row.busy.empty()) return 0;
    if (span >= 0) return row.busy[std::min(static_cast<std::size_t>(span), row.busy.size() - 1)];
    double sum = 0;
    for (const float each : row.busy) sum += each;
    return sum / static_cast<double>(row.busy.size());
}

double linkScale(const NetworkUse& use) {
    double most = 0;
    for (const NetworkUse::Row& row : use.rows)
        for (const float each : row.busy) most = std::max(most, static_cast<double>(each));
    for (const double end : {0.1, 0.25, 0.5})
        if (most <= end) return end;
    return 1;
}

QString linkMomentText(const NetworkUse& use, int span) {
    if (span < 0) return linkWords("mean of the step");
    return QStringLiteral("%1 – %2").arg(ui::text(span * use.spanSeconds, Dimension::Time),
                                         ui::text((span + 1) * use.spanSeconds, Dimension::Time));
}

std::vector<ui::ComponentHeat> linkHeat(const Component& root, const NetworkUse& use, int span) {
    std::vector<ui::ComponentHeat> heat;
    const double scale = linkScale(use);
    const QString moment = linkMomentText(use, span);
    for (const NetworkUse::Row& row : use.rows) {
        const auto path = findComponent(root, row.path);
        if (!path) continue;
        const double busy = busyIn(row, span);
        const QString share = ui::percentText(busy);
        const auto known = std::ranges::find(heat, *path, &ui::ComponentHeat::path);
        if (known != heat.end()) {  // the mean colours it, the busiest link is told
            known->tip += linkWords("; %1: %2").arg(QString::fromStdString(row.what), share);
            continue;
        }
        heat.push_back({*path, std::min(1.0, busy / scale), share,
                        linkWords("Link use, %1. %2: %3").arg(moment, QString::fromStdString(row.what), share)});
    }
    return heat;
}

}  // namespace orrery::app
