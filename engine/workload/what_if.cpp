#include "workload/what_if.h"

#include "workload/costs.h"
#include "workload/passes.h"
#include "workload/what_if_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace orrery {
namespace {

constexpr double mostElements = 1e15;

std::size_t at(TensorId id) {
    return static_cast<std::size_t>(id);
}

Diagnostic skipped(const WhatIf& change, const std::string& why, std::string hint, std::string path = {}) {
    return warning("what-if.skipped", fmt::format("“{}” was skipped: {}", toText(change), why), std::move(hint),
                   Place{.path = std::move(path)});
}

bool floating(DType type) {
    switch (type) {
        case DType::F64:
        case DType::F32:
        case DType::TF32:
        case DType::BF16:
        case DType::F16:
        case DType::FP8:
        case DType::FP6:
        case DType::FP4:
            return true;
        default:
            return false;
    }
}

/// Indices, masks and lengths keep their type: only numbers that are computed with change.
bool retypable(const Tensor& tensor) {
    return floating(tensor.type) || (tensor.role == TensorRole::Weight && bits(tensor.type) <= 8);
}

std::optional<std::size_t> find(const Graph& graph, std::string_view name) {
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (graph.operators[i].name == name) return i;
    }
    return std::nullopt;
}

void apply(Graph& graph, const WhatIf& change, const RetypeKind& retype, Diagnostics& warnings) {
    if (bits(retype.type) == 0) {
        warnings.push_back(skipped(change, "numbers cannot be stored so", "choose a number type such as int8 or fp8"));
        return;
    }
    enum : char { Untouched, Mine, Shared };
    std::vector<char> touched(graph.tensors.size(), Untouched);
    std::size_t count = 0;
    for (Operator& op : graph.operators) {
        bool mine = op.kind == retype.kind;
        if (mine) {
            ++count;
            op.attributes[std::string(computeTypeAttribute)] = std::string(toText(retype.type));
        } else {
            // What passes between two kinds that both work in the type is stored in it.
            mine = dtype(op.text(computeTypeAttribute)) == retype.type;
        }
        for (const auto* ids : {&op.inputs, &op.outputs}) {
            for (const TensorId id : *ids) {
                if (!graph.tensor(id)) continue;
                char& by = touched[at(id)];
                by = !mine || by == Shared ? Shared : Mine;
            }
        }
    }
    if (count == 0) {
        warnings.push_back(skipped(change, fmt::format("the model has no {} operators", toText(retype.kind)),
                                   "remove the change, or choose another kind"));
        return;
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
        Tensor& tensor = graph.tensors[i];
        if (touched[i] != Mine || !retypable(tensor)) continue;
        tensor.type = retype.type;
        tensor.bytesPerElement = 0;
    }
}

/// Whether the operators hang together by activations, made or read in common.
bool connected(const Graph& graph, const std::vector<std::size_t>& members) {
    std::vector<std::size_t> head(members.size());
    std::iota(head.begin(), head.end(), std::size_t{0});
    const auto root = [&](std::size_t m) {
        while (head[m] != m) m = head[m] = head[head[m]];
        return m;
    };
    std::map<TensorId, std::size_t> seen;
    for (std::size_t m = 0; m < members.size(); ++m) {
        const Operator& op = graph.operators[members[m]];
        for (const auto* ids : {&op.inputs, &op.outputs}) {
            for (const TensorId id : *ids) {
                const Tensor* tensor = graph.tensor(id);
                if (!tensor || tensor->role == TensorRole::Weight || tensor->role == TensorRole::Constant) continue;
                const auto [place, fresh] = seen.emplace(id, m);
                if (!fresh) head[root(m)] = root(place->second);
            }
        }
    }
    for (std::size_t m = 1; m < members.size(); ++m) {
        if (root(m) != root(0)) return false;
    }
    return true;
}

std::string freeName(const Graph& graph, std::string wanted, const std::set<std::size_t>& members) {
    std::set<std::string_view> taken;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (!members.contains(i)) taken.insert(graph.operators[i].name);
    }
    std::string name = wanted;
    for (int again = 2; taken.contains(name); ++again) name = fmt::format("{}_{}", wanted, again);
    return name;
}

Operator fused(const Graph& graph, const std::vector<std::size_t>& members, std::string name) {
    Operator result;
    result.name = std::move(name);
    const Operator& first = graph.operators[members.front()];
    result.repeat = first.repeat;
    result.weightCopies = first.weightCopies;
    result.block = first.block;
    std::set<std::size_t> inside(members.begin(), members.end());
    std::set<TensorId> madeInside, readOutside(graph.outputs.begin(), graph.outputs.end());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        if (inside.contains(i)) {
            madeInside.insert(op.outputs.begin(), op.outputs.end());
        } else {
            readOutside.insert(op.inputs.begin(), op.inputs.end());
        }
    }
    std::set<TensorId> read, written;
    std::vector<std::string> names;
    Graph alone;
    alone.tensors = graph.tensors;
    for (const std::size_t m : members) {
        const Operator& op = graph.operators[m];
        for (const TensorId id : op.inputs) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor) continue;
            // a cache holds more than this pass wrote into it
            const bool external = !madeInside.contains(id) || tensor->role == TensorRole::KvCache;
            if (external && read.insert(id).second) result.inputs.push_back(id);
        }
        for (const TensorId id : op.outputs) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor) continue;
            const bool external =
                readOutside.contains(id) || tensor->role == TensorRole::KvCache || tensor->role == TensorRole::Output;
            if (external && written.insert(id).second) result.outputs.push_back(id);
        }
        alone.operators.push_back(op);
        names.push_back(op.name);
    }
    constexpr std::size_t mostTypes = 4;
    for (std::size_t p = 0; p < std::min(names.size(), mostTypes); ++p) {
        result.type += (p > 0 ? "+" : "") + alone.operators[p].type;
    }
    if (names.size() > mostTypes) result.type += "+…";

    const CostTable costs = costTable(alone);
    std::vector<double> work(7, 0), shares;
    std::size_t heaviest = 0;
    const auto weight = [&](std::size_t p) { return costs.macs[p] > 0 ? costs.macs[p] * 1e6 : costs.flops[p]; };
    for (std::size_t p = 0; p < costs.size(); ++p) {
        work[0] += costs.macs[p], work[1] += costs.flops[p], work[2] += costs.scratchBytes[p];
        if (weight(p) > weight(heaviest)) heaviest = p;
    }
    const GemmShape& gemm = costs.gemm[heaviest];
    work[3] = gemm.batch, work[4] = gemm.m, work[5] = gemm.n, work[6] = gemm.k;
    for (const TensorId id : result.inputs) {
        double most = 0;
        for (const Operator& part : alone.operators) {
            const std::vector<double> own = numbers(part, fusedReadsAttribute);
            if (part.kind == OperatorKind::View && own.empty()) continue;
            for (std::size_t i = 0; i < part.inputs.size(); ++i) {
                const double bytes = graph.tensor(id)->bytes().value;
                if (part.inputs[i] != id || bytes <= 0) continue;
                most = std::max(most, i < own.size() ? own[i] : bytesRead(part, graph, i) / bytes);
            }
        }
        shares.push_back(most);
    }
    result.kind = alone.operators[heaviest].kind;
    result.attributes[std::string(fusedAttribute)] = std::move(names);
    result.attributes[std::string(fusedWorkAttribute)] = std::move(work);
    result.attributes[std::string(fusedReadsAttribute)] = std::move(shares);
    result.attributes[std::string(computeTypeAttribute)] = std::string(toText(costs.type[heaviest]));
    return result;
}

void apply(Graph& graph, const WhatIf& change, const FuseOperators& fuse, Diagnostics& warnings) {
    std::set<std::size_t> members;
    for (const std::string& name : fuse.operators) {
        const auto found = find(graph, name);
        if (!found) {
            warnings.push_back(skipped(change, fmt::format("there is no operator {}", name),
                                       "the model has changed; remove the change or choose operators again", name));
            return;
        }
        members.insert(*found);
    }
    const std::vector<std::size_t> ordered(members.begin(), members.end());
    if (ordered.size() < 2) {
        warnings.push_back(skipped(change, "fewer than two operators are named", "choose at least two operators"));
        return;
    }
    const Operator& first = graph.operators[ordered.front()];
    for (const std::size_t m : ordered) {
        const Operator& op = graph.operators[m];
        if (op.repeat != first.repeat || op.block != first.block || op.weightCopies != first.weightCopies) {
            warnings.push_back(skipped(change,
                                       fmt::format("{} and {} are not executed equally often", first.name, op.name),
                                       "choose operators of one folded block", op.name));
            return;
        }
        if (hasWhatIfShape(op)) {
            warnings.push_back(skipped(change, fmt::format("{} has a shape of its own", op.name),
                                       "fuse first, or remove the change of shape", op.name));
            return;
        }
    }
    if (!connected(graph, ordered)) {
        warnings.push_back(skipped(change, "the operators share no data",
                                   "choose operators that follow each other or read the same tensor"));
        return;
    }
    const std::string name = freeName(graph, fuse.name.empty() ? first.name + "_fused" : fuse.name, members);
    Graph changed = graph;
    changed.operators.clear();
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (i == ordered.back()) changed.operators.push_back(fused(graph, ordered, name));
        if (!members.contains(i)) changed.operators.push_back(graph.operators[i]);
    }
    if (!sortTopologically(changed)) {
        warnings.push_back(skipped(change, "what lies between them would have to run before and after",
                                   "choose also the operators in between"));
        return;
    }
    graph = std::move(changed);
}

void apply(Graph& graph, const WhatIf& change, const ReshapeOperator& reshape, Diagnostics& warnings) {
    const auto found = find(graph, reshape.op);
    if (!found) {
        warnings.push_back(skipped(change, fmt::format("there is no operator {}", reshape.op),
                                   "the model has changed; remove the change or choose an operator again", reshape.op));
        return;
    }
    Operator& op = graph.operators[*found];
    const bool isOutput = reshape.output >= 0;
    const auto slot = static_cast<std::size_t>(isOutput ? reshape.output : -1 - reshape.output);
    const auto& ids = isOutput ? op.outputs : op.inputs;
    if (slot >= ids.size() || !graph.tensor(ids[slot])) {
        warnings.push_back(skipped(change,
                                   fmt::format("{} has {} {}s", op.name, ids.size(), isOutput ? "output" : "input"),
                                   "choose a tensor that it has", op.name));
        return;
    }
    double elements = 1;
    bool good = reshape.extents.size() <= 16;
    for (const std::int64_t extent : reshape.extents) {
        good = good && extent >= 1;
        elements *= static_cast<double>(extent);
    }
    if (!good || !(elements <= mostElements)) {
        warnings.push_back(skipped(change, "the shape is not one that a tensor can have",
                                   "give at most 16 extents of 1 or more, in all at most 10^15 elements", op.name));
        return;
    }
    op.attributes[std::string(isOutput ? outputShapeAttribute : inputShapeAttribute) + std::to_string(slot)] =
        reshape.extents;
    warnings.push_back(warning(
        "what-if.shape",
        fmt::format("“{}”: its neighbours keep their shapes, so the graph no longer fits together", toText(change)),
        op.attention ? "the work of attention follows its heads and lengths, not this shape" : "",
        Place{.path = op.name}));
}

}  // namespace

std::string toText(const WhatIf& change) {
    if (const auto* retype = std::get_if<RetypeKind>(&change)) {
        return fmt::format("{} in {}", toText(retype->kind), toText(retype->type));
    }
    if (const auto* fuse = std::get_if<FuseOperators>(&change)) {
        return fuse->name.empty() ? fmt::format("Fuse {} operators", fuse->operators.size())
                                  : fmt::format("Fuse {} operators into {}", fuse->operators.size(), fuse->name);
    }
    const auto& reshape = std::get<ReshapeOperator>(change);
    return fmt::format(
        "{} {} of {} as {}", reshape.output >= 0 ? "Output" : "Input",
        reshape.output >= 0 ? reshape.output : -1 - reshape.output, reshape.op,
        reshape.extents.empty() ? std::string("scalar") : fmt::format("{}", fmt::join(reshape.extents, "×")));
}

Diagnostics applyWhatIfs(Graph& graph, std::span<const WhatIf> changes) {
    Diagnostics warnings;
    for (const WhatIf& change : changes) {
        std::visit([&](const auto& what) { apply(graph, change, what, warnings); }, change);
    }
    return warnings;
}

}  // namespace orrery
