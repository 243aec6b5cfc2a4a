#include "methods/trace/llmservingsim_tables.h"

#include "base/text/csv_stream.h"
#include "base/text/table.h"
#include "methods/trace/attention_grid.h"
#include "methods/trace/profile_repeats.h"
#include "methods/trace/skew_correction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

namespace orrery {

namespace {

namespace fs = std::filesystem;

// Measured points of one quantity over another; linear between, extrapolated beyond the last two, held before the
// first.
struct Curve {
    std::vector<double> x, y;
    double at(double query) const {
        const AxisPlace place = placeOn(x, query);
        return y[place.low] + place.share * (y[place.high] - y[place.low]);
    }
};
using Curves = std::map<std::string, Curve, std::less<>>;

// Piecewise linear functions add up to one over the union of their points.
Curve sumOf(const std::vector<std::pair<const Curve*, double>>& parts) {
    Curve sum;
    for (const auto& [curve, factor] : parts) sum.x.insert(sum.x.end(), curve->x.begin(), curve->x.end());
    std::sort(sum.x.begin(), sum.x.end());
    sum.x.erase(std::unique(sum.x.begin(), sum.x.end()), sum.x.end());
    for (const double x : sum.x) {
        double y = 0;
        for (const auto& [curve, factor] : parts) y += factor * curve->at(x);
        sum.y.push_back(y);
    }
    return sum;
}

Expected<Curves> readCurves(const fs::path& folder, std::string_view file, const char* key) {
    auto rows =
        readTable((folder / file).string(), {.columns = {textColumn("layer"), {.name = key}, {.name = "time_us"}},
                                             .what = "a table of a profile",
                                             .hint = "is this the folder of a profile?"});
    if (!rows) return Unexpected(rows.error());
    std::map<std::string, std::map<double, double>, std::less<>> points;
    for (std::size_t i = 0; i < rows->size(); ++i)
        points[rows->texts[0][i]][rows->numbers[1][i]] = rows->numbers[2][i] * 1e-6;
    Curves curves;
    for (const auto& [layer, pairs] : points)
        for (const auto& [x, y] : pairs) {
            curves[layer].x.push_back(x);
            curves[layer].y.push_back(y);
        }
    return curves;
}

struct Collectives {
    LlmServingSimLink link;
    double take(double steps, double bytesPerStep) const {
        if (link.bytesPerSecond <= 0 || steps <= 0) return 0;
        return steps * (link.latency + bytesPerStep / link.bytesPerSecond);
    }
    double allReduce(double bytes, int ranks) const { return take(2.0 * (ranks - 1), bytes / ranks); }
    double gatherOrScatter(double bytesPerRank, int ranks) const { return take(ranks - 1, bytesPerRank); }
};

class Tables final : public IterationTime {
public:
    Curve once, perLayer, perSequence;  ///< dense operators outside and inside layers, and those of sequences
    AttentionGrid attention;
    SkewCorrection skew;
    ProfileRepeats repeats;
    Curve experts;  ///< slowest rank and its collectives, over tokens; empty: none
    LlmServingSimModel model;
    int tensorParallel = 1, dataParallel = 1;
    Collectives collectives;
    std::vector<std::string> sentences;

    IterationPrice price(const IterationWork& work) const override {
        const double tokens = std::max(1, work.tokens);
        std::int64_t chunk = 0, cached = 0;
        for (const PromptChunk& prompt : work.prompts) {
            chunk += prompt.tokens;
            cached += prompt.context;
        }
        const auto decodes = static_cast<std::int64_t>(work.decodes.size());
        const std::int64_t mean = decodes > 0 ? work.decodeContext / decodes : 0;
        double heads = attention.at(chunk, cached, decodes, mean);
        std::int64_t longest = 0;
        if (decodes > 1) {
            const auto [least, most] = std::minmax_element(work.decodes.begin(), work.decodes.end());
            longest = *most;
            if (longest != mean)
                if (const double alpha = skew.alpha(chunk, decodes, *least, mean, longest, cached); alpha != 0)
                    heads += alpha * std::max(0.0, attention.at(chunk, cached, decodes, longest) - heads);
        }
        double layer = perLayer.at(tokens) + heads;
        if (!experts.x.empty()) layer += experts.at(tokens * dataParallel);
        if (tensorParallel > 1)
            layer += (experts.x.empty() ? 2 : 1) *
                     collectives.allReduce(tokens * model.hidden * model.bytesPerElement, tensorParallel);
        // vLLM computes logits of every sequence of the iteration, those of unfinished prompts too.
        const auto rows =
            static_cast<double>(work.prompts.size()) + static_cast<double>(decodes * work.tokensPerDecode);
        IterationPrice price;
        price.seconds = price.lastSeconds =
            once.at(tokens) + model.layers * layer + perSequence.at(std::max(1.0, rows));
        price.low = repeats.low;
        price.high = repeats.high;
        price.domain = std::max(attention.domain(chunk, cached, decodes, std::max(mean, longest)),
                                tokens > 2 * perLayer.x.back() ? DomainVerdict::Outside
                                : tokens > perLayer.x.back()   ? DomainVerdict::Edge
                                                               : DomainVerdict::Inside);
        return price;
    }
    std::vector<std::string> assumptions() const override { return sentences; }
};

Expected<Curve> readExperts(const fs::path& folder, const LlmServingSimModel& model,
                            const LlmServingSimOptions& options) {
    // Newer profiles say for how many ranks each row was measured; older ones count the tokens that reach one rank.
    const bool byRanks = hasColumn((folder / "moe.csv").string(), "ep");
    auto columns = numberColumns({"tokens", "activated_experts", "time_us"});
    if (byRanks) columns.push_back({.name = "ep"});
    auto rows = readTable((folder / "moe.csv").string(), {.columns = std::move(columns)});
    if (!rows) return Unexpected(rows.error());
    std::map<double, std::map<double, double>> byActivated;
    for (std::size_t i = 0; i < rows->size(); ++i)
        if (!byRanks || rows->numbers[3][i] == options.expertParallel)
            byActivated[rows->numbers[1][i]][rows->numbers[0][i]] = rows->numbers[2][i] * 1e-6;
    if (byActivated.empty())
        return fail("tables.no-rows", fmt::format("no expert was measured on {} ranks", options.expertParallel),
                    "rows with that number in column ep", "ask for another degree of expert parallelism",
                    Place{.file = (folder / "moe.csv").string()});
    std::vector<double> activated;
    std::vector<Curve> curves;
    double most = 1;
    for (const auto& [count, points] : byActivated) {
        activated.push_back(count);
        curves.emplace_back();
        for (const auto& [tokens, seconds] : points) {
            curves.back().x.push_back(tokens);
            curves.back().y.push_back(seconds);
            most = std::max(most, tokens);
        }
    }
    const auto seconds = [&](double tokens, double count) {
        const AxisPlace at = placeOn(activated, count);
        const double low = curves[at.low].at(tokens);
        return low + at.share * (curves[at.high].at(tokens) - low);
    };
    const Collectives collectives{options.link};
    const int ranks = options.expertParallel;
    Curve result;
    for (double tokens = 1; tokens <= 2 * most * options.dataParallel;
         tokens = tokens < 64 ? tokens + 1 : std::ceil(tokens * 1.0625)) {
        const ExpertLoad load = routeTokens(options.routing, model.experts, model.expertsPerToken, ranks,
                                            static_cast<std::int64_t>(tokens));
        double slowest = 0;
        for (std::size_t rank = 0; rank < load.tokens.size(); ++rank) {
            const double reached = byRanks ? tokens : static_cast<double>(load.tokens[rank]);
            if (load.tokens[rank] > 0) slowest = std::max(slowest, seconds(reached, std::max(1, load.activated[rank])));
        }
        if (ranks > 1) {
            const double share = std::max(1.0, std::floor(tokens / ranks));
            slowest +=
                collectives.gatherOrScatter(share * (model.hidden + model.experts) * model.bytesPerElement, ranks);
            slowest += collectives.gatherOrScatter(tokens * model.hidden * model.bytesPerElement / ranks, ranks);
        }
        result.x.push_back(tokens);
        result.y.push_back(slowest);
    }
    return result;
}

// The folder of one degree of tensor parallelism, and the one with meta.yaml beside it.
Expected<fs::path> degreeFolder(const std::string& folder, int degree) {
    std::error_code ignored;
    const fs::path root(folder);
    const auto holds = [&](const fs::path& path) {
        return fs::exists(path / "dense.csv", ignored) || fs::exists(path / "dense.csv.gz", ignored);
    };
    if (const fs::path inside = root / fmt::format("tp{}", degree); holds(inside)) return inside;
    if (holds(root)) return root;
    std::string known;
    for (fs::directory_iterator at(root, ignored), end; !ignored && at != end; at.increment(ignored))
        if (at->path().filename().string().starts_with("tp"))
            known += (known.empty() ? "" : ", ") + at->path().filename().string();
    return fail("tables.missing", fmt::format("there is no table of tensor parallelism {}", degree),
                known.empty() ? fmt::format("a folder tp{} with dense.csv", degree) : "one of " + known,
                "give the folder <device>/<model>/<type> of a profile", Place{.file = folder});
}

}  // namespace

Expected<IterationTimePtr> readLlmServingSimTables(const std::string& folder, const LlmServingSimModel& model,
                                                   const LlmServingSimOptions& options) {
    if (model.layers < 1 || model.hidden < 1 || (model.experts > 0 && model.expertsPerToken < 1))
        return fail("tables.model", "the model has no layers, no hidden size or experts that nothing chooses",
                    "layers, hidden size and experts per token from 1 on");
    if (options.tensorParallel < 1 || options.expertParallel < 1 || options.dataParallel < 1)
        return fail("tables.model", "a degree of parallelism is below 1", "1 or more");
    const auto path = degreeFolder(folder, options.tensorParallel);
    if (!path) return Unexpected(path.error());

    auto tables = std::make_shared<Tables>();
    tables->model = model;
    tables->tensorParallel = options.tensorParallel;
    tables->dataParallel = options.dataParallel;
    tables->collectives.link = options.link;

    const auto dense = readCurves(*path, "dense.csv", "tokens");
    if (!dense) return Unexpected(dense.error());
    std::vector<std::pair<const Curve*, double>> once, inside;
    for (const auto& [name, curve] : *dense) {
        const bool outside = name == "embedding" || name == "final_layernorm";
        (outside ? once : inside).emplace_back(&curve, name == "layernorm" ? 2 : 1);
    }
    for (const char* needed : {"qkv_proj", "o_proj", "layernorm", "embedding"})
        if (!dense->contains(needed))
            return fail("tables.missing", fmt::format("layer {} was not measured", needed), "rows with that layer",
                        "profile again, or add the rows", Place{.file = (*path / "dense.csv").string()});
    tables->once = sumOf(once);
    tables->perLayer = sumOf(inside);

    const auto perSequence = readCurves(*path, "per_sequence.csv", "sequences");
    if (!perSequence) return Unexpected(perSequence.error());
    std::vector<std::pair<const Curve*, double>> heads;
    for (const auto& [name, curve] : *perSequence) heads.emplace_back(&curve, 1);
    tables->perSequence = sumOf(heads);

    const auto rows =
        readTable((*path / "attention.csv").string(),
                  {.columns = numberColumns({"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"})});
    if (!rows) return Unexpected(rows.error());
    std::vector<AttentionGrid::Point> points(rows->size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto whole = [&](std::size_t column) { return static_cast<std::int32_t>(rows->numbers[column][i]); };
        points[i] = {whole(0), whole(1), whole(2), whole(3), rows->numbers[4][i] * 1e-6};
    }
    tables->attention = AttentionGrid::of(std::move(points));

    auto skew = readSkewCorrection(*path, options.tensorParallel);
    if (!skew) return Unexpected(skew.error());
    tables->skew = std::move(*skew);

    auto repeats = readProfileRepeats(*path);
    if (!repeats) return Unexpected(repeats.error());
    tables->repeats = *repeats;
    tables->sentences = {
        fmt::format("Operators as measured in {}, linear between the measured sizes.", path->string()),
        tables->skew.known()
            ? "Uneven lengths of decoding sequences lengthen attention as the profile's skew sweep says."
            : "Attention is predicted at the mean length of the decoding sequences.",
        repeats->known()
            ? fmt::format("The interval is how well the profile repeats itself, {:+.1f} to {:+.1f} % of attention over "
                          "{} points measured twice; what a sum of operators leaves out of an engine is not in it.",
                          100 * (repeats->low - 1), 100 * (repeats->high - 1), repeats->points)
            : "Nothing was measured twice: how sure the profile is of its own times is not known.",
    };
    if (model.experts > 0) {
        if (auto ok = check(options.routing, model.experts); !ok) return Unexpected(ok.error());
        auto experts = readExperts(*path, model, options);
        if (!experts) return Unexpected(experts.error());
        tables->experts = std::move(*experts);
        tables->sentences.push_back(
            fmt::format("Experts are chosen {}; all ranks wait for the slowest.", toText(options.routing.kind)));
    }
    if (options.tensorParallel > 1)
        tables->sentences.push_back(options.link.bytesPerSecond > 0
                                        ? "All-reduces are rings that nothing hides."
                                        : "Collectives take no time: the profile does not hold them.");
    return IterationTimePtr(std::move(tables));
}

}  // namespace orrery
