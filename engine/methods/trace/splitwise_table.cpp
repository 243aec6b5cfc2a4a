#include "methods/trace/splitwise_table.h"

#include "base/maths.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace orrery {

namespace {

constexpr double mixed_factor = 1.1;  // splitwise-sim performance_model.py

using Samples = std::map<double, std::vector<double>>;

MedianLine medians(const Samples& samples) {
    MedianLine line;
    for (const auto& [x, values] : samples) {
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        line.x.push_back(x), line.y.push_back(medianOfSorted(sorted));
    }
    return line;
}

/// Factors around the line between which 90 % of the samples lie.
std::pair<double, double> band(const MedianLine& line, const Samples& samples) {
    std::vector<double> ratios;
    for (const auto& [x, values] : samples)
        for (const double value : values) ratios.push_back(value / line.at(x));
    std::sort(ratios.begin(), ratios.end());
    return {std::min(1.0, quantileLowerOfSorted(ratios, 0.05)), std::max(1.0, quantileLowerOfSorted(ratios, 0.95))};
}

class SplitwiseTime final : public IterationTime {
public:
    SplitwiseTime(const Samples& prompts, const Samples& tokens, std::string source, SplitwiseTokens by)
        : prompt_(medians(prompts)), token_(medians(tokens)), source_(std::move(source)), by_(by) {
        promptBand_ = band(prompt_, prompts);
        tokenBand_ = band(token_, tokens);
    }

    IterationPrice price(const IterationWork& work) const override {
        std::int64_t prompts = 0;
        for (const PromptChunk& chunk : work.prompts) prompts += chunk.tokens;
        const auto decodes = static_cast<std::int64_t>(work.decodes.size()) * work.tokensPerDecode;
        IterationPrice price;
        const bool decodeOnly = work.prompts.empty();
        const MedianLine& line = decodeOnly ? token_ : prompt_;
        const auto where = static_cast<double>(prompts + decodes);
        price.seconds = line.at(where) * (!decodeOnly && decodes > 0 ? mixed_factor : 1.0);
        price.lastSeconds = price.seconds;
        const auto& band = decodeOnly ? tokenBand_ : promptBand_;
        price.low = band.first;
        price.high = band.second;
        if (where < line.x.front() || where > line.x.back()) price.domain = DomainVerdict::Outside;
        return price;
    }

    std::vector<std::string> assumptions() const override {
        return {fmt::format("Iterations take the medians of {}, linear in the tokens of the batch", source_),
                "Tokens that are in the KV cache already do not lengthen an iteration",
                "A batch with prompts and decoding sequences takes 1.1 times the prompt time of all its tokens",
                by_ == SplitwiseTokens::ByBatchTokens ? "Token times are looked up as splitwise-sim does: measured "
                                                        "over prompt × batch, asked at the batch size"
                                                      : "Token times were measured at prompts of 512 tokens"};
    }

private:
    MedianLine prompt_, token_;
    std::pair<double, double> promptBand_, tokenBand_;
    std::string source_;
    SplitwiseTokens by_;
};

// A positive number, not absurd.
std::optional<double> sizeIn(std::string_view text) {
    const auto value = numberIn(text);
    return value && *value > 0 && *value <= 1e12 ? value : std::nullopt;
}

constexpr std::array<std::string_view, 7> columns{"model",      "hardware",    "tensor_parallel", "prompt_size",
                                                  "batch_size", "prompt_time", "token_time"};

}  // namespace

double MedianLine::at(double where) const {
    const auto right = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), where) - x.begin()), 1, x.size() - 1);
    const double slope = (y[right] - y[right - 1]) / (x[right] - x[right - 1]);
    const double value = y[right - 1] + slope * (where - x[right - 1]);
    const double least = *std::min_element(y.begin(), y.end()) * 1e-3;
    return std::max(value, least);
}

Expected<IterationTimePtr> readSplitwiseTable(const std::string& path, const SplitwiseChoice& choice) {
    auto file = CsvStream::open(path);
    if (!file) return tl::unexpected(file.error());
    std::array<std::size_t, columns.size()> at{};
    const auto head = file->next();
    if (!head) return tl::unexpected(head.error());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto cells = file->cells();
        const auto found = *head ? std::find(cells.begin(), cells.end(), columns[c]) : cells.end();
        if (!*head || found == cells.end())
            return fail("splitwise.no-column", fmt::format("the table has no column {}", columns[c]),
                        "columns model, hardware, tensor_parallel, prompt_size, batch_size, prompt_time, token_time",
                        "give splitwise-sim's data/perf_model.csv, or a table with its columns", {path, file->line()});
        at[c] = static_cast<std::size_t>(found - cells.begin());
    }
    Samples prompts;
    Samples tokens;
    std::set<std::string> offered;
    for (;;) {
        const auto more = file->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) break;
        const auto cells = file->cells();
        std::array<double, columns.size()> values{};
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (at[c] >= cells.size())
                return fail("splitwise.bad-value", fmt::format("the line ends before column {}", columns[c]),
                            "a cell for every column", "repair the line", {path, file->line()});
            if (c < 2) continue;
            const auto value = sizeIn(cells[at[c]]);
            if (!value)
                return fail("splitwise.bad-value", fmt::format("{} is \"{}\"", columns[c], cells[at[c]].substr(0, 40)),
                            "a positive number", "repair the line", {path, file->line()});
            values[c] = *value;
        }
        const bool wanted =
            cells[at[0]] == choice.model && cells[at[1]] == choice.hardware && values[2] == choice.tensorParallel;
        if (!wanted) {
            if (offered.size() < 64)
                offered.insert(
                    fmt::format("{} on {} × {}", cells[at[0]].substr(0, 40), cells[at[1]].substr(0, 40), values[2]));
            continue;
        }
        const double batchTokens = values[3] * values[4];
        prompts[batchTokens].push_back(values[5] / 1000);
        if (choice.tokens == SplitwiseTokens::ByBatchTokens)
            tokens[batchTokens].push_back(values[6] / 1000);
        else
            tokens[values[4]].push_back(values[6] / 1000);
    }
    if (prompts.size() < 2 || tokens.size() < 2) {
        std::string list;
        for (const std::string& one : offered) list += (list.empty() ? "" : ", ") + one;
        return fail("splitwise.no-rows",
                    fmt::format("{} sizes were measured for {} on {} × {}", prompts.size(), choice.model,
                                choice.hardware, choice.tensorParallel),
                    "two sizes or more", list.empty() ? "choose another table" : "the table has " + list, {path});
    }
    std::string source = fmt::format("{} for {} on {} × {}", path.substr(path.find_last_of('/') + 1), choice.model,
                                     choice.hardware, choice.tensorParallel);
    return std::make_shared<const SplitwiseTime>(prompts, tokens, std::move(source), choice.tokens);
}

}  // namespace orrery
