// Folding of repeated blocks. Operators get a signature of everything that prices them; a run of k equal blocks of
// length L shows as signature[i] == signature[i + L] over (k - 1)·L operators. Only then is the wiring compared
// exactly, so equal hashes or equal shapes alone never fold anything.

#include "base/hash.h"
#include "workload/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <unordered_map>

namespace orrery {
namespace {

constexpr std::size_t lengthsTried = 48;
constexpr std::size_t occurrencesPaired = 6;
constexpr std::size_t longestBlock = 1u << 16;

void add(Hash& hash, const Tensor& tensor) {
    hash.add(static_cast<std::uint64_t>(tensor.type)).add(tensor.bytesPerElement);
    hash.add(static_cast<std::uint64_t>(tensor.ranked)).add(static_cast<std::uint64_t>(tensor.shape.size()));
    for (const Dim& dim : tensor.shape) hash.add(static_cast<std::uint64_t>(dim.value)).add(dim.symbol);
}

struct AddAttribute {
    Hash& hash;
    void operator()(std::int64_t value) const { hash.add(static_cast<std::uint64_t>(value)); }
    void operator()(double value) const { hash.add(value); }
    void operator()(const std::string& value) const { hash.add(value); }
    template <class T>
    void operator()(const std::vector<T>& values) const {
        hash.add(static_cast<std::uint64_t>(values.size()));
        for (const T& value : values) (*this)(value);
    }
};

/// Weights and constants lie in memory before the pass begins, once for each copy.
bool stored(const Tensor& tensor) {
    return tensor.role == TensorRole::Weight || tensor.role == TensorRole::Constant;
}
bool kept(const Tensor& tensor) {
    return stored(tensor) || tensor.role == TensorRole::KvCache;
}

std::uint64_t signature(const Graph& graph, const Operator& op) {
    Hash hash;
    hash.add(op.type).add(static_cast<std::uint64_t>(op.kind)).add(static_cast<std::uint64_t>(op.repeat));
    hash.add(static_cast<std::uint64_t>(op.weightCopies)).add(op.weightShareRead);
    for (const auto& [name, value] : op.attributes) {
        hash.add(name).add(static_cast<std::uint64_t>(value.index()));
        std::visit(AddAttribute{hash}, value);
    }
    if (op.attention) {
        const AttentionShape& a = *op.attention;
        for (const std::int64_t n : {a.batch, a.heads, a.kvHeads, a.queries, a.keys, a.headDim, a.valueDim}) {
            hash.add(static_cast<std::uint64_t>(n));
        }
        hash.add(static_cast<std::uint64_t>(a.causal * 2 + a.flash));
    }
    for (const auto* ids : {&op.inputs, &op.outputs}) {
        hash.add(static_cast<std::uint64_t>(ids->size()));
        for (const TensorId id : *ids) {
            const Tensor* tensor = graph.tensor(id);
            hash.add(static_cast<std::uint64_t>(tensor != nullptr));
            if (!tensor) continue;
            add(hash, *tensor);
            hash.add(kept(*tensor) ? static_cast<std::uint64_t>(tensor->role) : 0);
        }
    }
    return hash.value();
}

struct Maker {
    std::int32_t op = -1;
    std::int32_t slot = 0;
    bool operator==(const Maker&) const = default;
};

/// A run of equal blocks.
struct Run {
    std::size_t start = 0, length = 0, count = 0;
    std::size_t saved() const { return (count - 1) * length; }
};

class Folder {
public:
    explicit Folder(Graph& graph) : graph_(graph), size_(graph.operators.size()) {
        makers_.resize(graph.tensors.size());
        firstUse_.assign(graph.tensors.size(), size_);
        lastUse_.assign(graph.tensors.size(), 0);
        output_.assign(graph.tensors.size(), 0);
        forward_.assign(graph.tensors.size(), {-1, 0});
        backward_ = forward_;
        for (const TensorId id : graph.outputs) {
            if (graph.tensor(id)) output_[at(id)] = 1;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            const Operator& op = graph.operators[i];
            signatures_.push_back(signature(graph, op));
            for (std::size_t s = 0; s < op.outputs.size(); ++s) {
                if (graph.tensor(op.outputs[s])) {
                    makers_[at(op.outputs[s])] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(s)};
                }
            }
            for (const TensorId id : op.inputs) {
                if (!graph.tensor(id)) continue;
                firstUse_[at(id)] = std::min(firstUse_[at(id)], i);
                lastUse_[at(id)] = std::max(lastUse_[at(id)], i);
            }
        }
    }

    std::size_t fold() {
        const std::vector<std::size_t> lengths = candidateLengths();
        std::vector<std::vector<std::uint32_t>> matched;
        for (const std::size_t length : lengths) matched.push_back(matchLengths(length));
        std::vector<Run> runs;
        std::size_t budget = 64 * size_ + 4096;
        for (std::size_t i = 0; i < size_ && budget > 0;) {
            Run best;
            std::vector<Run> here;
            for (std::size_t l = 0; l < lengths.size(); ++l) {
                if (const std::size_t k = 1 + matched[l][i] / lengths[l]; k >= 2) here.push_back({i, lengths[l], k});
            }
            std::sort(here.begin(), here.end(), [](const Run& a, const Run& b) {
                return a.saved() != b.saved() ? a.saved() > b.saved() : a.length < b.length;
            });
            for (const Run& run : here) {
                if (best.count >= 2 && run.saved() <= best.saved()) break;
                const Run sure{run.start, run.length, equalBlocks(run, budget)};
                if (sure.count >= 2 && (best.count < 2 || sure.saved() > best.saved())) best = sure;
            }
            if (best.count >= 2) {
                runs.push_back(best);
                i += best.count * best.length;
            } else {
                ++i;
            }
        }
        return apply(runs);
    }

private:
    static std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

    /// The commonest distances between equal operators.
    std::vector<std::size_t> candidateLengths() const {
        std::unordered_map<std::uint64_t, std::vector<std::size_t>> seen;
        std::unordered_map<std::size_t, std::size_t> votes;
        for (std::size_t i = 0; i < size_; ++i) {
            auto& places = seen[signatures_[i]];
            const std::size_t pairs = std::min(places.size(), occurrencesPaired);
            for (std::size_t p = 0; p < pairs; ++p) {
                const std::size_t distance = i - places[places.size() - 1 - p];
                if (distance <= longestBlock) ++votes[distance];
            }
            places.push_back(i);
        }
        std::vector<std::pair<std::size_t, std::size_t>> ranked;
        for (const auto& [length, count] : votes) {
            if (count >= length) ranked.emplace_back(count, length);
        }
        std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        if (ranked.size() > lengthsTried) ranked.resize(lengthsTried);
        std::vector<std::size_t> lengths;
        for (const auto& [count, length] : ranked) lengths.push_back(length);
        return lengths;
    }

    std::vector<std::uint32_t> matchLengths(std::size_t length) const {
        std::vector<std::uint32_t> run(size_, 0);
        for (std::size_t i = size_ - std::min(size_, length); i-- > 0;) {
            run[i] = signatures_[i] == signatures_[i + length] ? run[i + 1] + 1 : 0;
        }
        return run;
    }

    bool sameTensor(TensorId a, TensorId b) const {
        const Tensor &x = graph_.tensors[at(a)], &y = graph_.tensors[at(b)];
        return x.type == y.type && x.ranked == y.ranked && x.bytesPerElement == y.bytesPerElement && x.shape == y.shape;
    }

    bool samePlainFields(const Operator& a, const Operator& b) const {
        const auto shape = [](const Operator& op) {
            const AttentionShape s = op.attention.value_or(AttentionShape{});
            return std::tuple(op.attention.has_value(), s.batch, s.heads, s.kvHeads, s.queries, s.keys, s.headDim,
                              s.valueDim, s.causal, s.flash);
        };
        return a.type == b.type && a.kind == b.kind && a.repeat == b.repeat && a.weightCopies == b.weightCopies &&
               a.weightShareRead == b.weightShareRead && a.block == b.block && a.attributes == b.attributes &&
               a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size() && shape(a) == shape(b);
    }

    /// Whether an input of block 0, of the block before and of this block (offset = n·length) stand for the same thing.
    bool sameInput(const Run& run, TensorId first, TensorId before, TensorId now, std::size_t offset) const {
        if (!graph_.tensor(first) || !graph_.tensor(now)) return first == now;
        if (first == now) {
            return !insideRun(run, makers_[at(now)].op) && graph_.tensors[at(now)].role != TensorRole::KvCache;
        }
        if (!sameTensor(first, now) || !sameTensor(before, now)) return false;
        const Maker made = makers_[at(now)], madeFirst = makers_[at(first)], madeBefore = makers_[at(before)];
        const auto block = static_cast<std::int32_t>(run.start + offset),
                   length = static_cast<std::int32_t>(run.length);
        if (made.op < 0) {
            return madeFirst.op < 0 && graph_.tensors[at(first)].role == graph_.tensors[at(now)].role &&
                   storedPerBlock(run, first, 0) && storedPerBlock(run, now, offset);
        }
        if (made.op >= block) {  // inside its own block: at the same place as in block 0
            return madeFirst == Maker{made.op - static_cast<std::int32_t>(offset), made.slot};
        }
        if (made.op < block - length) return false;
        // carried over from the block before, which block 0 gets from anywhere outside
        if (madeFirst.op >= static_cast<std::int32_t>(run.start) || kept(graph_.tensors[at(first)])) return false;
        // and which must not live on beside what replaces it, or the peak of live activations would change
        if (output_[at(first)] || lastUse_[at(first)] >= run.start + run.length) return false;
        return offset == run.length || madeBefore == Maker{made.op - length, made.slot};
    }

    bool insideRun(const Run& run, std::int32_t op) const {
        return op >= static_cast<std::int32_t>(run.start) &&
               op < static_cast<std::int32_t>(run.start + run.length * run.count);
    }

    /// Tensors of block 0 and of block n must answer one another one to one.
    bool paired(TensorId first, TensorId now) {
        if (!graph_.tensor(first)) return true;
        auto& [onto, ontoStamp] = forward_[at(first)];
        auto& [from, fromStamp] = backward_[at(now)];
        if ((ontoStamp == stamp_ && onto != now) || (fromStamp == stamp_ && from != first)) return false;
        onto = now, from = first;
        ontoStamp = fromStamp = stamp_;
        return true;
    }

    /// A weight, constant or cache that belongs to one block alone.
    bool storedPerBlock(const Run& run, TensorId id, std::size_t offset) const {
        const TensorRole role = graph_.tensors[at(id)].role;
        if (role != TensorRole::Weight && role != TensorRole::Constant && role != TensorRole::KvCache) return false;
        const std::size_t from = run.start + offset;
        return !output_[at(id)] && firstUse_[at(id)] >= from && lastUse_[at(id)] < from + run.length;
    }

    /// Weights of an operator must be all its own or all shared between blocks: `weightCopies` can say no more.
    bool weightsSayable(const Operator& first, const Operator& now) const {
        int shared = 0, own = 0;
        for (std::size_t s = 0; s < now.inputs.size(); ++s) {
            if (!graph_.tensor(now.inputs[s]) || !stored(graph_.tensors[at(now.inputs[s])])) continue;
            ++(first.inputs[s] == now.inputs[s] ? shared : own);
        }
        return shared == 0 || (own == 0 && first.repeat == 1);
    }

    /// Outputs of a block that is not the last may be read by itself and by the next block only.
    bool staysInside(const Run& run, const Operator& op, std::size_t offset) const {
        const std::size_t from = run.start + offset;
        return std::all_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
            if (!graph_.tensor(id)) return true;
            const TensorRole role = graph_.tensors[at(id)].role;
            if (output_[at(id)] || role == TensorRole::Output || role == TensorRole::KvCache) return false;
            return lastUse_[at(id)] < from + 2 * run.length;
        });
    }

    /// How many blocks from the run's start are exactly equal, wiring included.
    std::size_t equalBlocks(const Run& run, std::size_t& budget) {
        std::size_t equal = 1;
        while (equal < run.count && blockEquals(run, equal * run.length, budget)) ++equal;
        return equal;
    }

    bool blockEquals(const Run& run, std::size_t offset, std::size_t& budget) {
        ++stamp_;
        for (std::size_t j = 0; j < run.length; ++j) {
            if (budget == 0) return false;
            --budget;
            const Operator& first = graph_.operators[run.start + j];
            const Operator& before = graph_.operators[run.start + offset - run.length + j];
            const Operator& now = graph_.operators[run.start + offset + j];
            if (!samePlainFields(first, now) || !weightsSayable(first, now)) return false;
            for (std::size_t s = 0; s < now.inputs.size(); ++s) {
                if (!sameInput(run, first.inputs[s], before.inputs[s], now.inputs[s], offset)) return false;
                if (!paired(first.inputs[s], now.inputs[s])) return false;
                // what is shared must be so from the first block to the last
                if ((first.inputs[s] == before.inputs[s]) != (before.inputs[s] == now.inputs[s]) &&
                    offset > run.length) {
                    return false;
                }
            }
            for (std::size_t s = 0; s < now.outputs.size(); ++s) {
                const bool some = graph_.tensor(first.outputs[s]) != nullptr;
                if (some != (graph_.tensor(now.outputs[s]) != nullptr)) return false;
                if (some && !sameTensor(first.outputs[s], now.outputs[s])) return false;
                if (some && !staysInside(run, before, offset - run.length)) return false;
            }
        }
        return true;
    }

    std::string label(const Run& run) const {
        std::string common = graph_.operators[run.start].name;
        for (std::size_t j = 1; j < run.length; ++j) {
            const std::string& name = graph_.operators[run.start + j].name;
            std::size_t same = 0;
            while (same < common.size() && same < name.size() && common[same] == name[same]) ++same;
            common.resize(same);
        }
        // whole scopes only, without the block's own number
        const std::size_t scope = common.find_last_of("./");
        if (run.length > 1) common.resize(scope == std::string::npos ? 0 : scope);
        while (!common.empty() && (std::isdigit(static_cast<unsigned char>(common.back())) || common.back() == '.' ||
                                   common.back() == '/' || common.back() == '_')) {
            common.pop_back();
        }
        return fmt::format("{} ×{}", common.empty() ? "block" : common, run.count);
    }

    std::size_t apply(const std::vector<Run>& runs) {
        if (runs.empty()) return 0;
        std::vector<TensorId> renamed(graph_.tensors.size());
        for (std::size_t i = 0; i < renamed.size(); ++i) renamed[i] = static_cast<TensorId>(i);
        std::vector<char> dropped(size_, 0);
        for (const Run& run : runs) {
            const std::string name = label(run);
            const std::size_t last = run.start + (run.count - 1) * run.length;
            for (std::size_t j = 0; j < run.length; ++j) {
                Operator& op = graph_.operators[run.start + j];
                const Operator& end = graph_.operators[last + j];
                for (std::size_t s = 0; s < op.outputs.size(); ++s) {
                    if (graph_.tensor(op.outputs[s])) renamed[at(end.outputs[s])] = op.outputs[s];
                }
                const auto times = static_cast<std::int64_t>(run.count);
                if (sharesWeights(op, end)) {
                    op.weightCopies = 1;
                } else if (op.weightCopies != 0) {
                    op.weightCopies *= times;
                }
                op.repeat *= times;
                op.block = op.block.empty() ? name : name + " / " + op.block;
            }
            for (std::size_t i = run.start + run.length; i < last + run.length; ++i) dropped[i] = 1;
            renameGraphOutputs(run, last);
        }
        std::vector<Operator> kept;
        for (std::size_t i = 0; i < size_; ++i) {
            if (dropped[i]) continue;
            for (TensorId& id : graph_.operators[i].inputs) {
                // what block 0 makes is read by block 0 under its own name already
                if (graph_.tensor(id)) id = renamed[at(id)];
            }
            kept.push_back(std::move(graph_.operators[i]));
        }
        for (TensorId& id : graph_.outputs) {
            if (graph_.tensor(id)) id = renamed[at(id)];
        }
        const std::size_t removed = size_ - kept.size();
        graph_.operators = std::move(kept);
        return removed;
    }

    bool sharesWeights(const Operator& first, const Operator& last) const {
        for (std::size_t s = 0; s < first.inputs.size(); ++s) {
            if (graph_.tensor(first.inputs[s]) && first.inputs[s] == last.inputs[s] &&
                stored(graph_.tensors[at(first.inputs[s])])) {
                return true;
            }
        }
        return false;
    }

    /// The last block's outputs take their name and role along to the block that stands for all.
    void renameGraphOutputs(const Run& run, std::size_t last) {
        for (std::size_t j = 0; j < run.length; ++j) {
            const auto& ends = graph_.operators[last + j].outputs;
            for (std::size_t s = 0; s < ends.size(); ++s) {
                if (!graph_.tensor(ends[s]) || !output_[at(ends[s])]) continue;
                Tensor& kept = graph_.tensors[at(graph_.operators[run.start + j].outputs[s])];
                kept.name = graph_.tensors[at(ends[s])].name;
                kept.role = graph_.tensors[at(ends[s])].role;
            }
        }
    }

    Graph& graph_;
    std::size_t size_;
    std::vector<std::uint64_t> signatures_;
    std::vector<Maker> makers_;
    std::vector<std::size_t> firstUse_, lastUse_;
    std::vector<char> output_;
    std::vector<std::pair<TensorId, std::uint32_t>> forward_, backward_;
    std::uint32_t stamp_ = 0;
};

}  // namespace

std::size_t foldRepeats(Graph& graph) {
    std::size_t removed = 0;
    for (int round = 0; round < 3; ++round) {  // blocks within blocks
        const std::size_t now = Folder(graph).fold();
        if (now == 0) break;
        removed += now;
    }
    if (removed > 0) eliminateDead(graph);
    return removed;
}

}  // namespace orrery
