// Writing folded blocks out. What the block before hands on is not stored with a folded block; it is taken to be the
// input from outside of the same shape and type as what the block hands out.

#include "workload/blocks.h"
#include "workload/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

std::size_t at(TensorId id) {
    return static_cast<std::size_t>(id);
}

bool stored(const Tensor& tensor) {
    return tensor.role == TensorRole::Weight || tensor.role == TensorRole::Constant;
}

class Unfolder {
public:
    Unfolder(Graph& graph, const BlockRun& run) : graph_(graph), run_(run), end_(run.first + run.size) {}

    bool possible() const {
        for (std::size_t i = run_.first; i < end_; ++i) {
            const Operator& op = graph_.operators[i];
            const bool copies = op.weightCopies <= 1 || op.weightCopies % run_.count == 0;
            if (op.repeat % run_.count != 0 || !copies || op.attributes.contains("fused")) return false;
        }
        return true;
    }

    void unfold() {
        findCarried();
        for (const Operator& op : graph_.operators) names_.insert(op.name);
        std::vector<Operator> all(graph_.operators.begin(), graph_.operators.begin() + std::ptrdiff_t(run_.first));
        for (std::int64_t i = 0; i < run_.count; ++i) {
            before_ = std::move(own_);
            own_.clear();
            for (std::size_t k = run_.first; k < end_; ++k) all.push_back(instance(graph_.operators[k], i));
        }
        all.insert(all.end(), graph_.operators.begin() + std::ptrdiff_t(end_), graph_.operators.end());
        graph_.operators = std::move(all);
    }

private:
    void findCarried() {
        std::set<TensorId> readInside, readOutside(graph_.outputs.begin(), graph_.outputs.end()),
            readAfter = readOutside;
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const auto& inputs = graph_.operators[i].inputs;
            const bool inside = i >= run_.first && i < end_;
            (inside ? readInside : readOutside).insert(inputs.begin(), inputs.end());
            if (i >= end_) readAfter.insert(inputs.begin(), inputs.end());
            if (inside) made_.insert(graph_.operators[i].outputs.begin(), graph_.operators[i].outputs.end());
        }
        for (std::size_t i = run_.first; i < end_; ++i) {
            for (const TensorId out : graph_.operators[i].outputs) {
                if (!graph_.tensor(out) || (readInside.contains(out) && !readOutside.contains(out))) continue;
                const Tensor& given = graph_.tensors[at(out)];
                if (given.role == TensorRole::KvCache) continue;
                for (const TensorId in : readInside) {
                    if (!graph_.tensor(in) || made_.contains(in) || readAfter.contains(in) || carried_.contains(in))
                        continue;
                    const Tensor& taken = graph_.tensors[at(in)];
                    if (stored(taken) || taken.role == TensorRole::KvCache) continue;
                    if (taken.shape != given.shape || taken.type != given.type) continue;
                    carried_[in] = out;
                    break;
                }
            }
        }
    }

    /// This repetition's own copy of a tensor; one repetition keeps the tensor itself.
    TensorId ownCopy(TensorId id, std::int64_t i, std::int64_t keeper) {
        const auto [place, fresh] = own_.emplace(id, id);
        if (!fresh || i == keeper) return place->second;
        Tensor copy = graph_.tensors[at(id)];
        copy.name = fmt::format("{}#{}", copy.name, i);
        if (copy.role == TensorRole::Output) copy.role = TensorRole::Activation;
        place->second = graph_.addTensor(std::move(copy));
        if (graph_.tensors[at(id)].role == TensorRole::KvCache) {
            for (auto* list : {&graph_.inputs, &graph_.outputs}) {
                if (std::find(list->begin(), list->end(), id) != list->end()) list->push_back(place->second);
            }
        }
        return place->second;
    }

    Operator instance(const Operator& folded, std::int64_t i) {
        Operator op = folded;
        op.repeat /= run_.count;
        if (op.weightCopies > 1) op.weightCopies /= run_.count;
        const bool shared = folded.weightCopies == 1 && folded.repeat > 1;
        op.block = withoutPart(folded.block);
        op.name = nameOf(folded.name, i);
        for (TensorId& id : op.inputs) {
            if (!graph_.tensor(id)) continue;
            const Tensor& tensor = graph_.tensors[at(id)];
            if (tensor.role == TensorRole::KvCache || (stored(tensor) && !shared)) {
                id = ownCopy(id, i, 0);
            } else if (made_.contains(id)) {
                id = ownCopy(id, i, run_.count - 1);
            } else if (const auto carried = carried_.find(id); carried != carried_.end() && i > 0) {
                if (const auto last = before_.find(carried->second); last != before_.end()) id = last->second;
            }
        }
        for (TensorId& id : op.outputs) {
            if (!graph_.tensor(id)) continue;
            id = ownCopy(id, i, graph_.tensors[at(id)].role == TensorRole::KvCache ? 0 : run_.count - 1);
        }
        return op;
    }

    std::string withoutPart(const std::string& block) const {
        const std::string part = fmt::format("{} ×{}", run_.label, run_.count);
        std::string rest;
        bool dropped = false;
        for (std::size_t from = 0; from < block.size();) {
            const std::size_t end = std::min(block.find(" / ", from), block.size());
            const std::string each = block.substr(from, end - from);
            from = end + 3;
            if (!dropped && (each == part || each == run_.label)) {
                dropped = true;
            } else {
                rest += (rest.empty() ? "" : " / ") + each;
            }
        }
        return rest;
    }

    /// `layers.mlp` of the fourth repetition is `layers.3.mlp`, `/enc/layer_0/mlp` is `/enc/layer_3/mlp`.
    std::string nameOf(const std::string& name, std::int64_t i) {
        const auto scopes = scopesOf(name);
        std::string changed = fmt::format("{}#{}", name, i);
        if (run_.sharedScopes > 0 && run_.sharedScopes <= scopes.size()) {
            const std::string_view scope = scopes[run_.sharedScopes - 1];
            const auto end = static_cast<std::size_t>(scope.data() + scope.size() - name.data());
            const std::size_t word = name.find_last_not_of("0123456789", end - 1) + 1;
            const char separator = name.find('/') != std::string::npos ? '/' : '.';
            if (run_.isScope && word < end && end - word < 10) {
                changed = fmt::format("{}{}{}", name.substr(0, word), std::stoll(name.substr(word, end - word)) + i,
                                      name.substr(end));
            } else if (run_.isScope) {
                changed = fmt::format("{}.{}{}", name.substr(0, end), i, name.substr(end));
            } else {
                changed = fmt::format("{}{}repeat.{}{}", name.substr(0, end), separator, i, name.substr(end));
            }
        }
        if (i == 0 && changed == name) return name;
        const std::string wanted = changed;
        for (int again = 2; !names_.insert(changed).second; ++again) changed = fmt::format("{}#{}", wanted, again);
        return changed;
    }

    Graph& graph_;
    const BlockRun run_;
    std::size_t end_;
    std::set<TensorId> made_;
    std::map<TensorId, TensorId> carried_, own_, before_;
    std::set<std::string> names_;
};

}  // namespace

std::size_t unfoldRepeats(Graph& graph, std::size_t most) {
    const std::size_t before = graph.operators.size();
    std::set<std::string> left;  // blocks that stay folded
    for (bool again = true; again;) {
        again = false;
        const Blocks blocks = blocksOf(graph);
        for (const BlockRun& run : blocks.runs) {
            const std::string key = graph.operators[run.first].name + "\n" + run.label;
            if (left.contains(key)) continue;
            Unfolder unfolder(graph, run);
            const double size = double(graph.operators.size()) + double(run.size) * double(run.count - 1);
            if (size > double(most) || !unfolder.possible()) {
                left.insert(key);
                continue;
            }
            unfolder.unfold();
            again = true;
            break;
        }
    }
    return graph.operators.size() - before;
}

}  // namespace orrery
