#include "evaluation/reference_sets.h"

#include "evaluation/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

namespace orrery {

namespace {

using Row = std::vector<double>;

// Reads the named columns of the rows that `keep` accepts and hands each to `add`.
Expected<void> forRows(const CsvFile& file, const std::vector<std::string_view>& names,
                       const std::function<bool(const std::vector<std::string>&)>& keep,
                       const std::function<void(const Row&)>& add) {
    std::vector<std::size_t> columns;
    for (const auto name : names) {
        auto column = file.column(name);
        if (!column) return tl::unexpected(std::move(column.error()));
        columns.push_back(*column);
    }
    Row values(names.size());
    for (std::size_t row = 0; row < file.rows.size(); ++row) {
        if (keep && !keep(file.rows[row])) continue;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            auto value = file.number(row, columns[c]);
            if (!value) return tl::unexpected(std::move(value.error()));
            values[c] = *value;
        }
        add(values);
    }
    return {};
}

// The newest stack's table of a system, and the stack's name.
Expected<std::pair<std::string, std::string>> findTable(const std::string& folder, std::string_view system,
                                                        std::string_view table) {
    std::pair<std::string, std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const auto name = entry.path().filename().string();
        const auto tail = "__" + std::string(table) + ".csv.gz";
        if (!name.starts_with(std::string(system) + "__") || !name.ends_with(tail)) continue;
        const auto stack = name.substr(system.size() + 2, name.size() - system.size() - 2 - tail.size());
        if (found.first.empty() || stack > found.second) found = {entry.path().string(), stack};
    }
    if (found.first.empty()) {
        return fail("reference.absent", fmt::format("there is no table {} of {}", table, system),
                    fmt::format("{}__<stack>__{}.csv.gz", system, table), {}, Place{folder, 0, 0, {}});
    }
    return found;
}

TensorId tensor(Graph& graph, DType type, Shape shape, TensorRole role) {
    Tensor t;
    t.type = type;
    t.shape = std::move(shape);
    t.role = role;
    return graph.addTensor(std::move(t));
}

std::int64_t whole(double value) {
    return static_cast<std::int64_t>(value);
}

void addProduct(ReferenceSet& set, DType type, std::int64_t m, std::int64_t n, std::int64_t k, double seconds) {
    Operator op;
    op.name = fmt::format("matmul {}×{}×{} {}", m, n, k, toText(type));
    op.type = "MatMul";
    op.kind = OperatorKind::MatMul;
    op.inputs = {tensor(set.graph, type, {m, k}, TensorRole::Input),
                 tensor(set.graph, type, {k, n}, TensorRole::Weight)};
    op.outputs = {tensor(set.graph, type, {m, n}, TensorRole::Output)};
    set.graph.operators.push_back(std::move(op));
    set.seconds.push_back(seconds);
}

void addAttention(ReferenceSet& set, const AttentionShape& s, double seconds) {
    constexpr auto type = DType::BF16;
    const bool cached = s.queries == 1;
    const auto role = cached ? TensorRole::KvCache : TensorRole::Input;
    Operator op;
    op.name = fmt::format("attention batch {} heads {}/{} {}×{}", s.batch, s.heads, s.kvHeads, s.queries, s.keys);
    op.type = "Attention";
    op.kind = OperatorKind::Attention;
    op.attention = s;
    op.inputs = {tensor(set.graph, type, {s.batch, s.heads, s.queries, s.headDim}, TensorRole::Input),
                 tensor(set.graph, type, {s.batch, s.kvHeads, s.keys, s.headDim}, role),
                 tensor(set.graph, type, {s.batch, s.kvHeads, s.keys, s.valueDim}, role)};
    op.outputs = {tensor(set.graph, type, {s.batch, s.heads, s.queries, s.valueDim}, TensorRole::Output)};
    set.graph.operators.push_back(std::move(op));
    set.seconds.push_back(seconds);
}

struct VectorOp {
    std::string_view word, type;
    OperatorKind kind;
    bool twoTensors;
};
// NeuSight's words; a trailing u means that the other operand is a scalar.
constexpr std::array<VectorOp, 13> vectorOps{{{"add", "Add", OperatorKind::Elementwise, true},
                                              {"mul", "Mul", OperatorKind::Elementwise, true},
                                              {"div", "Div", OperatorKind::Elementwise, true},
                                              {"pow", "Pow", OperatorKind::Elementwise, true},
                                              {"addu", "Add", OperatorKind::Elementwise, false},
                                              {"mulu", "Mul", OperatorKind::Elementwise, false},
                                              {"divu", "Div", OperatorKind::Elementwise, false},
                                              {"powu", "Pow", OperatorKind::Elementwise, false},
                                              {"relu", "Relu", OperatorKind::Elementwise, false},
                                              {"gelu", "Gelu", OperatorKind::Elementwise, false},
                                              {"tanh", "Tanh", OperatorKind::Elementwise, false},
                                              {"ln", "LayerNormalization", OperatorKind::Normalization, false},
                                              {"softmax", "Softmax", OperatorKind::Softmax, false}}};

ReferenceSet neusightSet(std::string_view device, OperatorFamily family) {
    ReferenceSet set;
    set.device = device;
    set.software = "PyTorch 2.1.0 cu121";
    set.source = "NeuSight 6945927d";
    set.family = family;
    return set;
}

}  // namespace

Expected<ReferenceSet> readAiconfiguratorGemm(const std::string& folder, std::string_view system,
                                              std::string_view device) {
    const auto table = findTable(folder, system, "gemm");
    if (!table) return tl::unexpected(table.error());
    const auto file = readCsv(table->first);
    if (!file) return tl::unexpected(file.error());
    const auto type = file->column("gemm_dtype");
    if (!type) return tl::unexpected(type.error());
    ReferenceSet set;
    set.device = device;
    set.software = table->second;
    set.source = "aiconfigurator 2026-08-21";
    const auto bf16 = [&](const std::vector<std::string>& row) {
        return row.size() > *type && row[*type] == "bfloat16";
    };
    const auto read = forRows(*file, {"m", "n", "k", "latency"}, bf16, [&](const Row& r) {
        addProduct(set, DType::BF16, whole(r[0]), whole(r[1]), whole(r[2]), r[3] * 1e-3);
    });
    if (!read) return tl::unexpected(read.error());
    return set;
}

Expected<ReferenceSet> readAiconfiguratorAttention(const std::string& folder, std::string_view system,
                                                   std::string_view device, bool generation) {
    const auto table = findTable(folder, system, generation ? "generation_attention" : "context_attention");
    if (!table) return tl::unexpected(table.error());
    const auto file = readCsv(table->first);
    if (!file) return tl::unexpected(file.error());
    ReferenceSet set;
    set.device = device;
    set.software = table->second;
    set.source = "aiconfigurator 2026-08-21";
    set.family = generation ? OperatorFamily::DecodeAttention : OperatorFamily::PrefillAttention;
    // Older stacks measured head dimension 128, no window and bf16 alone and have no columns for them.
    const auto is = [&](const std::vector<std::string>& row, std::string_view name, std::string_view value) {
        const auto column = file->column(name);
        return !column || (*column < row.size() && row[*column] == value);
    };
    const auto plain = [&](const std::vector<std::string>& row) {
        return is(row, "head_dim", "128") && is(row, "window_size", "0") && is(row, "attn_dtype", "bfloat16") &&
               is(row, "kv_cache_dtype", "bfloat16");
    };
    const bool cacheTypeKnown = !generation || file->column("kv_cache_dtype").has_value();
    const std::string_view length = generation ? "step" : "isl";
    const auto read =
        forRows(*file, {"batch_size", length, "num_heads", "num_key_value_heads", "latency"}, plain, [&](const Row& r) {
            if (r[2] > 8 * r[3] || (generation && r[1] < 64) || (!cacheTypeKnown && r[2] > r[3])) return;
            AttentionShape shape;
            shape.batch = whole(r[0]);
            shape.queries = generation ? 1 : whole(r[1]);
            shape.keys = generation ? std::max<std::int64_t>(1, whole(r[1])) : whole(r[1]);
            shape.heads = whole(r[2]);
            shape.kvHeads = whole(r[3]);
            shape.headDim = shape.valueDim = 128;
            shape.causal = !generation;
            addAttention(set, shape, r[4] * 1e-3);
        });
    if (!read) return tl::unexpected(read.error());
    return set;
}

Expected<ReferenceSet> readNeusightVector(const std::string& file, std::string_view deviceName,
                                          std::string_view device) {
    const auto csv = readCsv(file);
    if (!csv) return tl::unexpected(csv.error());
    const auto deviceColumn = csv->column("device");
    const auto opColumn = csv->column("op");
    if (!deviceColumn) return tl::unexpected(deviceColumn.error());
    if (!opColumn) return tl::unexpected(opColumn.error());
    auto set = neusightSet(device, OperatorFamily::Elementwise);
    for (const auto& known : vectorOps) {
        const auto keep = [&](const std::vector<std::string>& row) {
            return row.size() > *opColumn && row[*deviceColumn] == deviceName && row[*opColumn] == known.word;
        };
        const auto read = forRows(*csv, {"B", "H", "latency_ms"}, keep, [&](const Row& r) {
            const Shape shape{whole(r[0]), whole(r[1])};
            Operator op;
            op.name = fmt::format("{} {}×{} fp32", known.word, r[0], r[1]);
            op.type = known.type;
            op.kind = known.kind;
            op.inputs.push_back(tensor(set.graph, DType::F32, shape, TensorRole::Input));
            if (known.twoTensors) op.inputs.push_back(tensor(set.graph, DType::F32, shape, TensorRole::Input));
            op.outputs.push_back(tensor(set.graph, DType::F32, shape, TensorRole::Output));
            set.graph.operators.push_back(std::move(op));
            set.seconds.push_back(r[2] * 1e-3);
        });
        if (!read) return tl::unexpected(read.error());
    }
    return set;
}

Expected<ReferenceSet> readNeusightLinear(const std::string& file, std::string_view deviceName,
                                          std::string_view device) {
    const auto csv = readCsv(file);
    if (!csv) return tl::unexpected(csv.error());
    const auto column = csv->column("device");
    auto set = neusightSet(device, OperatorFamily::MatrixProduct);
    const auto keep = [&](const std::vector<std::string>& row) {
        return !column || (row.size() > *column && row[*column] == deviceName);
    };
    const auto read = forRows(*csv, {"B", "M", "N", "K", "latency_ms"}, keep, [&](const Row& r) {
        addProduct(set, DType::F32, whole(r[0] * r[1]), whole(r[3]), whole(r[2]), r[4] * 1e-3);
    });
    if (!read) return tl::unexpected(read.error());
    return set;
}

Expected<ReferenceSet> readNeusightConv(const std::string& file, std::string_view deviceName, std::string_view device) {
    const auto csv = readCsv(file);
    if (!csv) return tl::unexpected(csv.error());
    const auto column = csv->column("device");
    if (!column) return tl::unexpected(column.error());
    auto set = neusightSet(device, OperatorFamily::Convolution);
    const auto keep = [&](const std::vector<std::string>& row) {
        return row.size() > *column && row[*column] == deviceName;
    };
    const auto read =
        forRows(*csv, {"B", "Cin", "Cout", "ksize", "in_hw", "stride", "pad", "latency_ms"}, keep, [&](const Row& r) {
            const auto batch = whole(r[0]), in = whole(r[1]), out = whole(r[2]), kernel = whole(r[3]);
            const auto side = whole(r[4]), stride = whole(r[5]), pad = whole(r[6]);
            const auto result = (side + 2 * pad - kernel) / stride + 1;
            if (result <= 0) return;
            Operator op;
            op.name = fmt::format("conv {}×{}×{}² to {} by {}²", batch, in, side, out, kernel);
            op.type = "Conv";
            op.kind = OperatorKind::Conv;
            op.attributes["strides"] = std::vector<std::int64_t>{stride, stride};
            op.attributes["pads"] = std::vector<std::int64_t>(4, pad);
            op.inputs = {tensor(set.graph, DType::F32, {batch, in, side, side}, TensorRole::Input),
                         tensor(set.graph, DType::F32, {out, in, kernel, kernel}, TensorRole::Weight)};
            op.outputs = {tensor(set.graph, DType::F32, {batch, out, result, result}, TensorRole::Output)};
            set.graph.operators.push_back(std::move(op));
            set.seconds.push_back(r[7] * 1e-3);
        });
    if (!read) return tl::unexpected(read.error());
    return set;
}

Expected<ReferenceSet> readLlmCompassMatmul(const std::string& file, std::string_view device) {
    const auto csv = readCsv(file, false);
    if (!csv) return tl::unexpected(csv.error());
    ReferenceSet set;
    set.device = device;
    set.software = "PyTorch";
    set.source = "LLMCompass 2e015fd2";
    for (std::size_t row = 0; row < csv->rows.size(); ++row) {
        std::array<double, 4> v{};
        for (std::size_t c = 0; c < v.size(); ++c) {
            const auto value = csv->number(row, c);
            if (!value) return tl::unexpected(value.error());
            v[c] = *value;
        }
        addProduct(set, DType::F16, whole(v[0]), whole(v[1]), whole(v[2]), v[3] * 1e-3);
    }
    return set;
}

}  // namespace orrery
