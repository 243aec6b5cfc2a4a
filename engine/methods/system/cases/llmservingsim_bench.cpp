#include "methods/system/cases/llmservingsim_bench.h"

#include "methods/system/planned_fleet.h"
#include "methods/trace/engine_overheads.h"
#include "serving/serving_scenario.h"
#include "workload/costs.h"
#include "workload/huggingface/families.h"
#include "workload/importers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

namespace orrery {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 256u << 20;
constexpr double gib = 1024.0 * 1024 * 1024;

// The member of that name wherever it stands: of this object, else of the first member by name that has it inside.
const JsonNode* findKey(const JsonNode& node, std::string_view key, int depth = 0) {
    if (depth > 16) return nullptr;
    if (const JsonNode* own = node.given(key)) return own;
    std::vector<const JsonNode*> members;
    for (const JsonNode& item : node.items) members.push_back(&item);
    if (node.isObject())
        std::stable_sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    for (const JsonNode* member : members)
        if (const JsonNode* found = findKey(*member, key, depth + 1)) return found;
    return nullptr;
}
std::optional<double> numberIn(const JsonNode& node, std::string_view key) {
    const JsonNode* found = findKey(node, key);
    return found && found->isNumber() ? std::optional(found->number) : std::nullopt;
}
bool flagIn(const JsonNode& node, std::string_view key, bool fallback) {
    const JsonNode* found = findKey(node, key);
    return found && found->isTruth() ? found->truth : fallback;
}
void textIn(const JsonNode& node, std::string_view key, std::string& to) {
    if (const JsonNode* found = findKey(node, key); found && found->isText()) to = found->text;
}

fs::path firstOf(std::initializer_list<fs::path> places) {
    std::error_code ignored;
    for (const fs::path& place : places)
        if (fs::is_regular_file(place, ignored)) return place;
    return *places.begin();
}

// A model's config.json beside the run or the tables: model_configs/<model>.json, or configs/model/<model>.json.
std::string findModel(fs::path from, const std::string& model) {
    std::error_code ignored;
    from = fs::absolute(from, ignored);
    for (int up = 0; up < 8 && !from.empty(); ++up, from = from.parent_path())
        for (const char* folder : {"model_configs", "configs/model"})
            if (const fs::path file = from / folder / (model + ".json"); fs::is_regular_file(file, ignored))
                return file.string();
    return {};
}

// A profile's own folder, or one of a collection of profiles: <device>/<model>/<type>.
std::string profileFolder(const std::string& tables, const LlmServingSimBench& bench) {
    std::error_code ignored;
    for (const fs::path& below : {fs::path(bench.device) / bench.modelName, fs::path(bench.modelName)})
        for (const char* type : {"bf16", "fp16", "fp8"})
            if (const fs::path folder = fs::path(tables) / below / type; fs::is_directory(folder, ignored))
                return folder.string();
    return tables;
}

Expected<void> readRequests(const fs::path& path, LlmServingSimBench& bench) {
    const std::string name = path.string();
    std::error_code problem;
    const auto bytes = fs::file_size(path, problem);
    std::ifstream file(path);
    if (problem || !file)
        return fail("bench.missing", "the run's requests are not there", "vllm/requests.jsonl",
                    "give the folder bench/<device>/<model> of a run", Place{.file = name});
    if (bytes > largest_file)
        return fail("bench.unreadable", "the file is larger than 256 MiB", "the requests of one run", "",
                    Place{.file = name});
    std::string text;
    std::vector<double> arrivals;
    for (int line = 1; std::getline(file, text); ++line) {
        if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
        const Place place{.file = name, .line = line};
        const auto row = parseJson(text, name);
        if (!row || !row->isObject())
            return fail("bench.unreadable", "this line is not a JSON object", "one object per request", "", place);
        RecordedRequest request;
        double values[7]{};
        const char* keys[] = {"input_toks",   "output_toks",    "arrival_time", "queued_ts",
                              "scheduled_ts", "first_token_ts", "last_token_ts"};
        for (std::size_t i = 0; i < 7; ++i) {
            const auto value = row->numberOf(keys[i]);
            if (!value || *value < 0)
                return fail("bench.number", fmt::format("{} is missing or not a number", keys[i]), "a number from 0 on",
                            "leave out requests that failed", place);
            values[i] = *value;
        }
        if (values[0] < 1 || values[1] < 1 || values[0] > 1e8 || values[1] > 1e8)
            return fail("bench.number", "a request has no prompt, no output, or too much of them",
                        "1 to 100000000 tokens", "leave out requests that failed", place);
        if (values[5] < values[3] || values[6] < values[5])
            return fail("bench.number", "the last token comes before the first, or the first before the request",
                        "queued_ts ≤ first_token_ts ≤ last_token_ts", "", place);
        if (const JsonNode* id = row->find("request_id"); id && id->isText()) request.id = id->text;
        request.prompt = static_cast<std::int32_t>(values[0]);
        request.output = static_cast<std::int32_t>(values[1]);
        request.wait = values[4] - values[3];
        request.ttft = values[5] - values[3];
        request.endToEnd = values[6] - values[3];
        request.tpot = request.output > 1 ? (values[6] - values[5]) / (request.output - 1) : 0;
        request.arrival = values[2];
        bench.recorded.push_back(std::move(request));
    }
    if (bench.recorded.empty())
        return fail("bench.empty", "the run has no requests", "one JSON object per line", "", Place{.file = name});
    std::stable_sort(bench.recorded.begin(), bench.recorded.end(),
                     [](const RecordedRequest& a, const RecordedRequest& b) { return a.arrival < b.arrival; });
    const double first = bench.recorded.front().arrival;
    if (bench.recorded.back().arrival - first > 8.64e6)
        return fail("bench.number", "arrivals are more than 100 days apart", "seconds", "", Place{.file = name});
    auto stream = std::make_shared<RequestStream>();
    stream->name = bench.modelName;
    stream->source = name;
    for (RecordedRequest& request : bench.recorded) {
        request.arrival -= first;
        stream->arrival.push_back(toTicks(request.arrival));
        stream->prompt.push_back(request.prompt);
        stream->output.push_back(request.output);
    }
    bench.requests = std::move(stream);
    return {};
}

void readConfig(const JsonNode& config, LlmServingSimBench& bench) {
    textIn(config, "model_name", bench.modelName);
    textIn(config, "hardware", bench.device);
    bench.memoryBytes = numberIn(config, "mem_size").value_or(0) * gib;
    if (const JsonNode* npu = findKey(config, "npu_mem")) {
        bench.memoryBytes = numberIn(*npu, "mem_size").value_or(0) * gib;
        bench.memoryShare = numberIn(*npu, "mem_util").value_or(0.9);
    }
    bench.link.bytesPerSecond = numberIn(config, "link_bw").value_or(0) * 1e9;
    bench.link.latency = numberIn(config, "link_latency").value_or(0) * 1e-9;
    bench.tensorParallel = static_cast<std::int32_t>(std::clamp(numberIn(config, "tp_size").value_or(1), 1.0, 1024.0));
}

void readMeta(const JsonNode& meta, LlmServingSimBench& bench) {
    const auto whole = [&](const char* key, std::int32_t fallback) {
        return static_cast<std::int32_t>(std::clamp(numberIn(meta, key).value_or(fallback), 0.0, 1e9));
    };
    textIn(meta, "vllm_version", bench.version);
    if (bench.modelName.empty()) textIn(meta, "model", bench.modelName);
    SchedulerSpec& scheduler = bench.scheduler;
    scheduler.maxSequences = std::max(1, whole("max_num_seqs", 256));
    scheduler.tokenBudget = std::max(1, whole("max_num_batched_tokens", 2048));
    scheduler.maxModelLength = whole("max_model_len", 0);
    scheduler.longPrompt = whole("long_prefill_token_threshold", 0);
    scheduler.watermark = std::clamp(numberIn(meta, "watermark").value_or(0), 0.0, 0.99);
    scheduler.chunkedPrefill = flagIn(meta, "enable_chunked_prefill", true);
    scheduler.reserveWholePrompt = flagIn(meta, "scheduler_reserve_full_isl", true);
    scheduler.prefixCache = flagIn(meta, "enable_prefix_caching", true);
    if (const JsonNode* policy = findKey(meta, "policy"); policy && policy->isText())
        scheduler.byPriority = policy->text == "priority";
    scheduler.more["async"] = flagIn(meta, "async_scheduling", true) ? 1 : 0;
    bench.kvBlocks = static_cast<std::int64_t>(std::clamp(numberIn(meta, "num_gpu_blocks").value_or(0), 0.0, 1e9));
    bench.tokensPerBlock = std::max(1, whole("block_size", 16));
    bench.tensorParallel = std::max(1, whole("tensor_parallel_size", bench.tensorParallel));
    bench.dataParallel = std::max(1, whole("data_parallel_size", 1));
    bench.expertParallel = flagIn(meta, "enable_expert_parallel", false);
    if (bench.memoryShare <= 0 || bench.memoryShare > 1) bench.memoryShare = 0.9;
    if (flagIn(meta, "enforce_eager", false)) return;
    if (const JsonNode* sizes = findKey(meta, "cudagraph_capture_sizes"); sizes && sizes->isArray()) {
        for (const JsonNode& size : sizes->items)
            if (size.isWhole() && std::abs(size.number) <= 1e9 && bench.graphSizes.size() < 4096)
                bench.graphSizes.push_back(static_cast<std::int32_t>(size.number));
        std::sort(bench.graphSizes.begin(), bench.graphSizes.end());
    } else {
        bench.graphSizes = vllmGraphSizes(std::min(2 * scheduler.maxSequences, 512));
    }
}

Expected<JsonNode> readJson(const fs::path& path) {
    auto file = JsonFile::open(path.string());
    if (!file)
        return fail("bench.unreadable", file.error().message, file.error().expected, file.error().hint,
                    file.error().place);
    return file->root();
}

}  // namespace

Expected<LlmServingSimBench> readLlmServingSimBench(const std::string& folder) {
    LlmServingSimBench bench;
    bench.scheduler.id = "vllm-v1";
    const fs::path root(folder);
    std::error_code ignored;
    if (const fs::path path = root / "config.json"; fs::is_regular_file(path, ignored)) {
        const auto config = readJson(path);
        if (!config) return Unexpected(config.error());
        readConfig(*config, bench);
    }
    const fs::path meta = firstOf({root / "vllm" / "meta.json", root / "meta.json"});
    if (fs::is_regular_file(meta, ignored)) {
        const auto object = readJson(meta);
        if (!object) return Unexpected(object.error());
        readMeta(*object, bench);
    } else {
        readMeta(JsonNode{}, bench);
        bench.notes.push_back(warning("bench.no-meta", "the engine's arguments were not recorded",
                                      "vLLM's defaults are assumed: 256 sequences, 2048 tokens",
                                      Place{.file = meta.string()}));
    }
    if (auto ok = readRequests(firstOf({root / "vllm" / "requests.jsonl", root / "requests.jsonl"}), bench); !ok)
        return Unexpected(ok.error());
    bench.modelFile = findModel(root, bench.modelName);
    return bench;
}

Expected<FleetSpec> fleetOf(const LlmServingSimBench& bench, const std::string& tables, const std::string& modelFile) {
    std::string path = modelFile.empty() ? bench.modelFile : modelFile;
    if (path.empty()) path = findModel(tables, bench.modelName);
    if (path.empty())
        return fail("bench.missing", fmt::format("the configuration of {} was not found", bench.modelName),
                    "model_configs/<model>.json beside the run or its tables", "name the model's config.json yourself");
    const auto file = JsonFile::open(path);
    if (!file) return Unexpected(file.error());
    JsonReader json(*file, file->root(), {}, "huggingface", std::string(huggingFaceHint));
    const std::string type = json.text("model_type", "");
    TransformerConfig config;
    const auto family = std::find_if(modelFamilies().begin(), modelFamilies().end(),
                                     [&](const ModelFamily& known) { return known.type == type; });
    if (family == modelFamilies().end())
        return fail("bench.missing", fmt::format("models of type “{}” are not known", type.substr(0, 80)),
                    "a decoder of a known family", "", Place{.file = path});
    family->read(json, config);
    if (json.problem()) return Unexpected(*json.problem());

    LlmServingSimModel model{.layers = static_cast<std::int32_t>(config.layers),
                             .hidden = static_cast<std::int32_t>(config.hidden),
                             .experts = static_cast<std::int32_t>(config.experts),
                             .expertsPerToken = static_cast<std::int32_t>(config.expertsPerToken)};
    LlmServingSimOptions options{.tensorParallel = bench.tensorParallel,
                                 .expertParallel = bench.expertParallel ? bench.tensorParallel * bench.dataParallel : 1,
                                 .dataParallel = bench.expertParallel ? bench.dataParallel : 1,
                                 .link = bench.link};
    auto time = readLlmServingSimTables(profileFolder(tables, bench), model, options);
    if (!time) return Unexpected(time.error());

    FleetSpec fleet;
    ReplicaSpec replica;
    replica.name = bench.device;
    replica.scheduler = bench.scheduler;
    // Texts are not in the recording, so that nothing can be found in a prefix cache.
    replica.scheduler.prefixCache = false;
    replica.time = withGraphPadding(*time, bench.graphSizes);
    replica.tokensPerBlock = bench.tokensPerBlock;
    const double elements = 2.0 * static_cast<double>(config.layers * config.kvHeads * config.headDim);
    replica.kvBytesPerToken = elements * model.bytesPerElement;
    replica.kvBlocks = bench.kvBlocks;
    if (replica.kvBlocks == 0) {
        auto graph = importHuggingFace(path, {});
        if (!graph) return Unexpected(graph.error());
        const double parameters = costTotals(graph->graph, costTable(graph->graph)).parameters;
        const double room =
            bench.memoryBytes * bench.memoryShare - parameters * model.bytesPerElement / bench.tensorParallel;
        replica.kvBlocks = static_cast<std::int64_t>(std::max(
            0.0, room / (replica.kvBytesPerToken / bench.tensorParallel * static_cast<double>(bench.tokensPerBlock))));
        if (replica.kvBlocks == 0)
            return fail("bench.missing", "the model leaves no memory for keys and values, or the memory is not known",
                        "npu_mem.mem_size in config.json, or num_gpu_blocks in meta.json", "");
    }
    if (bench.dataParallel > 1) {
        if (bench.expertParallel) replica.wave = 0;
        fleet.router.id = "least-outstanding";
    }
    for (int i = 0; i < bench.dataParallel; ++i) fleet.replicas.push_back(replica);
    return fleet;
}

Expected<FleetSpec> fleetOf(const LlmServingSimBench& bench, const std::string& hardware, const std::string& method,
                            const std::string& modelFile) {
    ServingScenario scenario;
    scenario.model.source = modelFile.empty() ? bench.modelFile : modelFile;
    if (scenario.model.source.empty())
        return fail("bench.missing", fmt::format("the configuration of {} was not found", bench.modelName),
                    "model_configs/<model>.json beside the run", "name the model's config.json yourself");
    PoolSpec& pool = scenario.pools.front();
    pool.hardware = hardware;
    pool.time.method = method;
    pool.time.software = bench.graphSizes.empty() ? "eager" : "graphs";
    pool.plan.tensor = bench.tensorParallel;
    pool.replicas = bench.dataParallel;
    pool.scheduler = bench.scheduler;
    pool.scheduler.prefixCache = false;
    pool.kvBlocks = bench.kvBlocks;
    pool.tokensPerBlock = bench.tokensPerBlock;
    pool.memoryShare = bench.memoryShare;
    auto planned = fleetOf(scenario, nullptr, {});
    if (!planned) return Unexpected(planned.error());
    FleetSpec fleet = *planned->fleet;
    for (ReplicaSpec& replica : fleet.replicas) replica.time = withGraphPadding(replica.time, bench.graphSizes);
    return fleet;
}

BenchComparison compare(const LlmServingSimBench& bench, const RequestTable& simulated) {
    BenchComparison result;
    std::size_t steps = 0;
    for (std::size_t i = 0; i < bench.recorded.size(); ++i) {
        const RecordedRequest& recorded = bench.recorded[i];
        if (simulated.state[i] != RequestState::Done) continue;
        ++result.requests;
        const double ttft = toSeconds(simulated.firstToken[i] - simulated.arrived[i]);
        const double whole = toSeconds(simulated.ended[i] - simulated.arrived[i]);
        result.ttftRecorded += recorded.ttft;
        result.ttftSimulated += ttft;
        result.endToEndRecorded += recorded.endToEnd;
        result.endToEndSimulated += whole;
        result.endToEndMape += std::abs(whole - recorded.endToEnd) / recorded.endToEnd;
        if (recorded.output > 1) {
            ++steps;
            result.tpotRecorded += recorded.tpot;
            result.tpotSimulated += (whole - ttft) / (recorded.output - 1);
        }
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, result.requests));
    const auto stepCount = static_cast<double>(std::max<std::size_t>(1, steps));
    for (double* mean : {&result.ttftRecorded, &result.ttftSimulated, &result.endToEndRecorded,
                         &result.endToEndSimulated, &result.endToEndMape})
        *mean /= count;
    for (double* mean : {&result.tpotRecorded, &result.tpotSimulated}) *mean /= stepCount;
    const auto share = [](double model, double truth) { return truth > 0 ? model / truth - 1 : 0; };
    result.ttft = share(result.ttftSimulated, result.ttftRecorded);
    result.tpot = share(result.tpotSimulated, result.tpotRecorded);
    result.endToEnd = share(result.endToEndSimulated, result.endToEndRecorded);
    return result;
}

}  // namespace orrery
