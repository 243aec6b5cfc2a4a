#include "simulation/cpu/block/mix.h"

#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::block {

Expected<MixTable> readMixTable(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) return tl::unexpected(stream.error());
    MixTable table;
    const auto refuse = [&](std::string message, std::string expected) {
        return fail("mix.table", std::move(message), std::move(expected), {}, {.file = path, .line = stream->line()});
    };
    const auto first = stream->next();
    if (!first) return tl::unexpected(first.error());
    const auto head = stream->cells();
    if (!*first || head.size() < 3 || head[0] != "id" || head[2] != "usage")
        return refuse("the table of a mix lacks its columns", "id, instruction, usage");
    for (;;) {
        const auto more = stream->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) break;
        const auto cells = stream->cells();
        if (cells.size() < 3 || wholeIn(cells[0]) != static_cast<std::int64_t>(table.names.size()))
            return refuse("an id is out of turn", fmt::format("id {}", table.names.size()));
        std::size_t count = 0;
        for (const auto word : split(cells[2], ' ')) {
            const auto number = numberIn(word);
            if (!number || *number < 0)
                return refuse(fmt::format("`{}` is no usage", word), "a number of cycles, 0 or more");
            table.usage.push_back(static_cast<float>(*number));
            ++count;
        }
        if (table.names.empty()) table.resources = count;
        if (count != table.resources || count == 0 || count > 256)
            return refuse(fmt::format("{} numbers of usage", count), fmt::format("{} numbers", table.resources));
        table.names.emplace_back(cells[1]);
    }
    if (table.empty()) return refuse("the table of a mix has no row", "an instruction per row");
    return table;
}

Expected<std::vector<std::int32_t>> readMix(std::string_view text, const MixTable& table) {
    std::vector<std::int32_t> ids;
    for (const auto word : split(text, ' ')) {
        if (trimmed(word).empty()) continue;
        const auto id = wholeIn(trimmed(word));
        const int column = static_cast<int>(word.data() - text.data()) + 1;
        if (!id)
            return fail("mix.ids", fmt::format("`{}` is no id", word), "whole numbers with blanks between", {},
                        {.column = column});
        if (*id < 0 || *id >= static_cast<std::int64_t>(table.names.size())) {
            return fail("mix.unknown-id", fmt::format("there is no instruction {}", *id),
                        fmt::format("0 to {}", table.names.size() - 1), {}, {.column = column});
        }
        ids.push_back(static_cast<std::int32_t>(*id));
    }
    if (ids.empty()) return fail("mix.ids", "the mix names no instruction", "ids with blanks between");
    return ids;
}

MixPrediction predictMix(const MixTable& table, std::span<const std::int32_t> ids) {
    std::array<double, 256> sums{};
    const std::size_t count = std::min(table.resources, sums.size());
    for (const auto id : ids) {
        const float* row = table.usage.data() + static_cast<std::size_t>(id) * table.resources;
        for (std::size_t r = 0; r < count; ++r) sums[r] += row[r];
    }
    const auto most = std::max_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(count));
    MixPrediction answer;
    answer.binding = static_cast<std::size_t>(most - sums.begin());
    if (*most <= 0) return answer;
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r) sum += std::pow(sums[r] / *most, table.norm);
    answer.cycles = *most * std::pow(sum, 1 / table.norm);
    answer.low = answer.cycles * table.low;
    answer.high = answer.cycles * table.high;
    return answer;
}

}  // namespace orrery::block
