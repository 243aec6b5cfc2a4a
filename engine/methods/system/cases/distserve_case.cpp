#include "base/text/json_file.h"
#include "base/text/table.h"
#include "methods/system/cases/published_case.h"
#include "methods/system/cases/published_parts.h"
#include "methods/trace/distserve_law.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::int32_t no_limit = 10'000'000;       // simulate_dist.py: batch sizes of 10^7
constexpr double back_pressure = 0.9 * 10'000'000;  // worker.py: of the decode batch size, against tokens of context
constexpr double decode_tokens = 50'000;            // worker.py, _enter_decodes: whatever the memory holds

}  // namespace

Expected<PublishedCase> readDistServeCase(const std::string& folder, const std::string& profiles) {
    const std::string path = folder + "/metrics.json";
    const auto file = JsonFile::open(path);
    if (!file) return tl::unexpected(file.error());
    const auto args = file->root().find("args");
    if (!args || !args->isObject())
        return fail("distserve.bad-arguments", "there are no arguments", "args with backend, model, tp_prefill, …",
                    "give a folder with the metrics.json of a run", {path});
    JsonReader reader(*file, *args, "args.", "distserve", "give the folder of a run");
    const std::string backend = reader.text("backend", "distserve");
    std::string model = reader.text("model", "facebook/opt-13b");
    const auto degree = [&](const char* key) { return static_cast<int>(reader.whole(key, 0, 64, 1)); };
    const int tpPrefill = degree("tp_prefill");
    const int ppPrefill = degree("pp_prefill");
    const int tpDecode = degree("tp_decode");
    const int ppDecode = degree("pp_decode");
    if (reader.problem()) return tl::unexpected(*reader.problem());
    if (backend != "distserve" && backend != "vllm")
        return fail("distserve.bad-arguments", fmt::format("there is no backend {}", backend), "distserve or vllm", {},
                    file->place("args.backend"));
    if (model.find('/') == std::string::npos) {  // opt_13b
        std::replace(model.begin(), model.end(), '_', '-');
        model = "facebook/" + model;
    }

    PublishedCase out;
    out.model = model;
    const std::string profile = fmt::format("{}/profiler-a100-80g.{}.json", profiles, backend);
    const auto add = [&](ReplicaRole role, int tp, int pp) -> Expected<void> {
        const auto law = readDistServeLaw(profile, model, tp, pp);
        if (!law) return tl::unexpected(law.error());
        const auto tokens = readDistServeTokens(profiles + "/max_num_tokens.csv", model, tp, pp);
        if (!tokens) return tl::unexpected(tokens.error());
        ReplicaSpec replica;
        replica.name = fmt::format("A100 × {}", tp * pp);
        replica.pool = role == ReplicaRole::Whole ? "" : std::string(toText(role));
        replica.role = role;
        replica.time = distServeTime(*law);
        replica.scheduler.id = "distserve";
        replica.scheduler.compatibility = "distserve";
        replica.scheduler.maxSequences = no_limit;
        replica.scheduler.tokenBudget = static_cast<std::int32_t>(std::min<std::int64_t>(*tokens, no_limit));
        replica.scheduler.more["decode_tokens"] = decode_tokens;
        replica.scheduler.more["back_pressure_tokens"] = back_pressure;
        replica.tokensPerBlock = 1;
        replica.kvBlocks = *tokens;
        out.fleet.replicas.push_back(std::move(replica));
        return {};
    };
    const bool split = backend == "distserve";
    if (auto good = add(split ? ReplicaRole::Prefill : ReplicaRole::Whole, tpPrefill, ppPrefill); !good)
        return tl::unexpected(good.error());
    if (split)
        if (auto good = add(ReplicaRole::Decode, tpDecode, ppDecode); !good) return tl::unexpected(good.error());
    out.fleet.router.id = "least-outstanding";

    const auto in = readTable(folder + "/requests.csv", {.area = "distserve",
                                                         .columns = {{.name = "req_id", .most = 1e9},
                                                                     {.name = "start_time_s", .most = 1e9},
                                                                     {.name = "prefill_lens", .least = 1, .most = 1e7},
                                                                     {.name = "output_lens", .most = 1e7}},
                                                         .what = "a row per request"});
    if (!in) return tl::unexpected(in.error());
    const auto& columns = in->numbers;
    std::vector<PublishedRow> rows;
    for (std::size_t i = 0; i < in->size(); ++i)
        rows.push_back({columns[1][i], static_cast<std::int64_t>(columns[0][i]),
                        static_cast<std::int32_t>(columns[2][i]), static_cast<std::int32_t>(columns[3][i]) + 1});
    out.requests = streamOf(std::move(rows), model, in->path);
    return out;
}

}  // namespace orrery
