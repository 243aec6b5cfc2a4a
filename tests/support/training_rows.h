#pragma once

// Published training steps as questions: a model, machines, a plan and how long a step took. Read from the tables of
// ORRERY_REFERENCE/training/data; nothing here answers them.

#include "base/dtype.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "methods/task.h"
#include "support/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace orrery::testing {

struct TrainingRow {
    std::string source;    ///< table and stack: rows of a source are judged together
    std::string identity;  ///< of the row, for its half
    std::string config;    ///< a Hugging Face config.json; empty: `model`
    std::string model;     ///< a built-in one
    std::string preset;    ///< of the hardware
    std::string plan;
    Recompute recompute = Recompute::None;  ///< as the stack has it
    std::string fusion = "compile", launch = "graph";
    bool flash = true;
    DType type = DType::BF16;  ///< of weights and activations
    std::string stack = "kernels";
    std::int64_t batch = 1, sequence = 2048;  ///< sequences of a step, all devices together
    double measured = 0;                      ///< s
};

inline std::string gptConfig(int layers, int hidden, int heads, int vocabulary, std::int64_t sequence, double dropout,
                             int ffn = 0) {
    return fmt::format(
        R"({{"model_type": "gpt2", "n_layer": {}, "n_embd": {}, "n_head": {}, "n_inner": {}, "vocab_size": {}, "n_positions": {}, "activation_function": "gelu", "resid_pdrop": {}, "attn_pdrop": {}, "torch_dtype": "bfloat16"}})",
        layers, hidden, heads, ffn > 0 ? ffn : 4 * hidden, vocabulary, sequence, dropout, dropout);
}

/// A drawing of so many nodes or racks of a preset, written under `folder`: clusters of tables are larger than drawn.
class Clusters {
public:
    explicit Clusters(std::string folder) : folder_(std::move(folder)) { std::filesystem::create_directories(folder_); }

    /// `a100`, `h100`, `h200`, `gh200`, `b200`, `gb200`, `b300`, `gb300`.
    std::string of(std::string_view gpu, std::int64_t devices) const {
        const bool grace = gpu.starts_with("gb");
        const std::int64_t inside = grace ? 64 : gpu == "gh200" ? 4 : 8;
        const std::int64_t nodes = std::max<std::int64_t>(1, (devices + inside - 1) / inside);
        std::string text;
        if (gpu == "a100") {
            text = preset("dgx-a100-superpod");
            set(text, "count: 140", fmt::format("count: {}", nodes));
        } else if (gpu == "h100" || gpu == "h200" || gpu == "h100-96" || gpu == "gh200") {
            text = preset("dgx-h100-superpod");
            set(text, "count: 128", fmt::format("count: {}", nodes));
            if (gpu == "h200")
                set(text, "capacity: 80 GB, bandwidth: 3.35 TB/s", "capacity: 141 GB, bandwidth: 4.8 TB/s");
            if (gpu == "h100-96")
                set(text, "capacity: 80 GB, bandwidth: 3.35 TB/s", "capacity: 96 GB, bandwidth: 2.4 TB/s");
            if (gpu == "gh200") {
                set(text, "capacity: 80 GB, bandwidth: 3.35 TB/s", "capacity: 96 GB, bandwidth: 4 TB/s");
                set(text, "count: 8\n", "count: 4\n");
                set(text, "bandwidth: 400 GB/s", "bandwidth: 100 GB/s");  // four adapters of 200 Gbit/s (Slingshot 11)
            }
        } else {
            text = preset(gpu.ends_with("300") ? "gb300-nvl72" : "gb200-nvl72");
            set(text, "count: 72", fmt::format("count: {}", inside));
            set(text, "    - kind: node\n      name: rack\n",
                fmt::format("    - {{kind: topology, name: infiniband, shape: fat-tree, bandwidth: {} GB/s, radix: 64, "
                            "source: unverified}}\n    - kind: node\n      name: rack\n      count: {}\n",
                            inside * (gpu.ends_with("300") ? 100 : 50), nodes));
        }
        const std::string path = fmt::format("{}/{}-{}.yaml", folder_, gpu, nodes);
        std::ofstream(path) << text;
        return path;
    }

private:
    static std::string preset(const std::string& name) {
        std::ifstream file(presetsFolder() + "/hardware/" + name + ".yaml");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static void set(std::string& text, std::string_view from, std::string_view to) {
        const auto at = text.find(from);
        if (at != std::string::npos) text.replace(at, from.size(), to);
    }
    std::string folder_;
};

/// llm-foundry's MPT models in bf16, all state divided over the devices (PyTorch FSDP), flash attention.
inline std::vector<TrainingRow> llmFoundryRows(const std::string& data) {
    struct Dimensions {
        int layers, hidden, heads;
    };
    static const std::map<std::string, Dimensions, std::less<>> models{
        {"350m", {24, 1024, 16}}, {"760m", {24, 1536, 12}}, {"125m", {12, 768, 12}},
        {"1b", {24, 2048, 16}},   {"3b", {32, 2560, 20}},   {"7b", {32, 4096, 32}},
        {"13b", {40, 5120, 40}},  {"30b", {48, 7168, 56}},  {"70b", {80, 8192, 64}}};
    std::vector<TrainingRow> rows;
    for (const TableRow& row : tableRows(data + "megatron/llmfoundry_measured.csv")) {
        const auto cell = [&](std::string_view name) { return row.find(name)->second; };
        const auto model = models.find(cell("Model"));
        const std::string gpu = cell("GPU");
        const int devices = std::stoi(cell("# GPUs")), micro = std::stoi(cell("GradAccum")),
                  batch = std::stoi(cell("GlobalBatchSize"));
        const bool plain = model != models.end() && cell("Precision") == "amp_bf16" &&
                           cell("Sharding Strategy") == "FULL_SHARD" && devices >= 8 && devices <= 1024;
        if (!plain || std::stoi(cell("MicroBatchSize")) * micro * devices != batch || !gpu.ends_with("80gb")) continue;
        const auto& [layers, hidden, heads] = model->second;
        TrainingRow& made = rows.emplace_back();
        made.source = "llm-foundry FSDP " + gpu.substr(0, 4);
        made.sequence = std::stoi(cell("SeqLen (T)"));
        made.identity = fmt::format("{} {} {} {} {}", cell("Model"), made.sequence, devices, gpu, batch);
        made.config = gptConfig(layers, hidden, heads, 50368, made.sequence, 0);
        made.preset = gpu.starts_with("h100") ? "dgx-h100-superpod" : "dgx-a100-superpod";
        made.plan = fmt::format("dp={},zero=3,mb={}", devices, micro);
        made.recompute = cell("Activation Checkpointing") == "True" ? Recompute::Full : Recompute::None;
        made.fusion = "none";
        made.stack = "llm-foundry";
        made.batch = batch;
        made.measured = static_cast<double>(batch) * static_cast<double>(made.sequence) / devices /
                        std::stod(cell("Throughput (T/s/GPU)"));
    }
    return rows;
}

inline std::string cellOf(const TableRow& row, std::string_view name) {
    const auto found = row.find(name);
    return found == row.end() ? std::string() : found->second;
}
inline std::int64_t wholeOf(const TableRow& row, std::string_view name, std::int64_t fallback) {
    return wholeIn(cellOf(row, name)).value_or(fallback);
}

/// Megatron-LM's tables of 2021 and 2022 on A100 (fp16, scores written out), of 2024 on H100 (bf16), and DeepSpeed's
/// ZeRO-3 beside the first. Rates become times by the formulas that the sources state: operations of a step with
/// everything computed again 96·B·s·l·h²·(1 + s/6h + V/16lh), without 72·B·s·l·h²·(1 + s/6h + V/12lh).
inline std::vector<TrainingRow> megatronRows(const std::string& data, const Clusters& clusters) {
    // Of examples/sc21/run_table_1.sh, recalled; the table does not print micro-batches and chunks.
    static const std::map<std::string, std::pair<int, int>, std::less<>> recalled{
        {"meg21-1.7B", {16, 1}}, {"meg21-3.6B", {16, 1}}, {"meg21-7.5B", {16, 1}}, {"meg21-18B", {8, 1}},
        {"meg21-39B", {4, 1}},   {"meg21-76B", {2, 3}},   {"meg21-145B", {2, 2}},  {"meg21-310B", {1, 2}},
        {"meg21-530B", {1, 3}},  {"meg21-1T", {1, 1}}};
    std::vector<TrainingRow> rows;
    for (const TableRow& row : tableRows(data + "megatron/e2e_ground_truth.csv")) {
        const std::string id = cellOf(row, "id"), metric = cellOf(row, "metric");
        const bool zero3 = id.starts_with("meg21-t2-zero3"), hopper = id.starts_with("megH");
        const bool older = id.starts_with("meg21") || id.starts_with("seqsel") || id.starts_with("meg-readme");
        if (!hopper && !older) continue;
        const auto tp = wholeOf(row, "tp", 1), gpus = wholeOf(row, "gpus", 1), batch = wholeOf(row, "global_batch", 1);
        const auto pp = wholeOf(row, "pp", hopper ? 6 : 1);  // 177B runs in six stages where it is printed
        const auto dp = gpus / (tp * pp);
        auto mbs = wholeOf(row, "microbatch", 1), vp = wholeOf(row, "vpp", 1);
        if (id.starts_with("seqsel-22B")) mbs = 4;
        if (const auto known = recalled.find(id); known != recalled.end())
            mbs = known->second.first, vp = known->second.second;
        const double l = static_cast<double>(wholeOf(row, "layers", 1)),
                     h = static_cast<double>(wholeOf(row, "hidden", 1)),
                     s = static_cast<double>(wholeOf(row, "seq", 1)), v = static_cast<double>(wholeOf(row, "vocab", 1)),
                     value = numberIn(cellOf(row, "value")).value_or(0);
        const double operations =
            static_cast<double>(batch) * s * l * h * h *
            (hopper ? 72 * (1 + s / (6 * h) + v / (12 * l * h)) : 96 * (1 + s / (6 * h) + v / (16 * l * h)));
        TrainingRow made;
        made.source = zero3                      ? "DeepSpeed ZeRO-3 2021, A100"
                      : hopper                   ? "Megatron-Core 2024 bf16, H100"
                      : id.starts_with("seqsel") ? "Megatron-LM 2022 table 5, A100"
                                                 : "Megatron-LM 2021, A100";
        made.identity = id;
        made.sequence = static_cast<std::int64_t>(s);
        made.batch = batch;
        made.config = gptConfig(static_cast<int>(l), static_cast<int>(h), static_cast<int>(wholeOf(row, "heads", 1)),
                                static_cast<int>(v), made.sequence, hopper ? 0 : 0.1);
        made.preset = clusters.of(hopper ? "h100" : "a100", gpus);
        made.flash = hopper;
        made.type = hopper ? DType::BF16 : DType::F16;
        made.stack = zero3                      ? "deepspeed-zero3"
                     : hopper                   ? "megatron-core"
                     : id.starts_with("seqsel") ? "megatron-lm-2022"
                                                : "megatron-lm-2021";
        const std::string again = cellOf(row, "recompute");
        made.recompute = again == "selective"       ? Recompute::Selective
                         : again == "full" || zero3 ? Recompute::Full
                                                    : Recompute::None;
        const bool sp = cellOf(row, "seqpar") == "yes" || (hopper && tp > 1);
        made.plan = fmt::format("tp={},pp={},dp={},vp={},mb={},zero={},sp={}", tp, pp, dp, vp, batch / (dp * mbs),
                                zero3    ? 3
                                : hopper ? 1
                                         : 0,
                                sp ? 1 : 0);
        made.measured = metric == "iteration time" ? value
                        : metric == "MFU"          ? operations / (static_cast<double>(gpus) * value / 100 * 989.4e12)
                                                   : operations / (static_cast<double>(gpus) * value * 1e12);
        rows.push_back(std::move(made));
    }
    return rows;
}

/// A Hugging Face config of a model as the tables of `e2e_more` name it; empty where none is known. Of
/// model_dimensions.csv; the first letters decide.
inline std::string namedConfig(std::string name, std::int64_t sequence, std::int64_t layers) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::erase_if(name, [](char c) { return c == ' ' || c == '-' || c == '_' || c == '.'; });
    const auto llama = [&](int l, int h, int heads, int kv, int ffn, int vocabulary) {
        return fmt::format(
            R"({{"model_type": "llama", "num_hidden_layers": {}, "hidden_size": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "intermediate_size": {}, "vocab_size": {}, "max_position_embeddings": {}, "torch_dtype": "bfloat16"}})",
            layers > 0 ? layers : l, h, heads, kv, ffn, vocabulary, sequence);
    };
    const auto mixtral = [&](int l, int h, int heads, int kv, int dim, int ffn, int vocabulary, int experts,
                             int chosen) {
        return fmt::format(
            R"({{"model_type": "mixtral", "num_hidden_layers": {}, "hidden_size": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {}, "intermediate_size": {}, "num_local_experts": {}, "num_experts_per_tok": {}, "vocab_size": {}, "max_position_embeddings": {}, "torch_dtype": "bfloat16"}})",
            layers > 0 ? layers : l, h, heads, kv, dim, ffn, experts, chosen, vocabulary, sequence);
    };
    if (name.starts_with("gpt3175") || name == "gpt3") return gptConfig(96, 12288, 96, 51200, sequence, 0);
    if (name.starts_with("gpt35b")) return gptConfig(24, 4096, 32, 51200, sequence, 0);
    if (name.starts_with("llama27")) {
        if (name.starts_with("llama270b")) return llama(80, 8192, 64, 8, 28672, 32000);
        return llama(32, 4096, 32, 32, 11008, 32000);
    }
    if (name.starts_with("llama38b") || name.starts_with("llama318b")) return llama(32, 4096, 32, 8, 14336, 128256);
    if (name.starts_with("llama370b") || name.starts_with("llama3170b")) return llama(80, 8192, 64, 8, 28672, 128256);
    if (name.starts_with("llama31405b")) return llama(126, 16384, 128, 8, 53248, 128256);
    if (name.starts_with("grok1")) return mixtral(64, 6144, 48, 8, 128, 32768, 131072, 8, 2);
    if (name.starts_with("qwen330b")) return mixtral(48, 2048, 32, 4, 128, 768, 151936, 128, 8);
    if (name.starts_with("qwen3235b")) return mixtral(94, 4096, 64, 4, 128, 1536, 151936, 128, 8);
    if (name.starts_with("gptoss120b")) return mixtral(36, 2880, 64, 8, 64, 2880, 201088, 128, 4);
    return {};
}

inline std::string gpuOf(const std::string& device) {
    const auto has = [&](std::string_view part) { return device.find(part) != std::string::npos; };
    return has("GB300")                            ? "gb300"
           : has("GB200")                          ? "gb200"
           : has("B300") || has("Blackwell Ultra") ? "b300"
           : has("B200") || has("Blackwell")       ? "b200"
           : has("H200")                           ? "h200"
           : has("H100-96GB")                      ? "h100-96"
           : has("H100")                           ? "h100"
           : has("A100")                           ? "a100"
                                                   : "";
}

/// The tables of `e2e_more` that say their plan: pre-training and full fine-tuning of known language models on NVIDIA's
/// devices. LoRA, NVFP4, models without a config here and rows without a plan are left out.
inline std::vector<TrainingRow> moreRows(const std::string& data, const Clusters& clusters) {
    std::vector<TrainingRow> rows;
    for (const char* table :
         {"nvidia_nemo_2024", "nvidia_dgxc", "nvidia_megatron_bridge", "mlperf_training", "other_llm_training"}) {
        for (const TableRow& row : tableRows(data + "e2e_more/" + table + ".csv")) {
            const std::string gpu = gpuOf(cellOf(row, "device")), precision = cellOf(row, "precision"),
                              framework = cellOf(row, "framework"), task = cellOf(row, "task");
            const auto devices = wholeOf(row, "devices", 0), batch = wholeOf(row, "global_batch", 0),
                       sequence = wholeOf(row, "seq_len", std::string_view(table) == "mlperf_training" ? 2048 : 0);
            if (gpu.empty() || devices < 2 || batch < 1 || sequence < 1 || task == "lora" || precision == "NVFP4")
                continue;
            if (cellOf(row, "note").find("INCONSISTENT") != std::string::npos ||
                cellOf(row, "note").find("regression") != std::string::npos)
                continue;
            const bool jax = framework.find("JAX") != std::string::npos, titan = framework == "torchtitan";
            if (cellOf(row, "tp").empty() && !jax) continue;
            // Scaled row by row, which is another recipe, and 30 % slower.
            if (precision == "FP8 rowwise") continue;
            TrainingRow made;
            made.config = namedConfig(cellOf(row, "model"), sequence, wholeOf(row, "layers", 0));
            if (made.config.empty() || cellOf(row, "model").find("lora") != std::string::npos) continue;
            const auto tp = wholeOf(row, "tp", 1), pp = wholeOf(row, "pp", 1), cp = wholeOf(row, "cp", 1),
                       ep = wholeOf(row, "ep", 1), vp = std::max<std::int64_t>(1, wholeOf(row, "vp", 1));
            const auto dp = devices / (tp * pp * cp);
            const auto mbs =
                std::max<std::int64_t>(1, wholeOf(row, "micro_batch", std::max<std::int64_t>(1, batch / dp)));
            // Copies of divided weights are no plan here.
            if (jax && wholeOf(row, "fsdp", devices) != devices) continue;
            const bool divided = jax || titan || wholeOf(row, "fsdp", 0) > 1;
            double measured = numberIn(cellOf(row, "step_time_s")).value_or(0);
            const double tokens = numberIn(cellOf(row, "tokens_per_s_per_device")).value_or(0);
            if (measured <= 0 && tokens > 0)
                measured = static_cast<double>(batch * sequence) / tokens / static_cast<double>(devices);
            if (measured <= 0 || dp < 1 || batch < dp || batch % dp != 0 || (batch / dp) % mbs != 0) continue;
            const auto microbatches = batch / (dp * mbs);
            if (cellOf(row, "micro_batch").empty() && pp > 1) continue;
            made.type = precision.starts_with("BF16") || precision.starts_with("bf16") ? DType::BF16 : DType::FP8;
            const std::string_view narrow = made.type == DType::BF16 ? "bf16" : "fp8";
            const bool experts = made.config.find("mixtral") != std::string::npos;
            made.source = fmt::format("{} {} {}{} {}", table,
                                      jax     ? "JAX"
                                      : titan ? "torchtitan"
                                              : "Megatron",
                                      narrow, experts ? " experts" : "", gpu);
            const bool wide = made.type == DType::BF16;
            const std::string_view xla = framework.starts_with("MaxText") ? "maxtext" : "paxml";
            made.stack = jax                                           ? fmt::format("{}{}", xla, wide ? "" : "-fp8")
                         : titan                                       ? wide ? "torchtitan" : "torchtitan-fp8"
                         : wide                                        ? "megatron-core"
                         : cellOf(row, "release").starts_with("26.06") ? "megatron-core-fp8-26.06"
                                                                       : "megatron-core-fp8";
            made.identity = fmt::format("{} {} {} {} {} {} {} {}", cellOf(row, "model"), gpu, devices, precision, batch,
                                        sequence, cellOf(row, "release"), cellOf(row, "system"));
            made.preset = clusters.of(gpu, devices);
            made.batch = batch;
            made.sequence = sequence;
            made.plan = fmt::format("tp={},pp={},cp={},dp={},ep={},vp={},mb={},zero={},sp={}", tp, pp, cp, dp, ep,
                                    pp > 1 ? vp : 1, microbatches, divided ? 3 : 1, tp > 1 ? 1 : 0);
            const std::string again = cellOf(row, "recompute");
            made.recompute = again.starts_with("full") || jax          ? Recompute::Full
                             : titan && again.starts_with("selective") ? Recompute::Selective
                                                                       : Recompute::None;
            made.fusion = framework == "torchtitan" && cellOf(row, "note").find("eager") != std::string::npos
                              ? "none"
                              : "compile";
            made.measured = measured;
            rows.push_back(std::move(made));
        }
    }
    return rows;
}

/// Sailor's runs on GH200 (Alps): GPT-Neo 2.7B and OPT-350M in fp16, one node of four after the other.
inline std::vector<TrainingRow> sailorRows(const std::string& data, const Clusters& clusters) {
    std::vector<TrainingRow> rows;
    for (const TableRow& row : tableRows(data + "sailor/sailor_measured.csv")) {
        if (cellOf(row, "cluster") != "clariden") continue;
        // Two steps that take as long as their exchange of gradients, to the last digit the same: one is a slip.
        if (cellOf(row, "measured_iter_s") == cellOf(row, "measured_grad_sync_s")) continue;
        const bool neo = cellOf(row, "model") == "GPT-NEO";
        const auto tp = wholeOf(row, "tp", 1), pp = wholeOf(row, "pp", 1), dp = wholeOf(row, "dp", 1),
                   mbs = wholeOf(row, "mbs", 1), batch = wholeOf(row, "gbs", 1);
        TrainingRow made;
        made.source = "Sailor GH200";
        made.identity = cellOf(row, "file");
        made.sequence = 2048;
        made.config = neo ? gptConfig(32, 2560, 20, 50257, 2048, 0) : gptConfig(24, 1024, 16, 50272, 2048, 0.1);
        made.preset = clusters.of("gh200", tp * pp * dp);
        made.plan = fmt::format("tp={},pp={},dp={},mb={}", tp, pp, dp, batch / (dp * mbs));
        made.batch = batch;
        made.fusion = "none";
        made.flash = false;
        made.type = DType::TF32;
        made.stack = "sailor";
        made.launch = "eager";
        made.measured = numberIn(cellOf(row, "measured_iter_s")).value_or(0);
        rows.push_back(std::move(made));
    }
    return rows;
}

/// ResNet-50 of NVIDIA's DeepLearningExamples on the eight V100 of a DGX-1. 256 images of a device in mixed precision,
/// 128 in fp32: TensorFlow's table prints it, and it is taken for the others.
inline std::vector<TrainingRow> visionRows(const std::string& data) {
    std::vector<TrainingRow> rows;
    for (const TableRow& row : tableRows(data + "e2e_more/v100_a100_training.csv")) {
        const std::string model = cellOf(row, "model");
        const auto devices = wholeOf(row, "devices", 1);
        const double rate = numberIn(cellOf(row, "samples_per_s_total")).value_or(0);
        const bool resnet = model == "RN50v1.5" || model == "resnet50v1.5";
        if (!resnet || !cellOf(row, "device").starts_with("V100") || devices > 8 || rate <= 0) continue;
        const bool mixed = cellOf(row, "precision").starts_with("mixed");
        const std::string framework = cellOf(row, "framework");
        TrainingRow made;
        made.source = fmt::format("ResNet-50 {} V100", mixed ? "fp16" : "fp32");
        made.identity = fmt::format("{} {} {} {}", framework, cellOf(row, "device"), devices, mixed);
        made.model = "resnet-50";
        made.preset = "dgx-1-v100";
        made.plan = fmt::format("dp={}", devices);
        made.type = mixed ? DType::F16 : DType::F32;
        made.stack = fmt::format("{}{}",
                                 framework.starts_with("MxNet")     ? "mxnet"
                                 : framework.starts_with("PyTorch") ? "pytorch"
                                                                    : "tensorflow",
                                 mixed ? "" : "-fp32");
        made.batch = (mixed ? 256 : 128) * devices;
        made.sequence = 0;
        made.measured = static_cast<double>(made.batch) / rate;
        rows.push_back(std::move(made));
    }
    return rows;
}

}  // namespace orrery::testing
