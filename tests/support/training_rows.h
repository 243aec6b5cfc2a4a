#pragma once

// Published training steps as questions: a model, machines, a plan and how long a step took. Read from the tables of
// ORRERY_REFERENCE/training/data; nothing here answers them.

#include "methods/task.h"
#include "support/table_rows.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace orrery::testing {

struct TrainingRow {
    std::string source;    ///< table and stack: rows of a source are judged together
    std::string identity;  ///< of the row, for its half
    std::string config;    ///< a Hugging Face config.json
    std::string preset;    ///< of the hardware
    std::string plan;
    Recompute recompute = Recompute::None;
    std::string fusion = "compile";
    bool flash = true;
    std::int64_t batch = 1, sequence = 2048;  ///< sequences of a step, all devices together
    double measured = 0;                      ///< s
};

inline std::string gptConfig(int layers, int hidden, int heads, int vocabulary, std::int64_t sequence, int ffn = 0) {
    return fmt::format(
        R"({{"model_type": "gpt2", "n_layer": {}, "n_embd": {}, "n_head": {}, "n_inner": {}, "vocab_size": {}, "n_positions": {}, "activation_function": "gelu", "torch_dtype": "bfloat16"}})",
        layers, hidden, heads, ffn > 0 ? ffn : 4 * hidden, vocabulary, sequence);
}

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
        made.config = gptConfig(layers, hidden, heads, 50368, made.sequence);
        made.preset = gpu.starts_with("h100") ? "dgx-h100-superpod" : "dgx-a100-superpod";
        made.plan = fmt::format("dp={},zero=3,mb={}", devices, micro);
        made.recompute = cell("Activation Checkpointing") == "True" ? Recompute::Full : Recompute::None;
        made.fusion = "none";
        made.batch = batch;
        made.measured = static_cast<double>(batch) * static_cast<double>(made.sequence) / devices /
                        std::stod(cell("Throughput (T/s/GPU)"));
    }
    return rows;
}

}  // namespace orrery::testing
