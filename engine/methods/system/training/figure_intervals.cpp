#include "methods/system/training/figure_intervals.h"

#include <algorithm>

namespace orrery {

void setRateIntervals(std::vector<Figure>& figures, double seconds, const Interval& time) {
    if (!(time.low.value > 0) || !(time.high.value > 0)) return;
    for (Figure& figure : figures) {
        if (figure.label != "Throughput" && figure.label != "Model FLOP utilisation") continue;
        const double work = figure.value * seconds;
        figure.interval = {work / time.high.value, work / time.low.value};
        figure.basis = time.basis;
    }
}

void setSideIntervals(std::vector<Figure>& figures, const StepSides& sides, double joulesPerSecond, double sent) {
    const auto set = [&](Figure& figure, const auto& of) {
        auto [low, high] = std::pair(figure.value, figure.value);
        for (const StepSide& side : sides) {
            if (!(side.seconds > 0)) return;
            const double value = of(side);
            low = std::min(low, value);
            high = std::max(high, value);
        }
        figure.interval = {low, high};
        figure.basis = "steps with kernels and exchanges all at one side of their intervals";
    };
    for (Figure& figure : figures) {
        if (figure.label == "Computing share")
            set(figure, [](const StepSide& side) { return side.busy / side.seconds; });
        else if (figure.label == "Exposed communication")
            set(figure, [](const StepSide& side) { return side.exposed; });
        else if (figure.label == "Waiting for other stages")
            set(figure, [](const StepSide& side) { return std::max(0.0, side.seconds - side.busy - side.exposed); });
        else if (figure.label == "Energy of one step")
            set(figure, [&](const StepSide& side) { return side.busy * joulesPerSecond + sent; });
    }
}

}  // namespace orrery
