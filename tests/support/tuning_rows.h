#pragma once

// Rows of tuning logs with a known law.

#include "learning/schedules/tuning_log.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace orrery::test {

// A device whose time is FLOPs over a rate that falls with small channels; `slow` scales it.
inline TunedRow best(const std::string& device, double slow, int channels, int extent, int kernel) {
    TunedRow row;
    row.device = device, row.task = "conv2d_nchw.cuda";
    row.workload = fmt::format("1x{0}x{1}x{1}:float32;{0}x{0}x{2}x{2}:float32;(1 1);({3} {3} {3} {3});(1 1);float32",
                               channels, extent, kernel, kernel / 2);
    row.work = *readTensorWork(row.task, row.workload);
    row.seconds = slow * row.work.flops() / (1e12 * channels / (channels + 64.0)) + 2e-6 * slow;
    return row;
}
inline std::vector<TunedRow> tuned(const std::string& device, double slow) {
    std::vector<TunedRow> rows;
    for (const int channels : {16, 32, 48, 64, 96, 128, 192, 256})
        for (const int extent : {7, 14, 28, 56})
            for (const int kernel : {1, 3}) rows.push_back(best(device, slow, channels, extent, kernel));
    return rows;
}
// Tiles nearer to 8 × 8 are better, and those over 256 fail.
inline std::vector<TunedRow> trials(int m, int n) {
    std::vector<TunedRow> rows;
    for (int x = 1; x <= 64; x *= 2)
        for (int y = 1; y <= 64; y *= 2)
            for (int k = 1; k <= 2; ++k) {
                TunedRow row;
                row.device = "cpu", row.task = "dense_nopack.x86";
                row.workload = fmt::format("{}x256:float32;{}x256:float32;None;float32", m, n);
                row.work = *readTensorWork(row.task, row.workload);
                row.knobs = readKnobs(fmt::format("tile_y=-1,{};tile_x=-1,{};tile_k=-1,{}", y, x, k));
                const double off = std::abs(std::log2(x / 8.0)) + std::abs(std::log2(y / 8.0));
                row.seconds = x * y > 256 ? 0 : 1e-4 * (1 + off) * m * n / 1e4;
                rows.push_back(row);
            }
    return rows;
}

}  // namespace orrery::test
