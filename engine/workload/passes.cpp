#include "workload/passes.h"

#include "base/text/words.h"

#include <queue>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace orrery {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::int64_t largestBinding = std::int64_t(1) << 40;

constexpr std::int32_t nobody = -1;

/// Which operator writes each tensor. A KV cache is updated in place, so writing it is not producing it.
std::vector<std::int32_t> producers(const Graph& graph) {
    std::vector<std::int32_t> by(graph.tensors.size(), nobody);
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        for (const TensorId id : graph.operators[i].outputs) {
            if (const Tensor* tensor = graph.tensor(id); tensor && tensor->role != TensorRole::KvCache) {
                by[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
            }
        }
    }
    return by;
}

std::int32_t producerOf(const std::vector<std::int32_t>& by, TensorId id) {
    return id >= 0 && static_cast<std::size_t>(id) < by.size() ? by[static_cast<std::size_t>(id)] : nobody;
}

std::vector<char> liveOperators(const Graph& graph) {
    std::vector<char> live(graph.operators.size(), 0);
    std::vector<std::size_t> pending;
    const auto by = producers(graph);
    const auto mark = [&](std::int32_t index) {
        if (index == nobody || live[static_cast<std::size_t>(index)]) return;
        live[static_cast<std::size_t>(index)] = 1;
        pending.push_back(static_cast<std::size_t>(index));
    };
    for (const TensorId id : graph.outputs) mark(producerOf(by, id));
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        for (const TensorId id : graph.operators[i].outputs) {
            const Tensor* tensor = graph.tensor(id);
            if (tensor && (tensor->role == TensorRole::KvCache || tensor->role == TensorRole::Output)) {
                mark(static_cast<std::int32_t>(i));
            }
        }
    }
    while (!pending.empty()) {
        const std::size_t index = pending.back();
        pending.pop_back();
        for (const TensorId id : graph.operators[index].inputs) mark(producerOf(by, id));
    }
    return live;
}

/// Drops tensors that nothing names and renumbers the rest in their order.
void compactTensors(Graph& graph) {
    std::vector<TensorId> renamed(graph.tensors.size(), -1);
    const auto use = [&](const std::vector<TensorId>& ids) {
        for (const TensorId id : ids) {
            if (graph.tensor(id)) renamed[static_cast<std::size_t>(id)] = 0;
        }
    };
    use(graph.inputs);
    use(graph.outputs);
    for (const Operator& op : graph.operators) use(op.inputs), use(op.outputs);
    std::vector<Tensor> kept;
    for (std::size_t i = 0; i < renamed.size(); ++i) {
        if (renamed[i] < 0) continue;
        renamed[i] = static_cast<TensorId>(kept.size());
        kept.push_back(std::move(graph.tensors[i]));
    }
    graph.tensors = std::move(kept);
    const auto rename = [&](std::vector<TensorId>& ids) {
        for (TensorId& id : ids) {
            id = id >= 0 && static_cast<std::size_t>(id) < renamed.size() ? renamed[static_cast<std::size_t>(id)] : -1;
        }
    };
    rename(graph.inputs);
    rename(graph.outputs);
    for (Operator& op : graph.operators) rename(op.inputs), rename(op.outputs);
}

/// Some operator on a cycle, found by walking back from one that could not be placed.
std::size_t onCycle(const Graph& graph, const std::vector<std::int32_t>& by, const std::vector<char>& placed) {
    std::size_t at = 0;
    while (placed[at]) ++at;
    std::vector<char> seen(placed.size(), 0);
    while (!seen[at]) {
        seen[at] = 1;
        for (const TensorId id : graph.operators[at].inputs) {
            const std::int32_t from = producerOf(by, id);
            if (from != nobody && !placed[static_cast<std::size_t>(from)]) {
                at = static_cast<std::size_t>(from);
                break;
            }
        }
    }
    return at;
}

}  // namespace

Expected<Bindings> parseBindings(std::string_view text) {
    Bindings bindings;
    if (trimmed(text).empty()) return bindings;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string_view part = trimmed(text.substr(from, comma - from));
        from = comma + 1;
        const std::size_t equals = part.find('=');
        const auto refuse = [&](std::string why) {
            return fail("bindings.syntax", fmt::format("`{}` {}", part, why), "name=whole number, separated by commas",
                        "write for example batch=8,seq=128");
        };
        if (equals == std::string_view::npos) return refuse("binds nothing");
        const std::string_view name = trimmed(part.substr(0, equals));
        const std::string_view number = trimmed(part.substr(equals + 1));
        if (name.empty()) return refuse("names no symbol");
        const auto value = wholeIn(number);
        if (!value) return refuse("does not give a whole number");
        if (*value < 1 || *value > largestBinding) return refuse(fmt::format("is outside 1…{}", largestBinding));
        const auto [place, fresh] = bindings.emplace(name, *value);
        if (!fresh && place->second != *value) return refuse(fmt::format("contradicts {}={}", name, place->second));
    }
    return bindings;
}

void eliminateDead(Graph& graph) {
    const std::vector<char> live = liveOperators(graph);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (!live[i]) continue;
        if (kept != i) graph.operators[kept] = std::move(graph.operators[i]);
        ++kept;
    }
    graph.operators.resize(kept);
    compactTensors(graph);
}

Expected<void> sortTopologically(Graph& graph) {
    const std::size_t count = graph.operators.size();
    const auto by = producers(graph);
    std::vector<std::int32_t> waits(count, 0);
    std::vector<std::vector<std::size_t>> readers(count);
    bool sorted = true;
    for (std::size_t i = 0; i < count; ++i) {
        for (const TensorId id : graph.operators[i].inputs) {
            const std::int32_t from = producerOf(by, id);
            if (from == nobody) continue;
            readers[static_cast<std::size_t>(from)].push_back(i);
            ++waits[i];
            sorted = sorted && static_cast<std::size_t>(from) < i;
        }
    }
    if (sorted) return {};
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i) {
        if (waits[i] == 0) ready.push(i);
    }
    std::vector<std::size_t> order;
    std::vector<char> placed(count, 0);
    while (!ready.empty()) {
        const std::size_t next = ready.top();
        ready.pop();
        placed[next] = 1;
        order.push_back(next);
        for (const std::size_t reader : readers[next]) {
            if (--waits[reader] == 0) ready.push(reader);
        }
    }
    if (order.size() < count) {
        const Operator& guilty = graph.operators[onCycle(graph, by, placed)];
        return fail("graph.cycle", fmt::format("{} `{}` depends on its own result", guilty.type, guilty.name),
                    "operators whose inputs are made before them", "remove the edge that leads back",
                    Place{{}, 0, 0, guilty.name});
    }
    std::vector<Operator> operators;
    operators.reserve(count);
    for (const std::size_t index : order) operators.push_back(std::move(graph.operators[index]));
    graph.operators = std::move(operators);
    return {};
}

}  // namespace orrery
