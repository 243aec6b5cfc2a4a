// A Chakra trace that a converter made of a PyTorch execution trace and its timeline: operators of the host, cut into
// pieces around what they call (`aten::conv2d(0)`, `(1)`, …), with shapes and types as texts, and kernels of the device
// that wait for the piece which launched them.

#include "workload/traces/torch_tensors.h"
#include "workload/traces/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace orrery {

namespace {

// Numbers of et_def.proto.
enum RecordedChakraField : std::uint32_t {
    NodeId = 1,
    NodeName = 2,
    NodeType = 3,
    NodeDataDeps = 5,
    NodeDuration = 7,
    NodeInputs = 8,
    NodeOutputs = 9,
    NodeAttribute = 10
};
constexpr std::uint64_t computing = 4;  // COMP_NODE

struct ChakraOperator {
    std::uint64_t id = 0, type = 0, duration = 0;
    std::string_view name, inputs, outputs;
    std::vector<std::uint64_t> waits;
    bool onHost = false;
    std::uint64_t recordFunction = 0;
};

void readWaits(const WireReader::Field& field, std::vector<std::uint64_t>& waits) {
    if (field.type != 2) {
        waits.push_back(field.value);
        return;
    }
    WireReader packed(field.text);
    for (std::uint64_t value = 0; !packed.atEnd() && packed.varint(value);) waits.push_back(value);
}

void readMark(std::string_view message, ChakraOperator& node) {
    WireReader reader(message);
    WireReader::Field field;
    std::string_view name;
    std::uint64_t value = 0;
    while (reader.next(field)) {
        if (field.number == 1 && field.type == 2)
            name = field.text;
        else if (field.type == 0)
            value = field.value;
    }
    if (name == "is_cpu_op") node.onHost = value != 0;
    if (name == "rf_id") node.recordFunction = value;
}

bool readChakraOperator(std::string_view message, ChakraOperator& node) {
    WireReader reader(message);
    WireReader::Field field;
    while (reader.next(field)) {
        switch (field.number) {
            case NodeId:
                node.id = field.value;
                break;
            case NodeName:
                node.name = field.text;
                break;
            case NodeType:
                node.type = field.value;
                break;
            case NodeDataDeps:
                readWaits(field, node.waits);
                break;
            case NodeDuration:
                node.duration = field.value;
                break;
            case NodeInputs:
                node.inputs = field.text;
                break;
            case NodeOutputs:
                node.outputs = field.text;
                break;
            case NodeAttribute:
                readMark(field.text, node);
                break;
            default:
                break;
        }
    }
    return reader.ok();
}

/// Of values, shapes and types, three texts as Python prints lists.
std::vector<RecordedTensor> chakraTensors(std::string_view message, const std::string& path) {
    WireReader reader(message);
    WireReader::Field field;
    std::string_view shapes = "[]";
    std::string types = "[]";
    while (reader.next(field)) {
        if (field.number == 2 && field.type == 2) shapes = field.text;
        if (field.number == 3 && field.type == 2) types = std::string(field.text);
    }
    std::replace(types.begin(), types.end(), '\'', '"');
    const std::string text = fmt::format(R"({{"shapes": {}, "types": {}}})", shapes, types);
    JsonCursor json(text, path, "trace");
    auto tensors = readTorchTensors(json);
    return json.ok() ? tensors : std::vector<RecordedTensor>();
}

std::string_view withoutPiece(std::string_view name) {
    return name.substr(0, name.ends_with(')') ? name.rfind('(') : std::string_view::npos);
}

bool isBackward(std::string_view name) {
    return name.find("_backward") != std::string_view::npos || name.find("Backward") != std::string_view::npos;
}

}  // namespace

Expected<OperatorRecording> chakraRecording(std::string_view text, const std::string& path) {
    std::vector<ChakraOperator> nodes;
    WireReader reader(text);
    for (bool first = true; !reader.atEnd(); first = false) {
        const std::size_t at = text.size() - reader.left();
        std::uint64_t length = 0;
        std::string_view message;
        ChakraOperator node;
        const bool framed = reader.varint(length) && reader.bytes(length, message);
        if (framed && first) continue;
        if (!framed || !readChakraOperator(message, node))
            return fail("trace.syntax", fmt::format("byte {} begins no message of a Chakra trace", at),
                        "nodes, each after its length", "the file is cut short or damaged", {path, 0, 0, {}});
        nodes.push_back(std::move(node));
    }
    std::sort(nodes.begin(), nodes.end(), [](const ChakraOperator& a, const ChakraOperator& b) { return a.id < b.id; });
    std::unordered_map<std::uint64_t, std::size_t> at, owners;  // by id; by record function, into the operators
    for (std::size_t i = 0; i < nodes.size(); ++i) at.emplace(nodes[i].id, i);
    OperatorRecording recording;
    recording.file = path;
    recording.form = "a Chakra trace of operators and kernels";
    for (const ChakraOperator& node : nodes) {
        if (node.onHost || node.type != computing || node.duration == 0) continue;
        // The piece that launched it stands first; others are what it waited for.
        const ChakraOperator* owner = nullptr;
        for (const std::uint64_t wait : node.waits) {
            const auto found = at.find(wait);
            if (owner == nullptr && found != at.end() && nodes[found->second].onHost) owner = &nodes[found->second];
        }
        if (owner == nullptr) {
            recording.unlinked += static_cast<double>(node.duration);
            continue;
        }
        // Pieces of one call share its record function.
        const std::uint64_t call = owner->recordFunction != 0 ? owner->recordFunction : (1ULL << 63) | owner->id;
        const auto [known, fresh] = owners.try_emplace(call, recording.operators.size());
        if (fresh) {
            RecordedOperator made;
            made.name = std::string(plainOperatorName(withoutPiece(owner->name)));
            made.inputs = chakraTensors(owner->inputs, path);
            made.outputs = chakraTensors(owner->outputs, path);
            recording.operators.push_back(std::move(made));
        }
        recording.operators[known->second].microseconds += static_cast<double>(node.duration);
    }
    if (recording.operators.empty())
        return fail("trace.empty", fmt::format("{} holds no kernel that an operator of the host asked for", path),
                    "a trace of a GPU with its operators",
                    "traces of other simulators run as they are: orrery-cli train --trace", {path, 0, 0, {}});
    // The first backward operator begins the backward pass, the optimizer's lists of tensors end it.
    bool back = false;
    for (RecordedOperator& each : recording.operators) {
        back = back || isBackward(each.name);
        const bool lists =
            each.name.find("_foreach_") != std::string::npos || each.name.find("_fused_") != std::string::npos;
        each.stage = lists ? RecordedStage::Optimizer : back ? RecordedStage::Backward : RecordedStage::Forward;
    }
    return recording;
}

}  // namespace orrery
