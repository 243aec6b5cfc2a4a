#include "methods/system/cases/vidur_case.h"

#include "base/text/read_file.h"
#include "base/text/table.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

constexpr std::array models{
    VidurModel{"codellama/CodeLlama-34b-Instruct-hf", 48, 64, 8, 8192, 22016},
    VidurModel{"meta-llama/Llama-2-7b-hf", 32, 32, 32, 4096, 11008},
    VidurModel{"meta-llama/Llama-2-70b-hf", 80, 64, 8, 8192, 28672},
    VidurModel{"meta-llama/Meta-Llama-3-8B", 32, 32, 8, 4096, 14336},
    VidurModel{"meta-llama/Meta-Llama-3-70B", 80, 64, 8, 8192, 28672},
    VidurModel{"internlm/internlm-20b", 60, 40, 40, 5120, 13824},
    VidurModel{"internlm/internlm2-20b", 48, 48, 8, 6144, 16384},
    VidurModel{"microsoft/phi-2", 32, 32, 32, 2560, 10240, false, false},
    VidurModel{"Qwen/Qwen-72B", 80, 64, 64, 8192, 24576},
};

struct Policy {
    std::string_view vidur, scheduler;
    bool boundedByMemory;  ///< sequences of a batch, too
};
constexpr std::array policies{
    Policy{"vllm", "vllm-v0", false},       Policy{"sarathi", "sarathi", false},
    Policy{"orca", "orca", true},           Policy{"faster_transformer", "static", true},
    Policy{"lightllm", "light-llm", false},
};

/// The command line as keys and values. Words that follow a switch without a value are none.
class Words {
public:
    std::string path;
    std::map<std::string, std::string, std::less<>> values;

    std::string text(const std::string& key, std::string fallback) {
        const auto found = values.find(key);
        return found == values.end() ? fallback : found->second;
    }
    bool flag(const std::string& key, bool fallback) {
        if (values.contains("no-" + key)) return false;
        const auto found = values.find(key);
        if (found == values.end()) return fallback;
        return found->second != "false" && found->second != "False";
    }
    // Numbers that are wrong are remembered, so that a case is read in one go and fails with the first.
    double number(const std::string& key, double fallback, double least, double most, bool whole = false) {
        const auto found = values.find(key);
        if (found == values.end() || found->second == "None") return fallback;
        const auto& word = found->second;
        const auto value = numberIn(word);
        if (value && *value >= least && *value <= most && (!whole || *value == std::floor(*value))) return *value;
        if (!wrong) {
            wrong = fail("vidur.bad-number", fmt::format("--{} {}", key, word.substr(0, 40)),
                         fmt::format("a {}number from {} to {}", whole ? "whole " : "", least, most), {},
                         Place{path, 0, 0, key});
        }
        return fallback;
    }
    std::int64_t whole(const std::string& key, std::int64_t fallback, std::int64_t least, std::int64_t most) {
        return static_cast<std::int64_t>(
            number(key, static_cast<double>(fallback), static_cast<double>(least), static_cast<double>(most), true));
    }
    std::optional<Unexpected> wrong;
};

Expected<Words> readWords(const std::string& folder) {
    Words words;
    words.path = folder + "/args.txt";
    const auto text = readFile(
        words.path, {.most = 1u << 20, .code = "vidur.unreadable", .expected = "args.txt, Vidur's command line"});
    if (!text) return tl::unexpected(text.error());
    std::string key;
    for (std::string_view rest = trimmed(*text); !rest.empty(); rest = trimmed(rest)) {
        const std::string word(rest.substr(0, rest.find_first_of(" \t\r\n\v\f")));
        rest.remove_prefix(word.size());
        if (!word.starts_with("--")) {
            if (!key.empty()) words.values[key] = word;
            continue;
        }
        const auto equals = word.find('=');
        key = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        words.values[key] = equals == std::string::npos ? "true" : word.substr(equals + 1);
    }
    return words;
}

template <class Entries, class Name>
std::string names(const Entries& entries, Name name) {
    std::string text;
    for (const auto& each : entries) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(each));
    return text;
}

Expected<RequestStream> readRequests(const std::string& folder) {
    auto table = readTable(folder + "/trace.csv", {.area = "trace",
                                                   .what = "trace.csv, Vidur's requests",
                                                   .hint = "name the folder of a run",
                                                   .mayBeEmpty = true});
    if (!table) return tl::unexpected(std::move(table.error()));
    const std::array<std::string, 3> keys{"arrived_at", "num_prefill_tokens", "num_decode_tokens"};
    std::array<const std::vector<double>*, 3> columns{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto column = table->column(keys[i]);
        if (!column) return tl::unexpected(std::move(column.error()));
        columns[i] = *column;
    }
    const std::size_t count = columns[0]->size();
    for (std::size_t i = 0; i < count; ++i) {
        const double arrived = (*columns[0])[i], prompt = (*columns[1])[i], output = (*columns[2])[i];
        const bool whole = prompt == std::floor(prompt) && output == std::floor(output);
        if (!(arrived >= 0 && arrived <= 9e6) || !(prompt >= 1 && prompt <= 1e8) || !(output >= 1 && output <= 1e8) ||
            !whole) {
            return fail("vidur.bad-request",
                        fmt::format("a request at {} s of {} + {} tokens", arrived, prompt, output),
                        "a time from 0 to 9,000,000 s and whole numbers of tokens from 1 on", {},
                        Place{table->path, table->lines[i], 0, {}});
        }
    }
    // As Vidur does: by arrival, equals as they stand.
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return (*columns[0])[a] < (*columns[0])[b]; });
    RequestStream out;
    out.name = "Vidur trace";
    out.source = table->path;
    for (const std::size_t i : order) {
        out.arrival.push_back(toTicks((*columns[0])[i]));
        out.prompt.push_back(static_cast<std::int32_t>((*columns[1])[i]));
        out.output.push_back(static_cast<std::int32_t>((*columns[2])[i]));
        out.id.push_back(static_cast<std::int64_t>(i));
    }
    return out;
}

// Words of Python's generator that making the requests has drawn before the first one is routed.
double wordsDrawn(Words& words, std::size_t requests, bool synthetic) {
    if (!synthetic) return 0;
    double perRequest = 0;
    if (words.text("interval_generator_config_type", "poisson") == "poisson") perRequest += 2;
    if (words.text("length_generator_config_type", "fixed") == "uniform") perRequest += 2;
    return perRequest * static_cast<double>(requests);
}

}  // namespace

const VidurModel* findVidurModel(std::string_view name) {
    const auto found = std::find_if(models.begin(), models.end(), [&](const auto& each) { return each.name == name; });
    return found == models.end() ? nullptr : &*found;
}

std::int64_t vidurRequestSlots(const VidurModel& model, double gibibytes, double margin, std::int64_t devices,
                               std::int64_t stages, std::int64_t maxTokens) {
    const std::int64_t headSize = model.embedding / model.queryHeads;
    const std::int64_t queries = model.queryHeads / devices;
    const std::int64_t keys = (model.keyValueHeads + devices - 1) / devices;
    const std::int64_t layer = model.embedding * headSize * (2 * queries + 2 * keys) +
                               (model.gated ? 3 : 2) * model.embedding * model.hidden / devices;
    const double weights = 2.0 * static_cast<double>(layer * (model.layers / stages));
    const auto request = static_cast<double>(4 * headSize * keys * maxTokens * model.layers);
    return static_cast<std::int64_t>(std::floor((gibibytes * 1073741824.0 * (1 - margin) - weights) / request));
}

Expected<VidurCase> readVidurCase(const std::string& folder) {
    auto read = readWords(folder);
    if (!read) return tl::unexpected(std::move(read.error()));
    Words& words = *read;
    const Place place{words.path, 0, 0, {}};
    auto requests = readRequests(folder);
    if (!requests) return tl::unexpected(std::move(requests.error()));

    VidurCase out;
    out.model = words.text("replica_config_model_name", "meta-llama/Llama-2-7b-hf");
    const auto* model = findVidurModel(out.model);
    if (!model) {
        return fail("vidur.unknown-model", fmt::format("there is no model `{}`", out.model),
                    names(models, [](const auto& each) { return each.name; }), {}, place);
    }
    out.device = words.text("replica_config_device", "a100");
    const double gibibytes = out.device == "a40" ? 45 : out.device == "a100" || out.device == "h100" ? 80 : 0;
    if (gibibytes == 0) {
        return fail("vidur.unknown-device", fmt::format("there is no device `{}`", out.device), "a40, a100 or h100", {},
                    place);
    }
    const std::string type = words.text("replica_scheduler_config_type", "sarathi");
    const auto policy = std::find_if(policies.begin(), policies.end(), [&](const auto& p) { return p.vidur == type; });
    if (policy == policies.end()) {
        return fail("vidur.unknown-scheduler", fmt::format("there is no scheduler `{}`", type),
                    names(policies, [](const auto& each) { return each.vidur; }), {}, place);
    }
    const std::string global = words.text("global_scheduler_config_type", "round_robin");
    const std::string router = global == "round_robin" ? "round-robin"
                               : global == "random"    ? "random"
                               : global == "lor"       ? "least-outstanding"
                                                       : "";
    if (router.empty()) {
        return fail("vidur.unknown-router", fmt::format("there is no global scheduler `{}`", global),
                    "round_robin, random or lor", {}, place);
    }
    const bool synthetic = words.text("request_generator_config_type", "synthetic") == "synthetic";
    const std::string lengths = words.text("length_generator_config_type", "fixed");
    const std::string maxKey = synthetic ? lengths + "_request_length_generator_config_max_tokens"
                                         : "trace_request_generator_config_max_tokens";

    const std::string s = type + "_scheduler_config_", r = "replica_config_";
    const std::string p =
        words.text("execution_time_predictor_config_type", "random_forrest") + "_execution_time_predictor_config_";
    const std::int64_t devices = words.whole(r + "tensor_parallel_size", 1, 1, 1024);
    const std::int64_t stages = words.whole(r + "num_pipeline_stages", 1, 1, 1024);
    const double margin = words.number(r + "memory_margin_fraction", 0.1, 0, 1);
    const std::int64_t maxTokens = words.whole(maxKey, 4096, 1, 1 << 30);
    const std::int64_t block = words.whole(s + "block_size", 16, 1, 1 << 20);
    const std::int64_t cap = words.whole(s + "batch_size_cap", 128, 1, 1 << 20);
    const std::int64_t given = words.whole(s + "num_blocks", 0, 0, std::int64_t{1} << 40);
    const std::int64_t count = words.whole("cluster_config_num_replicas", 1, 1, 1 << 16);

    ReplicaSpec replica;
    auto& scheduler = replica.scheduler;
    scheduler.id = policy->scheduler;
    scheduler.compatibility = "vidur";
    scheduler.tokenBudget = static_cast<std::int32_t>(words.whole(s + "max_tokens_in_batch", 4096, 1, 1 << 30));
    scheduler.chunk = static_cast<std::int32_t>(words.whole(s + "chunk_size", 512, 1, 1 << 30));
    scheduler.watermark = words.number(s + "watermark_blocks_fraction", 0.01, 0, 0.999);
    if (type == "lightllm") {
        scheduler.more["max-waiting-iterations"] =
            static_cast<double>(words.whole(s + "max_waiting_iters", 10, 0, 1 << 30));
    }
    auto& tables = out.tables;
    tables.decodeOverhead = words.number(p + "attention_decode_batching_overhead_fraction", 0.1, 0, 100);
    tables.prefillOverhead = words.number(p + "attention_prefill_batching_overhead_fraction", 0.1, 0, 100);
    tables.launchMilliseconds = words.number(p + "nccl_cpu_launch_overhead_ms", 0.02, 0, 1000);
    tables.skewMilliseconds = words.number(p + "nccl_cpu_skew_overhead_per_device_ms", 0, 0, 1000);
    tables.host = !words.flag(p + "skip_cpu_overhead_modeling", true);
    tables.layers = static_cast<int>(model->layers);
    tables.stages = static_cast<int>(stages);
    tables.devices = static_cast<int>(devices);
    tables.groupedHeads = model->queryHeads > model->keyValueHeads;
    tables.postAttentionNorm = model->postAttentionNorm;
    tables.saturate = true;
    out.seed = static_cast<std::uint64_t>(words.whole("synthetic_request_generator_config_seed", 42, 0, 1LL << 31));
    if (words.wrong) return *words.wrong;

    if (model->queryHeads % devices != 0 || model->layers % stages != 0) {
        return fail("vidur.bad-parallelism",
                    fmt::format("{} devices and {} stages for {} heads and {} layers", devices, stages,
                                model->queryHeads, model->layers),
                    "numbers that divide the heads and the layers", {}, place);
    }
    const std::int64_t fits = vidurRequestSlots(*model, gibibytes, margin, devices, stages, maxTokens);
    if (fits < 1 && (given == 0 || policy->boundedByMemory)) {
        return fail("vidur.does-not-fit",
                    fmt::format("not one request of {} tokens fits beside the weights of {} on {} × {}", maxTokens,
                                out.model, devices * stages, out.device),
                    "more devices or shorter requests", {}, place);
    }
    replica.kvBlocks = given > 0 ? given : maxTokens / block * fits * stages;
    replica.tokensPerBlock = static_cast<std::int32_t>(block);
    replica.kvBytesPerToken = 4.0 * static_cast<double>(model->embedding / model->queryHeads * model->keyValueHeads) *
                              static_cast<double>(model->layers);
    scheduler.maxSequences = static_cast<std::int32_t>(policy->boundedByMemory ? std::min(cap, fits) : cap);
    if (policy->boundedByMemory) scheduler.maxModelLength = static_cast<std::int32_t>(maxTokens);
    replica.pool = "vidur";
    for (std::int64_t i = 0; i < count; ++i) {
        replica.name = fmt::format("{} × {} {}", devices * stages, out.device, i);
        out.fleet.replicas.push_back(replica);
    }
    out.fleet.router.id = router;
    out.fleet.router.compatibility = "vidur";
    out.requests = std::move(*requests);
    if (router == "random") out.fleet.router.weight = wordsDrawn(words, out.requests.size(), synthetic);
    return out;
}

}  // namespace orrery
