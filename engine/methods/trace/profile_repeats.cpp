#include "methods/trace/profile_repeats.h"

#include "base/maths.h"
#include "base/text/table.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace orrery {

namespace {

constexpr std::size_t fewestPoints = 30;

}  // namespace

Expected<ProfileRepeats> readProfileRepeats(const std::filesystem::path& folder) {
    ProfileRepeats repeats;
    for (const char* column : {"pc", "kp", "n", "kv_mean", "kv_big", "t_mean_us", "t_max_us"})
        if (!hasColumn((folder / "skew.csv").string(), column)) return repeats;
    const auto grid =
        readTable((folder / "attention.csv").string(),
                  {.columns = numberColumns({"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"})});
    if (!grid) return Unexpected(grid.error());
    const auto sweep =
        readTable((folder / "skew.csv").string(),
                  {.columns = numberColumns({"pc", "kp", "n", "kv_mean", "kv_big", "t_mean_us", "t_max_us"})});
    if (!sweep) return Unexpected(sweep.error());
    std::map<std::array<double, 4>, double> first;
    const auto& g = grid->numbers;
    for (std::size_t i = 0; i < grid->size(); ++i) first[{g[0][i], g[1][i], g[2][i], g[3][i]}] = g[4][i];
    std::vector<double> ratios;
    const auto& s = sweep->numbers;
    for (std::size_t i = 0; i < sweep->size(); ++i) {
        for (const auto& [length, time] : {std::pair{3, 5}, std::pair{4, 6}}) {
            const auto found = first.find({s[0][i], s[1][i], s[2][i], s[static_cast<std::size_t>(length)][i]});
            if (found != first.end() && found->second > 0)
                ratios.push_back(s[static_cast<std::size_t>(time)][i] / found->second);
        }
    }
    if (ratios.size() < fewestPoints) return repeats;
    std::sort(ratios.begin(), ratios.end());
    const auto at = [&](double q) { return quantileLowerOfSorted(ratios, q); };
    if (!(at(0.5) > 0)) return repeats;
    repeats.points = ratios.size();
    repeats.low = std::min(1.0, at(0.05) / at(0.5));
    repeats.high = std::max(1.0, at(0.95) / at(0.5));
    return repeats;
}

}  // namespace orrery
