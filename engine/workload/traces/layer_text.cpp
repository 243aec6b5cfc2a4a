#include "workload/traces/layer_text.h"

#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace orrery {

namespace {

constexpr std::size_t most_layers = 1'000'000, most_nodes = 20'000'000;
constexpr double largest_value = 9e15;

constexpr std::pair<std::string_view, LayerPolicy> layer_policies[] = {
    {"DATA", LayerPolicy::Data},
    {"MODEL", LayerPolicy::Model},
    {"MICRO", LayerPolicy::All},
    {"HYBRID_DLRM", LayerPolicy::All},
    {"HYBRID_DLRM_ENHANCED", LayerPolicy::All},
    {"HYBRID_TRANSFORMER", LayerPolicy::Transformer},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", LayerPolicy::Transformer},
    {"HYBRID_DATA_MODEL", LayerPolicy::ModelInside},
    {"HYBRID_MODEL_DATA", LayerPolicy::DataInside},
    {"HYBRID_CUSTOMIZED", LayerPolicy::EachItsOwn},
    {"DISTRIBUTED_INFERENCE", LayerPolicy::Model}};

constexpr std::pair<std::string_view, TraceCollective> layer_exchanges[] = {
    {"ALLREDUCE", TraceCollective::AllReduce},
    {"ALLGATHER", TraceCollective::AllGather},
    {"REDUCESCATTER", TraceCollective::ReduceScatter},
    {"ALLTOALL", TraceCollective::AllToAll},
    {"BROADCAST", TraceCollective::Broadcast}};

std::optional<LayerPolicy> layerPolicy(std::string_view word) {
    for (const auto& [name, policy] : layer_policies)
        if (name == word) return policy;
    return std::nullopt;
}

std::vector<std::string_view> wordsOfLine(std::string_view line) {
    std::vector<std::string_view> words;
    constexpr std::string_view blanks = " \t\r\n\v\f";
    for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(blanks, end);
    }
    return words;
}

class LayerTextReader {
public:
    LayerTextReader(std::string_view text, std::string_view file)
        : lines_(CsvStream::of(text, std::string(file))), file_(file) {}

    Expected<LayerTable> read() {
        auto words = line();
        if (!words) return Unexpected(std::move(words.error()));
        if (auto good = header(*words); !good) return Unexpected(std::move(good.error()));
        words = line();
        if (!words) return Unexpected(std::move(words.error()));
        const auto count = words->empty() ? std::nullopt : wholeIn(words->front());
        if (!count || *count < 1 || *count > static_cast<std::int64_t>(most_layers))
            return syntax("the second line is no number of layers", fmt::format("a number from 1 to {}", most_layers));
        for (;;) {
            words = line();
            if (!words) return Unexpected(std::move(words.error()));
            if (words->empty()) break;
            if (table_.layers.size() == most_layers) return syntax("there are too many layers", "a million at most");
            if (auto good = row(*words); !good) return Unexpected(std::move(good.error()));
        }
        if (table_.layers.empty()) return syntax("there is no layer", "a row for each layer");
        if (table_.layers.size() != static_cast<std::size_t>(*count))
            table_.warnings.push_back(warning(
                "trace.rows",
                fmt::format("the file speaks of {} layers and has {}; these were taken", *count, table_.layers.size()),
                "is the file whole?", {std::string(file_), 2, 0, {}}));
        for (const auto* rows : {&table_.checkpoints, &table_.recomputed})
            for (const std::size_t at : *rows)
                if (at >= table_.layers.size())
                    return fail("trace.value", fmt::format("layer {} is recomputed and there is none", at),
                                fmt::format("layers from 0 to {}", table_.layers.size() - 1), {},
                                {std::string(file_), 1, 0, {}});
        return std::move(table_);
    }

private:
    Unexpected syntax(std::string message, std::string expected) const {
        return fail("trace.syntax", std::move(message), std::move(expected), {},
                    {std::string(file_), std::max(lines_.line(), 1), 0, {}});
    }
    Unexpected value(std::string message, std::string expected, std::string_view layer = {}) const {
        return fail("trace.value", std::move(message), std::move(expected), {},
                    {std::string(file_), lines_.line(), 0, std::string(layer)});
    }
    /// The words of the next line that has any; none at the end.
    Expected<std::vector<std::string_view>> line() {
        for (;;) {
            std::string_view text;
            auto more = lines_.next(text);
            if (!more) return Unexpected(std::move(more.error()));
            if (!*more) return std::vector<std::string_view>{};
            if (auto words = wordsOfLine(text); !words.empty()) return words;
        }
    }

    Expected<void> header(std::span<const std::string_view> words) {
        const auto policy = words.empty() ? std::nullopt : layerPolicy(words.front());
        if (!policy) return syntax("the first line does not say how the work is divided", "DATA, MODEL, HYBRID_…");
        table_.policy = *policy;
        bool plain = words.front() == "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
        for (std::size_t w = 1; w < words.size(); ++w) {
            const std::string_view key = words[w];
            const auto number = [&](std::int64_t low, std::int64_t& out) -> Expected<void> {
                const auto read = w + 1 < words.size() ? wholeIn(words[w + 1]) : std::nullopt;
                if (!read || *read < low || *read > 1 << 24)
                    return value(fmt::format("`{}` has no value that makes sense", key),
                                 fmt::format("a number from {} on", low));
                ++w;
                out = *read;
                return {};
            };
            Expected<void> good;
            if (key == "model_parallel_NPU_group:") {
                good = number(1, table_.modelParallel);
            } else if (key == "ep:") {
                good = number(1, table_.expertParallel);
                table_.simai = true;
            } else if (key == "pp:") {
                good = number(1, table_.pipeline);
            } else if (key == "vpp:") {
                good = number(1, table_.chunks);
            } else if (key == "ga:") {
                good = number(1, table_.microBatches);
            } else if (key == "all_gpus:") {
                good = number(1, table_.devices);
                table_.simai = true;
            } else if (key == "checkpoints:" || key == "checkpoint_initiates:") {
                std::int64_t count = 0;
                good = number(0, count);
                auto& rows = key == "checkpoints:" ? table_.checkpoints : table_.recomputed;
                for (std::int64_t i = 0; good && i < count; ++i) {
                    // The row's number stands where the next key would.
                    std::int64_t at = 0;
                    good = number(0, at);
                    rows.push_back(static_cast<std::size_t>(at));
                }
                plain = plain && count == 0;
            } else if (key == "pp_comm" || key == "pp_comm:") {
                ++w;                     // bytes between stages, of which a trace has one
            } else if (!wholeIn(key)) {  // DLRM's says how many tables a device holds: nothing about times
                table_.warnings.push_back(
                    warning("trace.header", fmt::format("`{}` is not known", key), {}, {std::string(file_), 1, 0, {}}));
            }
            if (!good) return good;
        }
        table_.simai = table_.simai || plain;
        return {};
    }

    Expected<void> part(std::span<const std::string_view> words, std::string_view layer, LayerPart& out) const {
        const auto time = numberIn(words[0]), bytes = numberIn(words[2]);
        if (!time || *time < 0 || *time > largest_value)
            return value(fmt::format("`{}` is no time", words[0]), "cycles from 0 on", layer);
        if (!bytes || *bytes < 0 || *bytes > largest_value)
            return value(fmt::format("`{}` is no size", words[2]), "bytes from 0 on", layer);
        out.microseconds = table_.simai ? *time / 1000 : *time;
        out.bytes = static_cast<std::int64_t>(*bytes);
        std::string_view what = words[1];
        if (what == "NONE") return {};
        if (what.ends_with("_DP_EP")) {
            out.likes = true;
            what.remove_suffix(6);
        } else if (what.ends_with("_EP")) {
            out.expert = true;
            what.remove_suffix(3);
        }
        for (const auto& [name, op] : layer_exchanges) {
            if (name != what) continue;
            out.collective = op;
            out.exchanges = true;
        }
        if (!out.exchanges)
            return value(fmt::format("there is no exchange `{}`", words[1]),
                         "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, BROADCAST, with _EP or _DP_EP", layer);
        return {};
    }

    Expected<void> row(const std::vector<std::string_view>& words) {
        const std::size_t cells = table_.policy == LayerPolicy::EachItsOwn ? 13 : 12;
        if (words.size() != cells)
            return syntax(fmt::format("a row of {} cells", words.size()),
                          fmt::format("{}: name, -1, three times a time with an exchange and its bytes, update{}",
                                      cells, cells == 13 ? ", policy" : ""));
        TextLayer layer;
        layer.name = words[0];
        layer.policy = table_.policy;
        const std::span<const std::string_view> all = words;
        auto good = part(all.subspan(2, 3), layer.name, layer.forward);
        if (good) good = part(all.subspan(5, 3), layer.name, layer.input);
        if (good) good = part(all.subspan(8, 3), layer.name, layer.weight);
        if (!good) return good;
        const auto update = numberIn(words[11]);
        if (!update || *update < 0) return value(fmt::format("`{}` is no time", words[11]), "cycles", layer.name);
        layer.update = table_.simai ? *update / 1000 : *update;
        if (cells == 13) {
            const auto own = layerPolicy(words[12]);
            if (!own || *own == LayerPolicy::EachItsOwn || *own == LayerPolicy::Transformer)
                return value(fmt::format("there is no policy `{}` of a layer", words[12]),
                             "DATA, MODEL, HYBRID_DATA_MODEL or HYBRID_MODEL_DATA", layer.name);
            layer.policy = *own;
        }
        table_.layers.push_back(std::move(layer));
        return {};
    }

    CsvStream lines_;
    std::string_view file_;
    LayerTable table_;
};

/// Rows become nodes, one after the other.
class LayerTraceMaker {
public:
    LayerTraceMaker(const LayerTable& table, std::int64_t ranks) : table_(table), ranks_(ranks) {
        if (table.policy != LayerPolicy::Transformer) return;
        const std::int64_t tp = table.modelParallel, ep = table.expertParallel;
        group("model parallel", tp, 1, model_);
        group("data parallel", ranks / tp, tp, data_);
        group("expert parallel", ep, tp, expert_);
        group("experts' data parallel", ranks / (tp * ep), tp * ep, likes_);
    }

    Expected<ExecutionTrace> make(LayerOrder order, std::string_view file) {
        const std::size_t count = table_.layers.size();
        for (std::size_t i = 0; i < count; ++i) forward(i);
        for (std::size_t i = count; i-- > 0;) {
            if (std::find(table_.recomputed.begin(), table_.recomputed.end(), i) != table_.recomputed.end())
                recompute(i);
            if (builder_.size() > most_nodes)
                return fail("trace.value", fmt::format("the layers make more than {} nodes", most_nodes),
                            "fewer layers that are recomputed", {}, {std::string(file), 1, 0, {}});
            const TextLayer& layer = table_.layers[i];
            if (order == LayerOrder::Blocking) {
                input(layer);
                compute(layer.weight, layer.name, "weight gradient");
                exchange(layer, layer.weight, "weight gradient", true);
                continue;
            }
            compute(layer.weight, layer.name, "weight gradient");
            const auto before = last_;
            exchange(layer, layer.weight, "weight gradient", true);
            last_ = before;
            if (i > 0 || layer.input.exchanges) input(layer);
        }
        builder_.trace().ranks = ranks_;
        builder_.trace().schema = table_.simai ? "SimAI" : "ASTRA-sim 1.0";
        builder_.trace().warnings = table_.warnings;
        return builder_.finish(file);
    }

private:
    static constexpr std::int32_t nobody = -2;

    void group(const char* name, std::int64_t size, std::int64_t stride, std::int32_t& index) {
        index = nobody;
        if (size < 2) return;
        index = -1;
        if (size == ranks_) return;
        index = builder_.groupNamed(name);
        builder_.trace().members.push_back({size, stride, {}});
    }
    void forward(std::size_t i, const char* what = "forward") {
        const TextLayer& layer = table_.layers[i];
        compute(layer.forward, layer.name, what);
        exchange(layer, layer.forward, what, false);
    }
    void input(const TextLayer& layer) {
        compute(layer.input, layer.name, "input gradient");
        exchange(layer, layer.input, "input gradient", false);
    }
    // From the last checkpoint up to and with this layer.
    void recompute(std::size_t to) {
        std::size_t from = 0;
        for (const std::size_t at : table_.checkpoints)
            if (at <= to) from = std::max(from, at);
        for (std::size_t i = from; i <= to && builder_.size() <= most_nodes; ++i) forward(i, "forward again");
    }
    void add(TraceNode node, std::string_view layer, std::string_view what) {
        node.id = builder_.size();
        const std::uint64_t before[] = {last_.value_or(0)};
        builder_.add(node, fmt::format("{} {}", layer, what),
                     std::span<const std::uint64_t>(before, last_.has_value() ? 1 : 0));
        last_ = node.id;
    }
    void compute(const LayerPart& part, std::string_view layer, std::string_view what) {
        TraceNode node;
        node.work = TraceWork::Compute;
        node.microseconds = part.microseconds;
        add(node, layer, what);
    }
    void exchange(const TextLayer& layer, const LayerPart& part, std::string_view what, bool weights) {
        if (!part.exchanges) return;
        TraceNode node;
        node.work = TraceWork::Collective;
        node.collective = part.collective;
        node.bytes = part.bytes;
        std::int64_t size = ranks_;
        switch (layer.policy) {
            case LayerPolicy::Data:
                if (!weights) return;
                break;
            case LayerPolicy::Model:
                if (weights) return;
                break;
            case LayerPolicy::ModelInside:
                node.dimensions = weights ? ~1U : 1U;
                break;
            case LayerPolicy::DataInside:
                node.dimensions = weights ? 1U : ~1U;
                break;
            case LayerPolicy::Transformer: {
                node.group = part.expert ? expert_ : part.likes ? likes_ : weights ? data_ : model_;
                if (node.group == nobody) return;
                if (node.group >= 0) size = builder_.trace().members[static_cast<std::size_t>(node.group)].size;
                break;
            }
            default:
                break;
        }
        // SimAI's size is what everyone holds in the end, a trace's what everyone gives.
        if (table_.simai && part.collective == TraceCollective::AllGather) node.bytes = (part.bytes + size - 1) / size;
        add(node, layer.name, fmt::format("{} {}", what, toText(part.collective)));
    }

    const LayerTable& table_;
    std::int64_t ranks_ = 1;
    TraceBuilder builder_;
    std::optional<std::uint64_t> last_;
    std::int32_t model_ = -1, data_ = -1, expert_ = -1, likes_ = -1;
};

}  // namespace

bool isLayerText(std::string_view text) {
    const std::string_view first = text.substr(0, std::min<std::size_t>(text.size(), 64));
    return layerPolicy(first.substr(0, first.find_first_of(" \t\r\n"))).has_value();
}

Expected<LayerTable> parseLayerText(std::string_view text, std::string_view file) {
    return LayerTextReader(text, file).read();
}

Expected<ExecutionTrace> layerTrace(const LayerTable& table, LayerOrder order, std::int64_t ranks,
                                    std::string_view file) {
    const bool grouped = table.policy == LayerPolicy::Transformer;
    const std::int64_t unit = grouped ? table.modelParallel * table.expertParallel : 1;
    const Place place{std::string(file), 1, 0, {}};
    if (ranks == 0 && table.devices > 0) ranks = std::max<std::int64_t>(1, table.devices / table.pipeline);
    if (ranks == 0) ranks = grouped && unit > 1 ? unit : 8;
    if (ranks % unit != 0)
        return fail("trace.value",
                    fmt::format("groups of {} do not divide {} ranks (model parallel {}, expert parallel {})", unit,
                                ranks, table.modelParallel, table.expertParallel),
                    fmt::format("a multiple of {} ranks", unit), "change the number of ranks", place);
    auto trace = LayerTraceMaker(table, ranks).make(order, file);
    if (trace && table.pipeline > 1)
        trace->warnings.push_back(warning(
            "trace.pipeline",
            fmt::format("the trace is one of {} pipeline stages; what it takes grows by ({} - 1) / ({} micro-batches × "
                        "{} chunks) for the stages' filling and emptying, and messages between them are left out",
                        table.pipeline, table.pipeline, table.microBatches, table.chunks),
            {}, place));
    return trace;
}

}  // namespace orrery
