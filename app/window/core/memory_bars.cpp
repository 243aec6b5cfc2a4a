#include "app/window/core/memory_bars.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr std::size_t mostBounds = 4;

QString barWords(const char* text) {
    return QCoreApplication::translate("MemoryBars", text);
}

}  // namespace

std::vector<ui::Bar> bindingBars(const MemoryAnswer& answer) {
    const auto held =
        std::ranges::find_if(answer.bindings, [](const DramBinding& one) { return one.timing != "data bus"; });
    std::vector<ui::Bar> bars;
    for (const DramBinding& one : answer.bindings) {
        ui::Bar bar;
        bar.name = ui::qs(one.timing);
        bar.value = one.share;
        bar.text = ui::percentText(one.share);
        bar.words = ui::qs(one.words);
        bar.marked = held != answer.bindings.end() && one.timing == held->timing;
        if (one.timing == "data bus") bar.colour = ui::Theme::instance().methodColour(0);
        bars.push_back(std::move(bar));
    }
    return bars;
}

std::vector<ui::Bar> boundBars(const MemoryAnswer& answer) {
    const auto run = static_cast<double>(answer.result.cycles);
    std::vector<ui::Bar> bars;
    for (const DramCountedBound& one : answer.bounds) {
        const auto cycles = static_cast<double>(one.cycles);
        if (run <= 0 || cycles < 0.01 * run || bars.size() == mostBounds) continue;
        ui::Bar bar;
        bar.name = ui::qs(one.timing);
        bar.value = cycles / run;
        bar.text = barWords("%1 cycles, %2").arg(ui::countText(cycles), ui::percentText(bar.value));
        bar.words = ui::qs(one.words);
        bar.marked = bars.empty();
        bars.push_back(std::move(bar));
    }
    return bars;
}

std::vector<ui::Bar> energyBars(const MemoryAnswer& answer) {
    std::vector<ui::Bar> bars;
    if (!answer.energy) return bars;
    const DramEnergyParts& parts = answer.energy->parts;
    const double total = parts.total();
    const auto most = static_cast<std::size_t>(std::ranges::max_element(parts.joules) - parts.joules.begin());
    for (std::size_t i = 0; i < parts.joules.size(); ++i) {
        ui::Bar bar;
        const std::string_view name = DramEnergyParts::names[i];
        bar.name = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
        bar.value = total > 0 ? parts.joules[i] / total : 0;
        bar.text = barWords("%1, %2").arg(ui::text(Joules(parts.joules[i])), ui::percentText(bar.value));
        bar.words =
            barWords("%1: %2").arg(ui::qs(answer.energy->currents.title), ui::qs(answer.energy->currents.source));
        bar.marked = i == most;
        bars.push_back(std::move(bar));
    }
    return bars;
}

QString energyTitle(const MemoryAnswer& answer) {
    if (!answer.energy) return {};
    return barWords("Energy: %1, %2 pJ per bit, %3")
        .arg(ui::text(Joules(answer.energy->parts.total())),
             QString::number(answer.energy->joulesPerBit() * 1e12, 'f', 2), ui::text(Watts(answer.energy->watts())));
}

}  // namespace orrery::app
