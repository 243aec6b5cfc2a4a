#include "methods/trace/vidur_tables.h"

#include "base/maths.h"
#include "base/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr int token_step = 8;

const TableSpec vidurTable{
    .area = "trace", .what = "a table of numbers", .hint = "name the folder that holds the tables", .mayBeEmpty = true};

/// Values at rows × columns, both evenly spaced from 0 on.
struct Grid {
    std::int64_t rowStep = 1, columnStep = 1, rows = 0, columns = 0;
    std::vector<double> values;
    double at(std::int64_t row, std::int64_t column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
    std::int64_t lastRow() const { return (rows - 1) * rowStep; }
    std::int64_t lastColumn() const { return (columns - 1) * columnStep; }
};

class VidurTables final : public IterationTime {
public:
    VidurTableSpec spec;
    std::string folder;
    std::vector<double> tokenMs;  ///< of a block without attention, by exact tokens
    std::vector<double> sendMs, hostMs;
    std::vector<std::string> missing;  ///< operators that the tables lack
    Grid decode;                       ///< sequences × context
    Grid prefill;                      ///< context × chunk
    std::int64_t contextStep = 64;

    IterationPrice price(const IterationWork& work) const override {
        IterationPrice out;
        const double block = tokens(tokenMs, work.tokens, out) + decodeOf(work, out) + prefillOf(work, out);
        const double stage = block * (spec.layers / spec.stages);
        double host = 0;
        if (!hostMs.empty()) {
            host = tokens(hostMs, static_cast<std::int64_t>(work.prompts.size() + work.decodes.size()), out) * 1e-3;
        }
        out.lastSeconds = stage * 1e-3 + host;
        out.seconds = out.lastSeconds;
        if (spec.stages > 1) out.seconds = (stage + tokens(sendMs, work.tokens, out)) * 1e-3 + host;
        return out;
    }
    int stages() const override { return spec.stages; }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> all{
            fmt::format("Iterations take the time of Vidur's tables in {}; embedding, output head and sampling are "
                        "not in them",
                        folder),
            "The tables state no error: intervals are points"};
        for (const auto& name : missing) all.push_back(fmt::format("The tables lack {}: it is counted as free", name));
        return all;
    }

private:
    double tokens(const std::vector<double>& table, std::int64_t count, IterationPrice& out) const {
        const auto last = static_cast<std::int64_t>(table.size()) - 1;
        if (count <= last) return table[static_cast<std::size_t>(count)];
        out.domain = DomainVerdict::Outside;
        const double border = table[static_cast<std::size_t>(last)];
        if (spec.saturate) return border;
        const double slope =
            (border - table[static_cast<std::size_t>(last / 2)]) / static_cast<double>(last - last / 2);
        return border + slope * static_cast<double>(count - last);
    }
    double decodeOf(const IterationWork& work, IterationPrice& out) const {
        const auto count = static_cast<std::int64_t>(work.decodes.size());
        if (count == 0) return 0;
        // Vidur counts the token itself into its cache.
        const std::int64_t mean = roundUp((work.decodeContext + count) / count, contextStep);
        const std::int64_t row = std::min(count, decode.rows - 1);
        const std::int64_t column = std::min(mean, decode.lastColumn());
        double ms = decode.at(row, column / decode.columnStep);
        if (row != count || column != mean) {
            out.domain = DomainVerdict::Outside;
            if (!spec.saturate) {
                const double more = static_cast<double>(count * std::max<std::int64_t>(mean, 1));
                ms *= more / static_cast<double>(row * std::max<std::int64_t>(column, 1));
            }
        }
        return spec.groupedHeads && count > 1 ? ms * (1 + spec.decodeOverhead) : ms;
    }
    double prefillOf(const IterationWork& work, IterationPrice& out) const {
        if (work.prompts.empty()) return 0;
        std::int64_t context = 0, squares = 0;
        for (const PromptChunk& chunk : work.prompts) {
            context += roundUp(chunk.context, contextStep);
            squares += std::int64_t{chunk.tokens} * chunk.tokens;
        }
        const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(squares))));
        const std::int64_t row = std::min(context, prefill.lastRow());
        const std::int64_t column = std::min(side, prefill.columns - 1);
        double ms = prefill.at(row / prefill.rowStep, column);
        if (row != context || column != side) {
            out.domain = DomainVerdict::Outside;
            if (!spec.saturate) ms *= pairs(side, context) / pairs(column, row);
        }
        return spec.groupedHeads && work.prompts.size() > 1 ? ms * (1 + spec.prefillOverhead) : ms;
    }
    static double pairs(std::int64_t chunk, std::int64_t context) {
        return static_cast<double>(chunk) * (0.5 * static_cast<double>(chunk) + static_cast<double>(context));
    }
};

constexpr std::int64_t largest_table = std::int64_t{1} << 26;

Expected<Grid> readGrid(const std::string& folder, const std::string& name, const std::string& rowName,
                        const std::string& columnName, bool stepRows) {
    auto table = readTable(folder + "/" + name + ".csv", vidurTable);
    if (!table) return tl::unexpected(std::move(table.error()));
    std::array<const std::vector<double>*, 3> columns{};
    const std::array<std::string, 3> names{rowName, columnName, "ms"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto column = table->column(names[i]);
        if (!column) return tl::unexpected(std::move(column.error()));
        columns[i] = *column;
    }
    const auto bad = [&](std::size_t row, std::string why) {
        return fail("trace.bad-row", std::move(why), "whole numbers from 0 on and milliseconds from 0 on", {},
                    Place{table->path, table->lines[row], 0, {}});
    };
    Grid grid;
    std::int64_t step = 0, rowEnd = 0, columnEnd = 0;
    const auto& stepped = *columns[stepRows ? 0 : 1];
    for (std::size_t i = 0; i < stepped.size(); ++i) {
        for (int c = 0; c < 2; ++c) {
            const double value = (*columns[static_cast<std::size_t>(c)])[i];
            if (!(value >= 0 && value <= 1e9) || value != std::floor(value)) {
                return bad(i, fmt::format("{} is {}", names[static_cast<std::size_t>(c)], value));
            }
        }
        if (!((*columns[2])[i] >= 0 && std::isfinite((*columns[2])[i]))) {
            return bad(i, fmt::format("{} ms", (*columns[2])[i]));
        }
        const auto value = static_cast<std::int64_t>(stepped[i]);
        if (value > 0 && (step == 0 || value < step)) step = value;
        rowEnd = std::max(rowEnd, static_cast<std::int64_t>((*columns[0])[i]));
        columnEnd = std::max(columnEnd, static_cast<std::int64_t>((*columns[1])[i]));
    }
    if (step == 0) step = 1;
    (stepRows ? grid.rowStep : grid.columnStep) = step;
    grid.rows = rowEnd / grid.rowStep + 1;
    grid.columns = columnEnd / grid.columnStep + 1;
    if (grid.rows > largest_table / grid.columns) {
        return fail("trace.too-large", fmt::format("a table of {} × {} cells", grid.rows, grid.columns),
                    fmt::format("at most {} cells", largest_table), {}, Place{table->path, 0, 0, {}});
    }
    grid.values.assign(static_cast<std::size_t>(grid.rows * grid.columns), std::nan(""));
    for (std::size_t i = 0; i < stepped.size(); ++i) {
        const auto row = static_cast<std::int64_t>((*columns[0])[i]);
        const auto column = static_cast<std::int64_t>((*columns[1])[i]);
        if (row % grid.rowStep != 0 || column % grid.columnStep != 0) {
            return bad(i, fmt::format("{} is no multiple of {}", stepped[i], step));
        }
        grid.values[static_cast<std::size_t>(row / grid.rowStep * grid.columns + column / grid.columnStep)] =
            (*columns[2])[i];
    }
    // Only sequences and chunks may begin at 1.
    for (std::int64_t row = stepRows ? 0 : 1; row < grid.rows; ++row) {
        for (std::int64_t column = stepRows ? 1 : 0; column < grid.columns; ++column) {
            if (!std::isnan(grid.at(row, column))) continue;
            return fail("trace.gap",
                        fmt::format("no row for {} {} and {} {}", rowName, row * grid.rowStep, columnName,
                                    column * grid.columnStep),
                        "a row for every combination", "write the table again", Place{table->path, 0, 0, {}});
        }
    }
    return grid;
}

Expected<std::vector<double>> byCount(const Table& table, const std::string& key, const std::string& name) {
    auto counts = table.column(key);
    auto values = counts ? table.column(name) : counts;
    if (!values) return tl::unexpected(std::move(values.error()));
    std::vector<double> out;
    for (std::size_t i = 0; i < (*counts)->size(); ++i) {
        const double count = (**counts)[i], value = (**values)[i];
        if (!(count >= 1 && count <= static_cast<double>(largest_table)) || count != std::floor(count) ||
            !(value >= 0 && std::isfinite(value))) {
            return fail("trace.bad-row", fmt::format("{} {} and {} {}", key, count, name, value),
                        "a whole number from 1 on and milliseconds from 0 on", {},
                        Place{table.path, table.lines[i], 0, {}});
        }
        const auto at = static_cast<std::size_t>(count);
        if (at >= out.size()) out.resize(at + 1, std::nan(""));
        out[at] = value;
    }
    for (std::size_t i = 1; i < out.size(); ++i) {
        if (std::isnan(out[i])) {
            return fail("trace.gap", fmt::format("no row for {} {}", key, i), "a row for every number from 1 on", {},
                        Place{table.path, 0, 0, {}});
        }
    }
    if (out.size() < 2) {
        return fail("trace.empty", "the table has no rows", "one row per number of tokens", {},
                    Place{table.path, 0, 0, {}});
    }
    out[0] = 0;
    return out;
}

Expected<void> readTokens(VidurTables& out) {
    auto table = readTable(out.folder + "/token_ops.csv", vidurTable);
    if (!table) return tl::unexpected(std::move(table.error()));
    const auto& spec = out.spec;
    struct Operator {
        const char* name;
        double times;
        bool exact;
    };
    const std::array operators{Operator{"attn_pre_proj", 1, false},
                               Operator{"attn_post_proj", 1, false},
                               Operator{"attn_rope", 1, false},
                               Operator{"attn_kv_cache_save", 1, true},
                               Operator{"mlp_up_proj", 1, false},
                               Operator{"mlp_down_proj", 1, false},
                               Operator{"mlp_act", 1, false},
                               Operator{"input_layernorm", 1, false},
                               Operator{"add", 1, false},
                               Operator{"post_attention_layernorm", spec.postAttentionNorm ? 1. : 0, false},
                               Operator{"all_reduce", spec.devices > 1 ? 2. : 0, false}};
    for (const auto& each : operators) {
        if (each.times == 0) continue;
        // Vidur counts these as free where a profile lacks them.
        const bool optional =
            each.exact || std::string_view(each.name).ends_with("norm") || each.name == std::string_view("add");
        if (optional && std::find(table->names.begin(), table->names.end(), each.name) == table->names.end()) {
            out.missing.push_back(each.name);
            continue;
        }
        auto values = byCount(*table, "num_tokens", each.name);
        if (!values) return tl::unexpected(std::move(values.error()));
        if (out.tokenMs.empty()) out.tokenMs.assign(values->size(), 0);
        const std::size_t last = values->size() - 1;
        for (std::size_t t = 1; t < out.tokenMs.size(); ++t) {
            const std::size_t at =
                each.exact ? t : std::min<std::size_t>((t + token_step - 1) / token_step * token_step, last);
            out.tokenMs[t] += each.times * (*values)[at];
        }
    }
    if (spec.devices > 1) {
        const double more = spec.launchMilliseconds + spec.skewMilliseconds * std::pow(spec.devices, 1.25);
        for (double& each : out.tokenMs) each += 2 * more;
    }
    if (spec.stages > 1) {
        auto values = byCount(*table, "num_tokens", "send_recv");
        if (!values) return tl::unexpected(std::move(values.error()));
        out.sendMs.resize(values->size());
        for (std::size_t t = 1; t < values->size(); ++t) {
            out.sendMs[t] = (*values)[std::min((t + token_step - 1) / token_step * token_step, values->size() - 1)];
        }
    }
    return {};
}

// Vidur's files are named cpu_overhead or cpu_overheads.
Expected<void> readHost(VidurTables& out) {
    auto table = readTable(out.folder + "/cpu_overhead.csv", vidurTable);
    if (!table && table.error().code == "trace.no-table") {
        if (auto other = readTable(out.folder + "/cpu_overheads.csv", vidurTable);
            other || other.error().code != "trace.no-table") {
            table = std::move(other);
        }
    }
    if (!table) return tl::unexpected(std::move(table.error()));
    for (const auto* name :
         {"schedule", "sampler_e2e", "prepare_inputs_e2e", "process_model_outputs", "ray_comm_time"}) {
        auto values = byCount(*table, "batch_size", name);
        if (!values) return tl::unexpected(std::move(values.error()));
        out.hostMs.resize(values->size(), 0);
        for (std::size_t i = 0; i < values->size(); ++i) out.hostMs[i] += (*values)[i];
    }
    return {};
}

}  // namespace

Expected<IterationTimePtr> readVidurTables(const std::string& folder, const VidurTableSpec& spec) {
    if (spec.layers < 1 || spec.stages < 1 || spec.devices < 1 || spec.layers % spec.stages != 0) {
        return fail("trace.bad-model",
                    fmt::format("{} layers on {} stages of {} devices", spec.layers, spec.stages, spec.devices),
                    "layers that divide evenly over one stage or more");
    }
    auto out = std::make_shared<VidurTables>();
    out->spec = spec;
    out->folder = folder;
    if (auto good = readTokens(*out); !good) return tl::unexpected(std::move(good.error()));
    auto decode = readGrid(folder, "attn_decode", "batch_size", "kv_cache_size", false);
    if (!decode) return tl::unexpected(std::move(decode.error()));
    auto prefill = readGrid(folder, "attn_prefill", "kv_cache_size", "chunk", true);
    if (!prefill) return tl::unexpected(std::move(prefill.error()));
    out->decode = std::move(*decode);
    out->prefill = std::move(*prefill);
    if (out->decode.rows < 2 || out->prefill.columns < 2 || out->decode.columnStep != out->prefill.rowStep) {
        return fail("trace.gap",
                    fmt::format("contexts in steps of {} and of {}", out->decode.columnStep, out->prefill.rowStep),
                    "both attention tables with rows and the same step of contexts", {}, Place{folder, 0, 0, {}});
    }
    out->contextStep = out->decode.columnStep;
    if (spec.host) {
        if (auto good = readHost(*out); !good) return tl::unexpected(std::move(good.error()));
    }
    return IterationTimePtr(std::move(out));
}

}  // namespace orrery
