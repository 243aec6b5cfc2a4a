#include "base/text/json_file.h"
#include "base/text/table.h"
#include "base/text/words.h"
#include "methods/system/cases/published_case.h"
#include "methods/system/cases/published_parts.h"
#include "methods/trace/splitwise_table.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

namespace orrery {

namespace {

// configs/model_repo and configs/hardware_repo of splitwise-sim. It counts the cache of all heads, grouped or not.
struct Model {
    std::string_view name;
    double layers, hidden, weights;  ///< weights in bytes
};
constexpr Model models[] = {{"llama2-70b", 80, 8192, 135e9}, {"bloom-176b", 70, 14336, 329e9}};
constexpr double device_bytes = 85899345920.0, bytes_per_element = 2;
constexpr int devices_per_machine = 8;

// configs/orchestrator_repo/schedulers: router, what it counts, link bandwidth, hidden share.
struct Policy {
    std::string_view name, router, compatibility;
    double gibibytes = 0, hidden = 0;
};
constexpr Policy policies[] = {
    {"token_jsq", "shortest-queue", "splitwise"},
    {"jsq", "shortest-queue", "splitwise-requests"},
    {"round_robin", "round-robin", ""},
    {"random", "random", ""},
    {"kv_token_jsq", "shortest-queue", "splitwise", 200, 0.9},
    {"kv_jsq", "shortest-queue", "splitwise-requests", 200},
    {"overlap_kv_jsq", "shortest-queue", "splitwise-requests", 200, 0.9},
    {"kv_round_robin", "shortest-queue", "splitwise-turns", 200},
    {"kv_round_robin_ethernet", "shortest-queue", "splitwise-turns", 12.5},
    {"mixed_pool", "splitwise-pools", "", 200},
};

struct Run {
    std::string trace, scheduler, state, model;
    int a100 = 0, h100 = 0;
    std::map<std::string, std::string, std::less<>> settings;

    double number(std::string_view key, double fallback) const {
        const auto found = settings.find(key);
        if (found == settings.end()) return fallback;
        const auto value = numberIn(found->second);
        return value && std::abs(*value) <= 1e9 ? *value : fallback;  // not a number: no setting
    }
};

std::optional<int> small(const std::string& text) {
    const auto value = wholeIn(text);
    if (!value || *value < 0 || *value > 4096) return std::nullopt;
    return static_cast<int>(*value);
}

Expected<Run> readRun(const std::string& path) {
    const auto file = JsonFile::open(path);
    if (!file) return tl::unexpected(file.error());
    const auto bad = [&](std::string what) {
        return fail("splitwise.bad-arguments", std::move(what),
                    "args: name, trace, scheduler, start state, DGX-A100, DGX-H100, model, key=value …",
                    "give a folder with the metrics.json of a run", file->place("args"));
    };
    const auto found = file->root().find("args");
    if (!found || !found->isArray()) return bad("there are no arguments");
    std::vector<std::string> words;
    Run run;
    for (const JsonNode& word : found->items) {
        std::string text = word.isText() ? word.text : word.shown(1000);
        const auto equals = text.find('=');
        if (equals == std::string::npos)
            words.push_back(std::move(text));
        else
            run.settings[text.substr(text.front() == '+' ? 1 : 0, equals - (text.front() == '+' ? 1 : 0))] =
                text.substr(equals + 1);
    }
    if (words.size() < 7) return bad(fmt::format("{} arguments", words.size()));
    const auto a100 = small(words[4]);
    const auto h100 = small(words[5]);
    if (!a100 || !h100 || *a100 + *h100 == 0) return bad("the numbers of machines make no sense");
    run.trace = words[1];
    run.scheduler = words[2];
    run.state = words[3];
    run.a100 = *a100;
    run.h100 = *h100;
    run.model = words[6];
    return run;
}

Expected<RequestStream> readRequests(const std::string& folder, const std::string& table, const Run& run) {
    const std::string beside = table.substr(0, table.find_last_of('/') + 1) + run.trace + ".csv";
    std::string path = folder + "/trace.csv";
    if (!fileExists(path)) path = beside;
    std::vector<PublishedRow> rows;
    constexpr double most = 1e9, longest = 1e7;
    const auto read = [](const std::string& file, std::vector<TableColumn> columns) {
        return readTable(file, {.area = "splitwise", .columns = std::move(columns), .what = "a row per request"});
    };
    const TableColumn ids{.name = "request_id", .most = most};
    if (fileExists(path)) {
        const auto in = read(path, {ids,
                                    {.name = "arrival_timestamp", .most = most},
                                    {.name = "prompt_size", .least = 1, .most = longest},
                                    {.name = "token_size", .least = 1, .most = longest}});
        if (!in) return tl::unexpected(in.error());
        const auto& columns = in->numbers;
        for (std::size_t i = 0; i < in->size(); ++i)
            rows.push_back({columns[1][i], static_cast<std::int64_t>(columns[0][i]),
                            static_cast<std::int32_t>(columns[2][i]), static_cast<std::int32_t>(columns[3][i])});
        return streamOf(std::move(rows), run.trace, path);
    }
    // The inputs also stand in what the run left behind: lengths, and ends less response times.
    path = folder + "/detailed/0.csv";
    const auto nodes = read(folder + "/request_nodes.csv",
                            {ids, textColumn("node_type"), {.name = "completion_timestamp", .most = most}});
    if (!nodes) return tl::unexpected(nodes.error());
    const auto in = read(path, {{.name = "request_ids", .most = most},
                                {.name = "ttft_times", .most = most},
                                {.name = "prompt_sizes", .least = 1, .most = longest},
                                {.name = "token_sizes", .least = 1, .most = longest}});
    if (!in) return tl::unexpected(in.error());
    std::map<std::int64_t, double> promptEnd;
    for (std::size_t i = 0; i < nodes->size(); ++i) {
        if (nodes->texts[1][i] == "PROMPT")
            promptEnd[static_cast<std::int64_t>(nodes->numbers[0][i])] = nodes->numbers[2][i];
    }
    for (std::size_t i = 0; i < in->size(); ++i) {
        const double id = in->numbers[0][i], ttft = in->numbers[1][i];
        const auto end = promptEnd.find(static_cast<std::int64_t>(id));
        if (end == promptEnd.end() || end->second < ttft)
            return fail("splitwise.bad-value", fmt::format("request {} has no prompt in request_nodes.csv", id),
                        "a PROMPT row for every request", {}, {path, in->lines[i]});
        rows.push_back({end->second - ttft, end->first, static_cast<std::int32_t>(in->numbers[2][i]),
                        static_cast<std::int32_t>(in->numbers[3][i])});
    }
    return streamOf(std::move(rows), run.trace, path);
}

}  // namespace

Expected<PublishedCase> readSplitwiseCase(const std::string& folder, const std::string& table,
                                          const SplitwiseOverrides& overrides) {
    const std::string path = folder + "/metrics.json";
    const auto run = readRun(path);
    if (!run) return tl::unexpected(run.error());
    const Model* model = nullptr;
    for (const Model& one : models)
        if (one.name == run->model) model = &one;
    if (!model)
        return fail("splitwise.no-model", fmt::format("nothing is known of the model {}", run->model),
                    "llama2-70b or bloom-176b", {}, {path});
    const Policy* policy = nullptr;
    for (const Policy& one : policies)
        if (one.name == run->scheduler) policy = &one;
    if (!policy) {
        std::string known;
        for (const Policy& one : policies) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
        return fail("splitwise.no-scheduler", fmt::format("there is no scheduler {}", run->scheduler), known, {},
                    {path});
    }

    PublishedCase out;
    out.model = run->model;
    const bool split = run->state.rfind("splitwise", 0) == 0;
    if (!split && run->state != "baseline")
        return fail("splitwise.no-state", fmt::format("the start state {} is not one that is simulated", run->state),
                    "baseline, or splitwise (splitwise_2_2)", {}, {path});
    const bool mixedHardware = run->a100 > 0 && run->h100 > 0;
    int prompts = 0;
    int tokens = 0;
    bool byHardware = false;
    if (split) {
        const auto type = run->settings.find("start_state.split_type");
        byHardware = type != run->settings.end() ? type->second == "heterogeneous" : mixedHardware;
        const auto first = run->state.find('_');
        const auto last = run->state.rfind('_');
        if (first != std::string::npos && last > first) {
            prompts = small(run->state.substr(first + 1, last - first - 1)).value_or(0);
            tokens = small(run->state.substr(last + 1)).value_or(0);
        }
        prompts = static_cast<int>(run->number("start_state.prompt.num_instances", prompts));
        tokens = static_cast<int>(run->number("start_state.token.num_instances", tokens));
        if (overrides.prompts > 0) prompts = overrides.prompts;
        if (overrides.tokens > 0) tokens = overrides.tokens;
        const int machines = run->a100 + run->h100;
        if (!byHardware && (prompts < 1 || tokens < 1)) {
            prompts = machines / 2;
            tokens = machines - prompts;
            out.notes.push_back(warning("splitwise.split",
                                        fmt::format("the case does not say how its {} machines are divided; "
                                                    "{} compute prompts",
                                                    machines, prompts),
                                        "name --prompts and --tokens"));
        }
    }

    const auto settingsOf = [&](ReplicaRole role) -> std::string {
        if (!split) return "start_state.instance.";
        return role == ReplicaRole::Prefill ? "start_state.prompt." : "start_state.token.";
    };
    std::map<std::pair<std::string, int>, IterationTimePtr> times;
    const double bytesPerToken = 2 * model->hidden * model->layers * bytes_per_element;
    const auto add = [&](const std::string& hardware, ReplicaRole role) -> Expected<void> {
        const std::string prefix = settingsOf(role);
        const auto parallelism = run->number(prefix + "tensor_parallelism", devices_per_machine);
        if (!(parallelism >= 1 && parallelism <= devices_per_machine))
            return fail("splitwise.bad-arguments", fmt::format("a tensor parallelism of {}", parallelism), "1 to 8", {},
                        {path});
        const int tensorParallel = static_cast<int>(parallelism);
        IterationTimePtr& time = times[{hardware, tensorParallel}];
        if (!time) {
            auto read =
                readSplitwiseTable(table, {run->model, hardware, tensorParallel, SplitwiseTokens::ByBatchTokens});
            if (!read) return tl::unexpected(read.error());
            time = *read;
        }
        // start_state.py: a divided machine is filled with instances; an undivided one is a single one, with all
        // memory.
        const int devices = split ? tensorParallel : devices_per_machine;
        const double memory = device_bytes * devices - model->weights;
        ReplicaSpec replica;
        replica.pool = role == ReplicaRole::Whole ? "" : std::string(toText(role));
        replica.role = role;
        replica.time = time;
        replica.scheduler.id = "splitwise";
        replica.scheduler.compatibility = "splitwise";
        replica.scheduler.maxSequences = static_cast<std::int32_t>(run->number(prefix + "max_batch_size", 512));
        replica.scheduler.tokenBudget = static_cast<std::int32_t>(run->number(prefix + "max_batch_tokens", 2048));
        replica.scheduler.more["max_preemptions"] = run->number(prefix + "max_preemptions", 4);
        replica.tokensPerBlock = 1;
        replica.kvBlocks = memory > bytesPerToken ? static_cast<std::int64_t>(memory / bytesPerToken) : 0;
        replica.kvBytesPerToken = bytesPerToken;
        const int instances = split ? (devices_per_machine + tensorParallel - 1) / tensorParallel : 1;
        for (int i = 0; i < instances; ++i) {
            replica.name = fmt::format("{}_{}", hardware, out.fleet.replicas.size());
            out.fleet.replicas.push_back(replica);
        }
        return {};
    };
    // Whose kind is named where kinds have roles (splitwise.yaml: H100 for prompts, A100 for tokens).
    const auto names = [&](std::string_view key, std::string_view fallback, std::string_view sku) {
        const auto found = run->settings.find(key);
        return (found == run->settings.end() ? fallback : std::string_view(found->second)).find(sku) !=
               std::string_view::npos;
    };
    // Machines stand in the order of the cluster: A100 first.
    for (int i = 0; i < run->a100 + run->h100; ++i) {
        const std::string hardware = i < run->a100 ? "a100-80gb" : "h100-80gb";
        ReplicaRole role = ReplicaRole::Whole;
        if (byHardware) {
            const std::string_view sku = i < run->a100 ? "dgx-a100" : "dgx-h100";
            const bool prompt = names("start_state.prompt.instance_names", "dgx-h100", sku);
            if (!prompt && !names("start_state.token.instance_names", "dgx-a100", sku))
                return fail("splitwise.bad-arguments", fmt::format("a {} neither computes prompts nor decodes", sku),
                            "its name among start_state.prompt.instance_names or start_state.token.instance_names", {},
                            {path});
            role = prompt ? ReplicaRole::Prefill : ReplicaRole::Decode;
        } else if (split && i < prompts)
            role = ReplicaRole::Prefill;
        else if (split && i < prompts + tokens)
            role = ReplicaRole::Decode;
        else if (split)
            break;
        if (auto good = add(hardware, role); !good) return tl::unexpected(good.error());
    }
    out.fleet.router = {.id = std::string(policy->router)};
    out.fleet.router.compatibility = policy->compatibility;
    if (split) {
        if (policy->gibibytes <= 0)
            return fail("splitwise.bad-arguments", fmt::format("{} ships no caches between machines", run->scheduler),
                        "a kv_… scheduler or mixed_pool for a start state that divides machines", {}, {path});
        out.fleet.transfer.bytesPerSecond = policy->gibibytes * 1024 * 1024 * 1024;
        out.fleet.transfer.hidden = policy->hidden;
        out.fleet.transfer.sharing = LinkSharing::None;
        out.fleet.transfer.retry = 1;
    }
    auto requests = readRequests(folder, table, *run);
    if (!requests) return tl::unexpected(requests.error());
    out.requests = std::move(*requests);
    return out;
}

}  // namespace orrery
