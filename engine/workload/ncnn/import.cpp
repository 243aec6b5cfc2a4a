#include "workload/ncnn/import.h"

#include "workload/ncnn/shapes.h"
#include "workload/operator_types.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

namespace orrery {
namespace {

// ncnn's word and ours; what stands in neither stays under its own and is priced by its bytes.
std::string typeOf(const NcnnLayer& layer) {
    static const std::map<std::string, std::string, std::less<>> words{{"Convolution", "Conv"},
                                                                       {"ConvolutionDepthWise", "Conv"},
                                                                       {"Deconvolution", "ConvTranspose"},
                                                                       {"DeconvolutionDepthWise", "ConvTranspose"},
                                                                       {"InnerProduct", "Linear"},
                                                                       {"Gemm", "Linear"},
                                                                       {"ReLU", "Relu"},
                                                                       {"HardSwish", "HardSwish"},
                                                                       {"GELU", "Gelu"},
                                                                       {"TanH", "Tanh"},
                                                                       {"PReLU", "PRelu"},
                                                                       {"BatchNorm", "BatchNormalization"},
                                                                       {"LayerNorm", "LayerNormalization"},
                                                                       {"GroupNorm", "GroupNormalization"},
                                                                       {"Scale", "ScaleShift"},
                                                                       {"Eltwise", "Add"},
                                                                       {"BinaryOp", "Add"},
                                                                       {"ShuffleChannel", "Transpose"},
                                                                       {"Permute", "Transpose"},
                                                                       {"Crop", "Slice"},
                                                                       {"Padding", "Pad"},
                                                                       {"Interp", "Resize"},
                                                                       {"Split", "Identity"},
                                                                       {"Noop", "Identity"},
                                                                       {"Dropout", "Identity"},
                                                                       {"Reduction", "ReduceMean"}};
    if (layer.type == "Pooling") {
        if (layer.whole(4, 0) != 0) return layer.whole(0, 0) == 0 ? "GlobalMaxPool" : "GlobalAveragePool";
        return layer.whole(0, 0) == 0 ? "MaxPool" : "AveragePool";
    }
    if (layer.type == "BinaryOp" && layer.whole(0, 0) == 2) return "Mul";
    const auto found = words.find(layer.type);
    return found == words.end() ? layer.type : found->second;
}

struct ParamImport {
    const WorkloadOptions& options;
    ImportedGraph made;
    std::map<std::string, TensorId, std::less<>> blobs;
    std::map<std::string, NcnnShape, std::less<>> shapes;
    std::set<std::string> guessed;

    DType narrow(const NcnnLayer& layer) const {
        const bool quantised = (layer.type.find("onvolution") != std::string::npos || layer.type == "InnerProduct") &&
                               layer.whole(8, 0) != 0;
        return quantised ? DType::I8 : options.weights;
    }

    TensorId weight(const std::string& name, Shape shape, DType type) {
        return made.graph.addTensor({name, type, std::move(shape), true, TensorRole::Weight, 0});
    }

    Shape batched(const NcnnShape& shape) const {
        Shape out{options.batch};
        for (const std::int64_t extent : shape) out.emplace_back(extent);
        return out;
    }

    TensorId activation(const std::string& name, const NcnnShape& shape, TensorRole role) {
        return made.graph.addTensor({name, options.activations, batched(shape), true, role, 0});
    }

    // A convolution whose groups do not divide its channels would be priced as nonsense.
    Expected<void> convolution(const NcnnLayer& layer, Operator& op) {
        const NcnnShape& in = shapes.at(layer.inputs.front());
        const std::int64_t channels = layer.whole(0, 0), groups = layer.whole(7, 1);
        const std::int64_t kw = layer.whole(1, 1), kh = layer.whole(11, kw);
        if (in.size() != 3 || channels < 1 || groups < 1 || in[0] % groups != 0 || channels % groups != 0 || kw < 1 ||
            kh < 1 || kw > 1024 || kh > 1024)
            return bad(layer, "a convolution's channels, kernel and groups do not fit its input");
        const bool transposed = op.kind == OperatorKind::ConvTranspose;
        op.inputs.push_back(
            weight(layer.name + ".weight",
                   transposed ? Shape{in[0], channels / groups, kh, kw} : Shape{channels, in[0] / groups, kh, kw},
                   narrow(layer)));
        if (layer.whole(5, 0) != 0) op.inputs.push_back(weight(layer.name + ".bias", {channels}, options.weights));
        op.attributes["group"] = groups;
        op.attributes["kernel_shape"] = std::vector<std::int64_t>{kh, kw};
        const std::int64_t stride = layer.whole(3, 1), dilation = layer.whole(2, 1);
        op.attributes["strides"] = std::vector<std::int64_t>{layer.whole(13, stride), stride};
        if (dilation != 1) op.attributes["dilations"] = std::vector<std::int64_t>{layer.whole(12, dilation), dilation};
        return {};
    }

    Unexpected bad(const NcnnLayer& layer, std::string what) const {
        return fail("ncnn.bad-layer", fmt::format("{}: {}", layer.name.substr(0, 60), what), {},
                    "is the file whole, and the input as large as the network wants it (--image)?",
                    Place{.line = layer.line, .path = layer.name});
    }

    Expected<void> product(const NcnnLayer& layer, Operator& op, const NcnnShape& out) {
        NcnnShape in = shapes.at(layer.inputs.front());
        std::int64_t inner = 1;
        if (layer.type == "Gemm" || in.size() == 2)
            inner = in.back();
        else
            for (const std::int64_t each : in) inner *= each;
        if (layer.type == "Gemm" && layer.inputs.size() > 1) return {};  // of two activations: priced by its kind
        op.inputs.push_back(weight(layer.name + ".weight", {inner, out.back()}, narrow(layer)));
        return {};
    }

    Expected<void> attention(const NcnnLayer& layer, Operator& op) {
        const NcnnShape& query = shapes.at(layer.inputs.front());
        const NcnnShape& key = shapes.at(layer.inputs.size() > 1 ? layer.inputs[1] : layer.inputs[0]);
        const std::int64_t width = layer.whole(0, 0), heads = layer.whole(1, 1);
        if (query.size() != 2 || key.size() != 2 || width < 1 || heads < 1 || width % heads != 0)
            return bad(layer, "attention's heads do not fit its width");
        // ncnn's layer holds the four projections too.
        const auto project = [&](const char* part, const NcnnShape& of) {
            Operator linear;
            linear.name = layer.name + "." + part;
            linear.type = "Linear";
            linear.kind = OperatorKind::MatMul;
            linear.inputs = {blobs.at(layer.inputs.front()),
                             weight(linear.name + ".weight", {of.back(), width}, options.weights)};
            const TensorId out = activation(linear.name, {of.front(), width}, TensorRole::Activation);
            linear.outputs = {out};
            made.graph.operators.push_back(std::move(linear));
            return out;
        };
        op.inputs = {project("q", query), project("k", key), project("v", key)};
        AttentionShape shape{options.batch, heads, heads, query[0], key[0], width / heads, width / heads};
        shape.flash = false;
        op.attention = shape;
        const TensorId mixed = activation(layer.name + ".mixed", {query[0], width}, TensorRole::Activation);
        Operator last;
        last.name = layer.name + ".out";
        last.type = "Linear";
        last.kind = OperatorKind::MatMul;
        last.inputs = {mixed, weight(last.name + ".weight", {width, width}, options.weights)};
        last.outputs = std::move(op.outputs);
        op.outputs = {mixed};
        op.type = "Attention";
        op.kind = OperatorKind::Attention;
        made.graph.operators.push_back(op);
        op = std::move(last);
        return {};
    }

    Expected<void> add(const NcnnLayer& layer, std::int64_t side) {
        std::vector<NcnnShape> in;
        for (const std::string& blob : layer.inputs) in.push_back(shapes.at(blob));
        auto out = ncnnShapes(layer, in, side);
        if (!out) {
            if (in.empty()) return bad(layer, "its shape is not known");
            const bool slides = layer.type.find("onvolution") != std::string::npos || layer.type == "Pooling";
            if (slides) return bad(layer, "it does not fit its input");
            out = std::vector<NcnnShape>(layer.outputs.size(), in.front());
            guessed.insert(layer.type);
        }
        Graph& graph = made.graph;
        const bool source = layer.type == "Input" || layer.type == "MemoryData";
        Operator op;
        for (std::size_t o = 0; o < layer.outputs.size(); ++o) {
            const TensorRole role = layer.type == "Input" ? TensorRole::Input
                                    : source              ? TensorRole::Constant
                                                          : TensorRole::Activation;
            const TensorId id = activation(layer.outputs[o], (*out)[o], role);
            if (layer.type == "Input") graph.inputs.push_back(id);
            blobs[layer.outputs[o]] = id;
            shapes[layer.outputs[o]] = (*out)[o];
            op.outputs.push_back(id);
        }
        if (source) return {};
        op.name = layer.name;
        op.type = typeOf(layer);
        const OperatorType* known = operatorType(op.type);
        op.kind = known ? known->kind : OperatorKind::Other;
        for (const std::string& blob : layer.inputs) op.inputs.push_back(blobs.at(blob));
        Expected<void> good;
        if (op.kind == OperatorKind::Conv || op.kind == OperatorKind::ConvTranspose) {
            good = convolution(layer, op);
        } else if (op.type == "Linear") {
            good = product(layer, op, out->front());
        } else if (layer.type == "MultiHeadAttention") {
            good = attention(layer, op);
        } else if (op.kind == OperatorKind::Pool && layer.whole(4, 0) == 0) {
            const std::int64_t k = layer.whole(1, 1), s = layer.whole(2, 1);
            op.attributes["kernel_shape"] = std::vector<std::int64_t>{layer.whole(11, k), k};
            op.attributes["strides"] = std::vector<std::int64_t>{layer.whole(12, s), s};
        }
        if (good) graph.operators.push_back(std::move(op));
        return good;
    }
};

}  // namespace

Expected<ImportedGraph> importNcnn(const std::string& path, const WorkloadOptions& options) {
    const auto file = readNcnnParam(path);
    if (!file) return Unexpected(file.error());
    ParamImport importer{options, {}, {}, {}, {}};
    importer.made.name = std::filesystem::path(path).stem().string();
    importer.made.graph.name = importer.made.name;
    importer.made.graph.keepsActivations = options.phase == Phase::TrainingForward;
    std::set<std::string> read;
    for (const NcnnLayer& layer : file->layers) {
        if (auto good = importer.add(layer, options.image > 0 ? options.image : 224); !good) {
            good.error().place.file = path;
            return Unexpected(good.error());
        }
        read.insert(layer.inputs.begin(), layer.inputs.end());
    }
    Graph& graph = importer.made.graph;
    if (graph.operators.empty())
        return fail("ncnn.empty", "the file holds no layer that computes", {}, {}, Place{.file = path});
    for (const NcnnLayer& layer : file->layers) {
        for (const std::string& blob : layer.outputs) {
            const TensorId id = importer.blobs.at(blob);
            if (read.contains(blob) || graph.tensors[static_cast<std::size_t>(id)].role != TensorRole::Activation)
                continue;
            graph.tensors[static_cast<std::size_t>(id)].role = TensorRole::Output;
            graph.outputs.push_back(id);
        }
    }
    if (!importer.guessed.empty()) {
        std::string types;
        for (const std::string& each : importer.guessed) types += (types.empty() ? "" : ", ") + each;
        importer.made.warnings.push_back(warning(
            "ncnn.guessed-shape", fmt::format("no rule gives the output of: {}; their input's shape is taken", types),
            "write the file with shapes (ncnnoptimize, key -23330)", Place{.file = path}));
    }
    return std::move(importer.made);
}

}  // namespace orrery
