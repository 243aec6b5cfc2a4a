// A PyTorch execution trace (schema 1.0.2-chakra.0.0.4, `inputs.shapes` beside `inputs.values`) and the timeline that
// was recorded beside it, as operators with the time of their kernels. What an operator of interest calls belongs to
// it: aten::conv2d calls aten::cudnn_convolution, which launches the kernels.

#include "base/text/json_cursor.h"
#include "workload/traces/chakra.h"
#include "workload/traces/kineto.h"
#include "workload/traces/torch_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace orrery {

namespace {

using TorchKind = JsonCursor::Kind;

struct TorchNode {
    std::uint64_t id = 0, caller = ~0ULL;
    std::int64_t recordFunction = -1;
    RecordedOperator made;
    bool shaped = false;  ///< has a tensor among its inputs
};

/// Every tensor of a list of shapes: a list of numbers is one tensor, a list of lists as many.
void readTorchShape(JsonCursor& json, std::vector<RecordedTensor>& tensors, int depth) {
    RecordedTensor tensor;
    bool plain = true;
    for (json.array(); json.element();) {
        if (json.kind() == TorchKind::Number) {
            tensor.shape.push_back(std::max<std::int64_t>(0, json.integer()));
        } else if (json.kind() == TorchKind::Array && depth < 4) {
            readTorchShape(json, tensors, depth + 1);
            plain = false;
        } else {
            json.skip();
        }
    }
    if (plain) tensors.push_back(std::move(tensor));
}

double torchWidth(std::string_view type) {
    for (const auto& [word, bytes] : {std::pair<std::string_view, double>{"double", 8},
                                      {"long int", 8},
                                      {"c10::Half", 2},
                                      {"c10::BFloat16", 2},
                                      {"Float8", 1},
                                      {"unsigned char", 1},
                                      {"signed char", 1},
                                      {"bool", 1}})
        if (type.find(word) != std::string_view::npos) return bytes;
    return 4;
}

}  // namespace

// Places of `shapes` and `types` are those of the values; others than tensors are dropped.
std::vector<RecordedTensor> readTorchTensors(JsonCursor& json) {
    std::vector<std::vector<RecordedTensor>> shapes;
    std::vector<std::string> types;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "shapes" && json.kind() == TorchKind::Array) {
            for (json.array(); json.element();) {
                shapes.emplace_back();
                if (json.kind() == TorchKind::Array)
                    readTorchShape(json, shapes.back(), 0);
                else
                    json.skip();
            }
        } else if (key == "types" && json.kind() == TorchKind::Array) {
            for (json.array(); json.element();) types.emplace_back(json.text());
        } else {
            json.skip();
        }
    }
    std::vector<RecordedTensor> tensors;
    for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
        if (types[i].find("Tensor") == std::string::npos) continue;
        for (RecordedTensor& each : shapes[i]) {
            each.bytesPerElement = torchWidth(types[i]);
            tensors.push_back(std::move(each));
        }
    }
    return tensors;
}

std::int64_t readRecordFunction(JsonCursor& json) {
    std::int64_t found = -1;
    for (json.array(); json.element();) {
        std::string_view key;
        bool named = false;
        std::int64_t value = -1;
        for (json.object(); json.key(key);) {
            if (key == "name" && json.kind() == TorchKind::Text)
                named = json.text() == "rf_id";
            else if (key == "value" && json.kind() == TorchKind::Number)
                value = static_cast<std::int64_t>(std::clamp(json.number(), -1.0, 9e15));
            else
                json.skip();
        }
        if (named) found = value;
    }
    return found;
}

namespace {

TorchNode readTorchNode(JsonCursor& json) {
    TorchNode node;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "id" && json.kind() == TorchKind::Number) {
            node.id = static_cast<std::uint64_t>(std::max<std::int64_t>(0, json.integer()));
        } else if (key == "name" && json.kind() == TorchKind::Text) {
            node.made.name = std::string(plainOperatorName(json.text()));
        } else if (key == "ctrl_deps" && json.kind() == TorchKind::Number) {
            node.caller = static_cast<std::uint64_t>(std::max<std::int64_t>(0, json.integer()));
        } else if (key == "inputs" && json.kind() == TorchKind::Object) {
            node.made.inputs = readTorchTensors(json);
        } else if (key == "outputs" && json.kind() == TorchKind::Object) {
            node.made.outputs = readTorchTensors(json);
        } else if (key == "attrs" && json.kind() == TorchKind::Array) {
            node.recordFunction = readRecordFunction(json);
        } else {
            json.skip();
        }
    }
    node.shaped = !node.made.inputs.empty();
    return node;
}

class TorchCalls {
public:
    explicit TorchCalls(std::vector<TorchNode> nodes) : nodes_(std::move(nodes)) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) at_.emplace(nodes_[i].id, i);
    }
    std::vector<TorchNode>& nodes() { return nodes_; }

    /// The outermost operator of the library around it; itself if there is none.
    std::size_t ownerOf(std::size_t node) const {
        std::size_t owner = node;
        walk(node, [&](std::size_t each) {
            if (nodes_[each].shaped && nodes_[each].made.name.starts_with("aten::")) owner = each;
        });
        return owner;
    }
    RecordedStage stageOf(std::size_t node) const {
        RecordedStage stage = RecordedStage::Forward;
        walk(node, [&](std::size_t each) {
            const std::string& name = nodes_[each].made.name;
            if (name.find("Backward") != std::string::npos || name.find("AccumulateGrad") != std::string::npos)
                stage = RecordedStage::Backward;
            if (name.starts_with("Optimizer.step") || name.find("_foreach_") != std::string::npos ||
                name.find("_fused_adam") != std::string::npos)
                stage = RecordedStage::Optimizer;
        });
        return stage;
    }

private:
    template <class Visit>
    void walk(std::size_t node, const Visit& visit) const {
        for (int depth = 0; depth < 64; ++depth) {
            visit(node);
            const auto caller = at_.find(nodes_[node].caller);
            if (caller == at_.end() || caller->second == node) return;
            node = caller->second;
        }
    }
    std::vector<TorchNode> nodes_;
    std::unordered_map<std::uint64_t, std::size_t> at_;
};

Expected<std::vector<TorchNode>> readTorchNodes(std::string_view text, const std::string& path) {
    JsonCursor json(text, path, "trace");
    std::vector<TorchNode> nodes;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key != "nodes" || json.kind() != TorchKind::Array) {
            json.skip();
            continue;
        }
        for (json.array(); json.element();) nodes.push_back(readTorchNode(json));
    }
    json.end();
    if (!json.ok()) return tl::unexpected(json.problem());
    std::stable_sort(nodes.begin(), nodes.end(), [](const TorchNode& a, const TorchNode& b) { return a.id < b.id; });
    return nodes;
}

}  // namespace

Expected<OperatorRecording> torchRecording(std::string_view trace, const std::string& path,
                                           const std::string& timeline) {
    if (timeline.empty())
        return fail("recording.timeline", fmt::format("{} has operators and shapes, but no times", path),
                    "the timeline that PyTorch's profiler recorded of the same run", "give it: tensors=KINETO.json",
                    {path, 1, 0, {}});
    auto nodes = readTorchNodes(trace, path);
    if (!nodes) return Unexpected(nodes.error());
    const auto text = readTraceFile(timeline);
    if (!text) return Unexpected(text.error());
    const auto line = parseKineto(*text, timeline);
    if (!line) return Unexpected(line.error());
    TorchCalls calls(std::move(*nodes));
    std::unordered_map<std::int64_t, std::size_t> byFunction, byExternal;
    for (std::size_t i = 0; i < calls.nodes().size(); ++i)
        if (calls.nodes()[i].recordFunction > 0) byFunction.emplace(calls.nodes()[i].recordFunction, i);
    for (const KinetoOperator& one : line->operators) {
        const auto at = byFunction.find(one.recordFunction);
        if (at != byFunction.end() && one.external >= 0) byExternal.emplace(one.external, at->second);
    }
    std::vector<double> spent(calls.nodes().size(), 0.0);
    double lost = 0, found = 0;
    for (const KinetoKernel& kernel : line->kernels) {
        if (kernel.name.find("nccl") != std::string::npos) continue;  // exchanges are the network's
        const auto at = byExternal.find(kernel.external);
        (at == byExternal.end() ? lost : found) += kernel.duration;
        if (at != byExternal.end()) spent[calls.ownerOf(at->second)] += kernel.duration;
    }
    if (found <= 0)
        return fail("trace.empty", fmt::format("no kernel of {} belongs to an operator of {}", timeline, path),
                    "record function ids and external ids in common", "both must be of one run", {timeline, 0, 0, {}});
    OperatorRecording recording;
    recording.file = path;
    recording.form = "a PyTorch execution trace with its timeline";
    recording.unlinked = lost;
    for (std::size_t i = 0; i < spent.size(); ++i) {
        if (spent[i] <= 0) continue;
        RecordedOperator& made = calls.nodes()[i].made;
        made.microseconds = spent[i];
        made.stage = calls.stageOf(i);
        recording.operators.push_back(made);
    }
    return recording;
}

}  // namespace orrery
