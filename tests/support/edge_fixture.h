#pragma once

// Devices made of coefficients that a test draws, over cells of NAS-Bench-201, and tables of them.

#include "base/random.h"
#include "evaluation/edge/edge_table.h"
#include "workload/spaces/spaces.h"

#include <QFile>
#include <QTemporaryDir>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace orrery {

inline std::string cellOf(RandomStream& random) {
    constexpr std::array<const char*, 5> ops{"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
    std::string code;
    for (int node = 1; node < 4; ++node) {
        if (node > 1) code += "+";
        for (int from = 0; from < node; ++from)
            code += std::string("|") + ops[random.below(5)] + "~" + std::to_string(from);
        code += "|";
    }
    return code;
}

// Latency of a device with noise: all operators cost, or those whose output is used, and none where nothing is live.
inline double latencyOf(const std::string& code, const std::array<double, 4>& cost, bool dropsDead, double noise,
                        RandomStream& random) {
    const auto cell = *readNasBench201(code);
    const auto live = liveEdges(cell);
    const bool constant = std::find(live.begin(), live.end(), true) == live.end();
    std::array<bool, 4> used{false, false, false, true};
    double sum = cost[0];
    for (std::size_t e = 6; e-- > 0;) {
        const bool runs = used[static_cast<std::size_t>(cell.to[e])];
        if (runs && cell.edges[e] != NasBench201Cell::None) used[static_cast<std::size_t>(cell.from[e])] = true;
        if (dropsDead && (constant || !runs)) continue;
        if (cell.edges[e] == NasBench201Cell::Conv1) sum += cost[1];
        if (cell.edges[e] == NasBench201Cell::Conv3) sum += cost[2];
        if (cell.edges[e] == NasBench201Cell::Pool) sum += cost[3];
    }
    return sum * (1 + noise * random.normal());
}

// `devices` made alike: base, 1×1, 3×3 and pool around a common mean.
inline EdgeTable madeTable(std::size_t devices, std::size_t rows, double noise, bool dropsDead) {
    RandomStream random(7);
    EdgeTable table;
    table.path = "made";
    table.space = "nasbench201";
    for (std::size_t r = 0; r < rows; ++r) {
        table.networks.push_back(cellOf(random));
        table.index.push_back(static_cast<double>(r));
    }
    for (std::size_t d = 0; d < devices; ++d) {
        const double level = std::exp(random.normal());
        const std::array<double, 4> cost{level * (4 + random.uniform()), level * (0.5 + random.uniform()),
                                         level * (2 + 2 * random.uniform()), level * (0.3 + 0.5 * random.uniform())};
        table.targets.push_back("device" + std::to_string(d));
        table.described.push_back(table.targets.back());
        table.values.emplace_back();
        for (const std::string& code : table.networks)
            table.values.back().push_back(latencyOf(code, cost, dropsDead, noise, random));
    }
    return table;
}

inline QString written(const QTemporaryDir& folder, const char* name, const QByteArray& text) {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text);
    return file.fileName();
}

inline constexpr const char* cellA = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|avg_pool_3x3~2|";
inline constexpr const char* cellB = "|skip_connect~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_1x1~2|";

}  // namespace orrery
