#include "workload/models/other_models.h"

namespace orrery {

Expected<ImportedGraph> buildMamba(const MambaConfig& c, const WorkloadOptions& options) {
    const bool decode = options.phase == Phase::Decode;
    const bool cached = decode || options.phase == Phase::Prefill;
    const std::int64_t batch = options.batch;
    const std::int64_t length = decode ? 1 : options.sequence > 0 ? options.sequence : 2048;
    const std::int64_t inner = c.expand * c.hidden;
    const std::int64_t stepRank = (c.hidden + 15) / 16;
    const GraphBuilder::LinearSpec plain{.bias = false};

    GraphBuilder g(c.name, options);
    const TensorId ids = g.input("input_ids", {batch, length}, DType::I32);
    TensorId x = g.embedding("embedding", ids, c.vocabulary, c.hidden);
    g.beginBlock("layers", c.layers);
    const TensorId projected = g.linear("in_proj", g.rmsNorm("norm", x), 2 * inner, plain);
    const auto split = [&](const std::string& name, TensorId from, const std::vector<std::int64_t>& widths) {
        Operator op;
        op.name = name;
        op.type = "View";
        op.kind = OperatorKind::View;
        op.inputs = {from};
        for (const std::int64_t width : widths) op.outputs.push_back(g.activation({batch, length, width}));
        return g.add(std::move(op)).outputs;
    };
    const auto halves = split("split", projected, {inner, inner});

    Operator conv;
    conv.name = "conv1d";
    conv.type = "Conv";
    conv.kind = OperatorKind::Conv;
    conv.attributes["group"] = inner;
    conv.attributes["kernel_shape"] = std::vector<std::int64_t>{c.convolution};
    conv.attributes["inPlaceState"] = std::int64_t{1};
    const TensorId channelsFirst = g.view("channels_first", halves[0], {batch, inner, length});
    conv.inputs = {channelsFirst, g.matrix("conv1d.weight", {inner, 1, c.convolution}),
                   g.auxiliary("conv1d.bias", {inner})};
    conv.outputs = {g.activation({batch, inner, length})};
    const Shape convState{batch, inner, c.convolution - 1};
    if (decode) conv.inputs.push_back(g.cache("conv_state", convState));
    if (cached) conv.outputs.push_back(g.cache("conv_state_new", convState));
    const TensorId convolved = g.add(std::move(conv)).outputs.front();
    const TensorId u = g.view("channels_last", g.elementwise("SiLU", "conv_act", {convolved}), {batch, length, inner});

    const auto parameters =
        split("split_parameters", g.linear("x_proj", u, stepRank + 2 * c.state, plain), {stepRank, c.state, c.state});
    const TensorId delta = g.elementwise("Softplus", "softplus", {g.linear("dt_proj", parameters[0], inner)});
    Operator scan;
    scan.name = "selective_scan";
    scan.type = "SelectiveScan";
    scan.kind = OperatorKind::Scan;
    scan.attributes["inPlaceState"] = std::int64_t{1};
    scan.inputs = {
        u, delta, g.auxiliary("A_log", {inner, c.state}), parameters[1], parameters[2], g.auxiliary("D", {inner})};
    scan.outputs = {g.activation({batch, length, inner})};
    const Shape scanState{batch, inner, c.state};
    if (decode) scan.inputs.push_back(g.cache("ssm_state", scanState));
    if (cached) scan.outputs.push_back(g.cache("ssm_state_new", scanState));
    const TensorId scanned = g.add(std::move(scan)).outputs.front();
    const TensorId gated = g.elementwise("Mul", "gate", {scanned, g.elementwise("SiLU", "gate_act", {halves[1]})});
    x = g.elementwise("Residual", "residual", {x, g.linear("out_proj", gated, c.hidden, plain)});
    g.endBlock();

    x = g.rmsNorm("norm_f", x);
    if (options.phase == Phase::Prefill && length > 1) {
        x = g.move("Slice", "last_token", {x}, {batch, 1, c.hidden});
    }
    g.output(g.linear("lm_head", x, c.vocabulary, {.bias = false, .quantised = false, .weight = "embedding.weight"}));

    ImportedGraph result;
    result.name = c.name;
    result.graph = g.finish();
    TransformerFacts facts;
    facts.layers = c.layers;
    facts.hidden = c.hidden;
    facts.vocabulary = c.vocabulary;
    for (const Operator& op : result.graph.operators) {
        if (op.name == "lm_head") continue;  // its weight is the embedding's
        for (const TensorId id : op.inputs) {
            const Tensor* tensor = result.graph.tensor(id);
            if (tensor && tensor->role == TensorRole::Weight) {
                facts.parameters += tensor->elements() * static_cast<double>(op.repeat);
            }
        }
    }
    facts.activeParameters = facts.parameters;
    result.transformer = facts;
    return result;
}

}  // namespace orrery
