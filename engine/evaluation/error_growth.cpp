#include "evaluation/error_growth.h"

#include "base/maths.h"
#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery {

namespace {

std::vector<LevelPoint> levelsOf(const EvaluatedRows& rows, std::span<const ReferenceTable> tables) {
    std::map<TaskKind, std::vector<std::size_t>> levels;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(rows.ref[i].table)];
        if (!table.models.empty())
            levels[kindOf(table.models[static_cast<std::size_t>(rows.ref[i].row)].task)].push_back(i);
    }
    std::vector<LevelPoint> points;
    for (const auto& [task, places] : levels) {
        LevelPoint point{task, places.size()};
        std::vector<double> sizes;
        for (const std::size_t i : places) {
            const double error = rows.error(i);
            sizes.push_back(std::abs(error));
            point.measured += error * error;
            point.coverage += rows.measured[i] >= rows.low[i] && rows.measured[i] <= rows.high[i] ? 1 : 0;
        }
        std::sort(sizes.begin(), sizes.end());
        const auto count = static_cast<double>(places.size());
        point.measured = std::sqrt(point.measured / count);
        point.coverage /= count;
        point.median = medianOfSorted(sizes);
        points.push_back(point);
    }
    return points;
}

}  // namespace

std::string_view levelName(TaskKind task) {
    switch (task) {
        case TaskKind::Pass:
            return "one pass";
        case TaskKind::OneOperator:
            return "one operator";
        case TaskKind::TrainingStep:
            return "training step";
        case TaskKind::ServingRun:
            return "serving run";
    }
    return {};
}

ErrorGrowth errorGrowth(const Evaluation& evaluation, std::span<const ReferenceTable> tables, double assumed,
                        std::uint64_t seed, std::size_t draws) {
    ErrorGrowth growth;
    const EvaluatedRows& rows = evaluation.rows;
    growth.levels = levelsOf(rows, tables);
    std::map<std::string, std::vector<std::size_t>> devices;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(rows.ref[i].table)];
        if (!table.models.empty()) continue;
        const auto device = table.rows[static_cast<std::size_t>(rows.ref[i].row)].device;
        devices[table.devices[static_cast<std::size_t>(device)].catalogue].push_back(i);
    }
    std::size_t most = 0;
    for (const auto& [name, of] : devices) {
        if (of.size() < 2) continue;
        growth.devices += 1;
        growth.rows += of.size();
        most = std::max(most, of.size());
    }
    double between = 0, above = 0;
    RandomStream random(seed, 0x67726f77);
    for (std::size_t n = 1; n <= most; n *= 2) {
        GrowthPoint point{n};
        double count = 0;
        for (auto& [name, of] : devices) {
            if (of.size() < std::max<std::size_t>(2, n)) continue;
            // A device weighs as its rows, and none more often than it has sums that differ.
            const std::size_t times =
                std::max<std::size_t>(1, draws * of.size() / std::max<std::size_t>(1, growth.rows));
            for (std::size_t d = 0; d < times; ++d) {
                double truth = 0, off = 0, squares = 0, all = 0;
                double below = 0, over = 0, belowSquares = 0, overSquares = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    std::swap(of[k], of[k + static_cast<std::size_t>(random.below(of.size() - k))]);
                    const std::size_t i = of[k];
                    const double e = rows.predicted[i] - rows.measured[i];
                    truth += rows.measured[i], off += e, squares += e * e, all += std::abs(e);
                    const double down = std::max(0.0, rows.predicted[i] - rows.low[i]);
                    const double up = std::max(0.0, rows.high[i] - rows.predicted[i]);
                    below += down, over += up, belowSquares += down * down, overSquares += up * up;
                }
                point.measured += off * off / (truth * truth);
                point.independent += squares / (truth * truth);
                point.common += all * all / (truth * truth);
                const double side = off > 0 ? std::sqrt((1 - assumed) * belowSquares + assumed * below * below)
                                            : std::sqrt((1 - assumed) * overSquares + assumed * over * over);
                if (std::abs(off) <= side) point.coverage += 1;
                count += 1;
                if (n > 1)
                    above += (off * off - squares) / (truth * truth),
                        between += (all * all - squares) / (truth * truth);
            }
        }
        if (count == 0) break;
        point.measured = std::sqrt(point.measured / count);
        point.independent = std::sqrt(point.independent / count);
        point.common = std::sqrt(point.common / count);
        point.coverage /= count;
        growth.points.push_back(point);
    }
    growth.correlation = between > 0 ? std::clamp(above / between, 0.0, 1.0) : 0;
    return growth;
}

}  // namespace orrery
