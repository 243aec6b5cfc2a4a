// Which operators are computed inside one kernel. Views are transparent: what looks at a tensor through one reads it.

#include "methods/model/launches.h"

#include <algorithm>

namespace orrery {

namespace {

constexpr int longestEpilogue = 3;

class Fuser {
public:
    Fuser(const Workload& workload, const ModelOptions& options)
        : graph_(workload.graph), costs_(workload.costs), options_(options), size_(graph_.operators.size()) {
        leader_.resize(size_);
        for (std::size_t i = 0; i < size_; ++i) leader_[i] = static_cast<std::int32_t>(i);
        if (options_.fusion == Fusion::Epilogue || options_.fusion == Fusion::Compile) findUses();
    }

    std::vector<std::int32_t> run() {
        if (options_.fusion == Fusion::Epilogue) {
            for (std::size_t i = 0; i < size_; ++i) fuseAttention(i);
            if (options_.wholeExperts && options_.step == Step::Inference) {
                for (std::size_t i = 0; i < size_; ++i) fuseExperts(i);
            }
            for (std::size_t i = 0; i < size_; ++i) fuseNorm(i);
            for (std::size_t i = 0; i < size_; ++i) fuseEpilogue(i);
        } else if (options_.fusion == Fusion::Compile) {
            inlines_ = options_.step == Step::Inference;
            for (std::size_t i = 0; inlines_ && i < size_; ++i) fuseBias(i);
            for (std::size_t i = 0; i < size_; ++i) joinChain(i);
        }
        return std::move(leader_);
    }

private:
    struct Use {
        std::int32_t producer = -1;
        std::int32_t consumer = -1;  ///< the only one, -2 if there are more
        std::int32_t count = 0;
        std::int32_t norm = -1;  ///< a norm among the consumers
    };

    const Operator& op(std::int32_t i) const { return graph_.operators[static_cast<std::size_t>(i)]; }
    std::size_t root(TensorId id) const { return static_cast<std::size_t>(root_[static_cast<std::size_t>(id)]); }
    bool alone(std::int32_t i) const { return leader_[static_cast<std::size_t>(i)] == i; }
    double elements(TensorId id) const {
        const Tensor* tensor = graph_.tensor(id);
        return tensor ? tensor->elements() : 0;
    }
    bool parameter(TensorId id) const {
        const Tensor* tensor = graph_.tensor(id);
        return tensor && (tensor->role == TensorRole::Weight || tensor->role == TensorRole::Constant);
    }
    bool together(std::int32_t a, std::int32_t b) const {
        return op(a).repeat == op(b).repeat && op(a).block == op(b).block;
    }

    void findUses() {
        root_ = viewRoots(graph_);
        uses_.resize(root_.size());
        for (std::size_t i = 0; i < size_; ++i) {
            const Operator& each = graph_.operators[i];
            const auto index = static_cast<std::int32_t>(i);
            if (each.kind == OperatorKind::View) continue;
            for (const TensorId id : each.outputs) {
                if (graph_.tensor(id)) uses_[root(id)].producer = index;
            }
            for (const TensorId id : each.inputs) {
                if (!graph_.tensor(id)) continue;
                Use& use = uses_[root(id)];
                if (use.consumer == index) continue;
                use.consumer = use.count++ == 0 ? index : -2;
                if (each.kind == OperatorKind::Normalization) use.norm = index;
            }
        }
        for (const TensorId id : graph_.outputs) {
            if (graph_.tensor(id)) uses_[root(id)].count += 2, uses_[root(id)].consumer = -2;
        }
    }

    bool sameSize(const Operator& each, TensorId id) const {
        return each.outputs.size() == 1 && graph_.tensor(each.outputs[0]) && elements(each.outputs[0]) > 0 &&
               elements(each.outputs[0]) == elements(id);
    }

    bool attends(std::int32_t i) const {
        return i >= 0 && op(i).kind == OperatorKind::MatMul && op(i).inputs.size() == 2 &&
               !parameter(op(i).inputs[1]) && costs_.gemm[static_cast<std::size_t>(i)].k > 0;
    }

    // The only reader of what `i` makes, over at most two element-wise operators, which are noted.
    std::int32_t productAfter(std::int32_t i, std::vector<std::int32_t>& between) const {
        for (int step = 0; step < 3; ++step) {
            if (op(i).outputs.size() != 1 || !graph_.tensor(op(i).outputs[0])) return -1;
            const TensorId made = op(i).outputs[0];
            const std::int32_t next = uses_[root(made)].consumer;
            if (next < 0 || !alone(next) || !together(i, next)) return -1;
            if (op(next).kind != OperatorKind::Elementwise) return next;
            if (!sameSize(op(next), made)) return -1;
            between.push_back(next);
            i = next;
        }
        return -1;
    }

    // scores = Q·Kᵀ, element-wise operators, softmax, element-wise operators, ·V: as FlashAttention runs them.
    void fuseAttention(std::size_t i) {
        const auto scores = static_cast<std::int32_t>(i);
        if (!attends(scores) || !alone(scores)) return;
        std::vector<std::int32_t> inside;
        const std::int32_t softmax = productAfter(scores, inside);
        if (softmax < 0 || op(softmax).kind != OperatorKind::Softmax) return;
        inside.push_back(softmax);
        const std::int32_t context = productAfter(softmax, inside);
        if (!attends(context)) return;
        const GemmShape& a = costs_.gemm[i];
        const GemmShape& b = costs_.gemm[static_cast<std::size_t>(context)];
        if (a.batch != b.batch || a.m != b.m || a.n != b.k) return;
        inside.push_back(context);
        for (const std::int32_t each : inside) leader_[static_cast<std::size_t>(each)] = scores;
    }

    // The only reader of the only result of `i`, -1 if there is none.
    std::int32_t readerOf(std::int32_t i) const {
        if (op(i).outputs.size() != 1 || !graph_.tensor(op(i).outputs[0])) return -1;
        const std::int32_t next = uses_[root(op(i).outputs[0])].consumer;
        return next >= 0 && alone(next) && together(i, next) ? next : -1;
    }

    // Dispatch, grouped product, activation, grouped product, weighted sum: one block of kernels, the experts.
    void fuseExperts(std::size_t i) {
        const auto up = static_cast<std::int32_t>(i);
        const auto grouped = [&](std::int32_t each) { return each >= 0 && op(each).type == "GroupedMatMul"; };
        if (!grouped(up) || !alone(up) || op(up).inputs.empty() || !graph_.tensor(op(up).inputs[0])) return;
        const std::int32_t dispatch = uses_[root(op(up).inputs[0])].producer;
        if (dispatch < 0 || op(dispatch).type != "Dispatch" || readerOf(dispatch) != up) return;
        const std::int32_t activation = readerOf(up);
        if (activation < 0 || op(activation).kind != OperatorKind::Elementwise) return;
        const std::int32_t down = readerOf(activation);
        if (!grouped(down) || costs_.gemm[i].k <= 0 || costs_.gemm[static_cast<std::size_t>(down)].k <= 0) return;
        const std::int32_t combine = readerOf(down);
        if (combine < 0 || op(combine).kind != OperatorKind::Reduce) return;
        for (const std::int32_t each : {dispatch, activation, down, combine})
            leader_[static_cast<std::size_t>(each)] = up;
    }

    // x + y, whose sum a norm reads: one kernel writes both, as fused_add_rms_norm of inference engines does.
    void fuseNorm(std::size_t i) {
        const auto add = static_cast<std::int32_t>(i);
        const Operator& each = op(add);
        if (each.kind != OperatorKind::Elementwise || each.outputs.size() != 1 || each.inputs.size() != 2) return;
        if ((each.type != "Residual" && each.type != "Add") || !graph_.tensor(each.outputs[0])) return;
        const std::int32_t norm = uses_[root(each.outputs[0])].norm;
        if (norm < 0 || !alone(norm) || !together(add, norm) || op(norm).type == "BatchNormalization") return;
        const auto& inputs = op(norm).inputs;
        for (std::size_t k = 1; k < inputs.size(); ++k) {
            if (graph_.tensor(inputs[k]) && !parameter(inputs[k])) return;
        }
        leader_[static_cast<std::size_t>(norm)] = add;
    }

    // Element-wise operators on a product's result that nothing else reads.
    void fuseEpilogue(std::size_t i) {
        const auto product = static_cast<std::int32_t>(i);
        const Operator& first = op(product);
        const bool multiplies = first.kind == OperatorKind::MatMul || first.kind == OperatorKind::Conv ||
                                first.kind == OperatorKind::ConvTranspose;
        if (!multiplies || !alone(product) || costs_.gemm[i].k <= 0 || first.outputs.size() != 1 ||
            !graph_.tensor(first.outputs[0]))
            return;
        TensorId tail = first.outputs[0];
        for (int step = 0; step < longestEpilogue; ++step) {
            const std::int32_t next = uses_[root(tail)].consumer;
            if (next < 0 || !alone(next) || leadsNorm(next) || !together(product, next)) return;
            const Operator& each = op(next);
            const bool folded = each.type == "BatchNormalization" && options_.step == Step::Inference;
            const bool elementwise = each.kind == OperatorKind::Elementwise && each.inputs.size() <= 2;
            if ((!folded && !elementwise) || !sameSize(each, tail) || !madeBefore(each, tail, product)) return;
            leader_[static_cast<std::size_t>(next)] = product;
            tail = each.outputs[0];
        }
    }

    // All operands but `tail` are there when operator `product` runs.
    bool madeBefore(const Operator& each, TensorId tail, std::int32_t product) const {
        return std::all_of(each.inputs.begin(), each.inputs.end(), [&](TensorId id) {
            return !graph_.tensor(id) || root(id) == root(tail) || uses_[root(id)].producer < product;
        });
    }

    // A sum that a norm reads is left to the norm's kernel.
    bool leadsNorm(std::int32_t i) const {
        if (op(i).outputs.empty() || !graph_.tensor(op(i).outputs[0])) return false;
        const std::int32_t norm = uses_[root(op(i).outputs[0])].norm;
        return norm >= 0 && leader_[static_cast<std::size_t>(norm)] == i;
    }

    // The bias of a linear layer that an exporter wrote as a sum of its own: addmm has it inside.
    void fuseBias(std::size_t i) {
        const Operator& product = graph_.operators[i];
        if (product.kind != OperatorKind::MatMul || product.inputs.size() != 2 || !parameter(product.inputs[1])) return;
        const auto index = static_cast<std::int32_t>(i);
        const std::int32_t sum = readerOf(index);
        if (sum < 0 || op(sum).type != "Add" || op(sum).inputs.size() != 2 || costs_.gemm[i].k <= 0) return;
        const bool bias = std::ranges::any_of(
            op(sum).inputs, [&](TensorId id) { return parameter(id) && elements(id) == costs_.gemm[i].n; });
        if (bias && sameSize(op(sum), product.outputs[0])) leader_[static_cast<std::size_t>(sum)] = index;
    }

    static bool reduces(const Operator& each) {
        return each.kind == OperatorKind::Normalization || each.kind == OperatorKind::Softmax;
    }
    // A part of its operand, read where it lies: a slice, one of a dimension.
    bool part(const Operator& each) const {
        if (each.outputs.size() != 1 || each.inputs.empty()) return false;
        if (each.kind == OperatorKind::Movement) return each.type == "Slice";
        return each.kind == OperatorKind::Gather && each.type == "Gather" && each.inputs.size() == 2 &&
               parameter(each.inputs[1]) && elements(each.inputs[1]) == 1 && !parameter(each.inputs[0]);
    }
    bool pointwise(const Operator& each) const {
        if (each.kind == OperatorKind::Elementwise || reduces(each)) return true;
        if (each.kind == OperatorKind::Movement && (each.type == "Transpose" || each.type == "Cast")) return true;
        return inlines_ && (part(each) || (each.kind == OperatorKind::Movement &&
                                           (each.type == "Concat" || each.type == "Pad")));
    }
    bool moves(std::int32_t head) const {
        return op(head).kind == OperatorKind::Movement || op(head).kind == OperatorKind::Gather;
    }

    // (x - mean) / sqrt(mean of squares + e), as exporters write a norm out, from its first mean on. Empty where it is
    // none.
    std::vector<std::int32_t> writtenNorm(std::int32_t mean) const {
        const auto reads = [&](std::int32_t i, std::size_t operand, TensorId id) {
            return op(i).inputs.size() > operand && graph_.tensor(op(i).inputs[operand]) &&
                   root(op(i).inputs[operand]) == root(id);
        };
        const auto is = [&](std::int32_t i, std::string_view type) { return i >= 0 && op(i).type == type; };
        const auto onlyReader = [&](std::int32_t i) {
            return op(i).outputs.size() == 1 && graph_.tensor(op(i).outputs[0])
                       ? uses_[root(op(i).outputs[0])].consumer
                       : -1;
        };
        if (!is(mean, "ReduceMean") || op(mean).inputs.empty() || !graph_.tensor(op(mean).inputs[0])) return {};
        const TensorId x = op(mean).inputs[0];
        const std::int32_t centred = onlyReader(mean);
        if (!is(centred, "Sub") || !reads(centred, 0, x) || !sameSize(op(centred), x)) return {};
        const TensorId d = op(centred).outputs[0];
        if (uses_[root(d)].count != 2) return {};
        constexpr int within = 16;  // operators, from the difference to the quotient
        std::int32_t square = -1, quotient = -1;
        for (auto i = centred + 1; i < std::min<std::int32_t>(centred + within, static_cast<std::int32_t>(size_)); ++i) {
            if (!reads(i, 0, d)) continue;
            if (is(i, "Div")) quotient = i;
            if (is(i, "Pow") || is(i, "Mul")) square = i;
        }
        if (square < 0 || quotient < 0) return {};
        const std::int32_t variance = onlyReader(square);
        if (!is(variance, "ReduceMean")) return {};
        const std::int32_t shifted = onlyReader(variance);
        if (!is(shifted, "Add")) return {};
        const std::int32_t deviation = onlyReader(shifted);
        if (!is(deviation, "Sqrt") || onlyReader(deviation) != quotient) return {};
        std::vector<std::int32_t> all{mean, centred, square, variance, shifted, deviation, quotient};
        const bool free = std::ranges::all_of(all, [&](std::int32_t i) { return alone(i) && together(mean, i); });
        return free ? all : std::vector<std::int32_t>{};
    }
    bool joinNorm(std::int32_t mean) {
        const auto all = writtenNorm(mean);
        if (all.empty()) return false;
        const std::int32_t producer = uses_[root(op(mean).inputs[0])].producer;
        std::int32_t head = mean;
        if (producer >= 0 && producer < mean && pointwise(op(producer))) {
            const std::int32_t before = leader_[static_cast<std::size_t>(producer)];
            if (pointwise(op(before)) && together(before, mean) && reduction(before) < 0) head = before;
        }
        for (const std::int32_t i : all) leader_[static_cast<std::size_t>(i)] = head;
        reductionOf_.emplace_back(head, mean);
        return true;
    }

    // Parts of one tensor that one operator reads are read by one kernel.
    std::int32_t siblingOf(std::int32_t index) const {
        const Use& own = uses_[root(op(index).outputs[0])];
        constexpr int within = 16;
        for (auto i = index - 1; own.consumer >= 0 && i >= 0 && i >= index - within; --i) {
            if (!part(op(i)) || !together(i, index) || root(op(i).inputs[0]) != root(op(index).inputs[0])) continue;
            if (uses_[root(op(i).outputs[0])].consumer == own.consumer) return leader_[static_cast<std::size_t>(i)];
        }
        return -1;
    }
    // Whether `each` can go over the elements of its operand with whoever makes it.
    bool inStep(std::int32_t index, TensorId id, std::int32_t head) const {
        const Operator& each = op(index);
        if (sameSize(each, id)) return true;
        if (!inlines_ || each.outputs.size() != 1 || !graph_.tensor(each.outputs[0])) return false;
        if (part(each)) return moves(head);
        if (each.kind == OperatorKind::Movement && each.type == "Concat") return moves(head);
        // One of fewer elements that nothing else reads is computed where it is read.
        const bool small = elements(id) > 0 && elements(id) < elements(each.outputs[0]);
        return small && each.kind == OperatorKind::Elementwise && op(head).kind == OperatorKind::Elementwise &&
               uses_[root(id)].consumer == index && reduction(head) < 0;
    }

    // An operator joins the group that makes one of its operands if all others are there before the group begins.
    void joinChain(std::size_t i) {
        const auto index = static_cast<std::int32_t>(i);
        const Operator& each = op(index);
        if (inlines_ && each.kind == OperatorKind::Reduce && joinNorm(index)) return;
        if (!alone(index) || !pointwise(each) || each.outputs.empty() || costs_.bytes(i) <= 0) return;
        for (const TensorId id : each.inputs) {
            if (!graph_.tensor(id)) continue;
            const std::int32_t producer = uses_[root(id)].producer;
            if (producer < 0 || producer >= index || !pointwise(op(producer))) continue;
            const std::int32_t head = leader_[static_cast<std::size_t>(producer)];
            if (!pointwise(op(head)) && op(head).kind != OperatorKind::Reduce) continue;
            if (!together(head, index) || !inStep(index, id, head)) continue;
            if (reduces(each) && reduction(head) >= 0) continue;
            if (!othersReady(each, head)) continue;
            leader_[i] = head;
            if (reduces(each)) reductionOf_.emplace_back(head, index);
            return;
        }
        if (inlines_ && part(each) && graph_.tensor(each.inputs[0]) && graph_.tensor(each.outputs[0])) {
            if (const std::int32_t sibling = siblingOf(index); sibling >= 0) leader_[i] = sibling;
        }
        if (reduces(each)) reductionOf_.emplace_back(index, index);
    }

    std::int32_t reduction(std::int32_t head) const {
        for (auto at = reductionOf_.rbegin(); at != reductionOf_.rend(); ++at) {
            if (at->first == head) return at->second;
            if (at->first + 64 < head) break;
        }
        return -1;
    }

    bool othersReady(const Operator& each, std::int32_t head) const {
        return std::all_of(each.inputs.begin(), each.inputs.end(), [&](TensorId id) {
            if (!graph_.tensor(id)) return true;
            const std::int32_t producer = uses_[root(id)].producer;
            return producer < head || leader_[static_cast<std::size_t>(producer)] == head;
        });
    }

    const Graph& graph_;
    const CostTable& costs_;
    const ModelOptions& options_;
    std::size_t size_;
    std::vector<std::int32_t> leader_;
    std::vector<TensorId> root_;
    std::vector<Use> uses_;
    std::vector<std::pair<std::int32_t, std::int32_t>> reductionOf_;
    bool inlines_ = false;  ///< an inference: movement and parts of tensors are computed where they are read
};

}  // namespace

std::vector<TensorId> viewRoots(const Graph& graph) {
    std::vector<TensorId> roots(graph.tensors.size());
    for (std::size_t t = 0; t < roots.size(); ++t) roots[t] = static_cast<TensorId>(t);
    for (const Operator& op : graph.operators) {
        if (op.kind != OperatorKind::View || op.inputs.empty() || !graph.tensor(op.inputs[0])) continue;
        for (const TensorId id : op.outputs) {
            if (graph.tensor(id)) roots[static_cast<std::size_t>(id)] = roots[static_cast<std::size_t>(op.inputs[0])];
        }
    }
    return roots;
}

std::vector<std::int32_t> fusedGroups(const Workload& workload, const ModelOptions& options) {
    return Fuser(workload, options).run();
}

}  // namespace orrery
