#include "methods/trace/distserve_law.h"

#include "base/text/csv_stream.h"
#include "base/text/json_file.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double host_ms = 2, host_ms_per_token = 1e-4, stage_ms = 1;

class DistServeTime final : public IterationTime {
public:
    explicit DistServeTime(const DistServeLaw& law) : law_(law) {}

    IterationPrice price(const IterationWork& work) const override {
        double ms = 0;
        double context = 0;
        const double pp = law_.pipeline;
        if (!work.prompts.empty()) {
            double sum = 0;
            double squares = 0;
            for (const PromptChunk& chunk : work.prompts) {
                const double length = chunk.tokens;
                sum += length;
                squares += length * length;
                context += length + chunk.context;
            }
            const auto& [a, b, c] = law_.prompt;
            ms += (a + b * sum + c * squares) / pp + stage_ms * pp;
        }
        if (!work.decodes.empty()) {
            const auto sequences = static_cast<double>(work.decodes.size());
            const auto held = static_cast<double>(work.decodeContext);
            const auto& [a, b, c] = sequences < law_.threshold ? law_.decodeSmall : law_.decodeLarge;
            ms += (a + b * (held + sequences) + c * sequences) / pp;
            context += held;
        }
        IterationPrice price;
        price.seconds = std::max(0.0, ms) * 1e-3;
        price.lastSeconds = price.seconds;
        price.host = (host_ms + host_ms_per_token * context) * 1e-3;
        return price;
    }
    int stages() const override { return law_.pipeline; }
    std::vector<std::string> assumptions() const override {
        return {fmt::format(
                    "Iterations take the fitted law of {}; its residuals are not published, so its interval is a point",
                    law_.source),
                "Every iteration pays 2 ms and 0.1 µs per token of context on the host"};
    }

private:
    DistServeLaw law_;
};

std::optional<std::array<double, 3>> triple(const JsonNode& entry, const char* key) {
    const JsonNode* found = entry.find(key);
    if (!found || !found->isArray() || found->items.size() != 3) return std::nullopt;
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (!found->items[i].isNumber()) return std::nullopt;
        out[i] = found->items[i].number;
    }
    return out;
}

std::string keysOf(const JsonNode& object) {
    std::string list;
    for (const JsonNode& member : object.items) {
        if (list.size() > 200) return list + ", …";
        list += (list.empty() ? "" : ", ") + member.key;
    }
    return list;
}

}  // namespace

Expected<DistServeLaw> readDistServeLaw(const std::string& path, const std::string& model, int tensorParallel,
                                        int pipeline) {
    if (pipeline < 1 || pipeline > 1024)
        return fail("distserve.bad-value", fmt::format("a pipeline of {} stages", pipeline), "1 to 1024 stages");
    const auto file = JsonFile::open(path);
    if (!file) return tl::unexpected(file.error());
    const auto& root = file->root();
    const auto ofModel = root.find(model);
    if (!ofModel || !ofModel->isObject())
        return fail("distserve.no-rows", fmt::format("the profile has no model {}", model), "a model of the profile",
                    "it has " + keysOf(root), {path});
    const auto entry = ofModel->find(std::to_string(tensorParallel));
    if (!entry || !entry->isObject())
        return fail("distserve.no-rows", fmt::format("{} was not profiled on {} devices", model, tensorParallel),
                    "a tensor parallelism of the profile", "it has " + keysOf(*ofModel), file->place(model));
    DistServeLaw law;
    const auto prompt = triple(*entry, "prefill");
    const auto small = triple(*entry, "decoding_smallbs");
    const auto large = triple(*entry, "decoding_largebs");
    if (!prompt || !small || !large)
        return fail("distserve.bad-value", fmt::format("{} × {} lacks coefficients", model, tensorParallel),
                    "prefill, decoding_smallbs and decoding_largebs of three numbers each", "repair the profile",
                    file->place(model));
    law.prompt = *prompt;
    law.decodeSmall = *small;
    law.decodeLarge = *large;
    if (const JsonNode* threshold = entry->find("decoding_large_small_bs_threshold"); threshold && threshold->isWhole())
        law.threshold = static_cast<int>(std::clamp<double>(threshold->number, 0, 1 << 30));
    law.pipeline = pipeline;
    law.source = fmt::format("{}, {} × {}", path.substr(path.find_last_of('/') + 1), model, tensorParallel);
    return law;
}

IterationTimePtr distServeTime(const DistServeLaw& law) {
    return std::make_shared<const DistServeTime>(law);
}

Expected<std::int64_t> readDistServeTokens(const std::string& path, const std::string& model, int tensorParallel,
                                           int pipeline) {
    auto file = CsvStream::open(path);
    if (!file) return tl::unexpected(file.error());
    bool head = true;
    for (;;) {
        const auto more = file->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) break;
        const auto cells = file->cells();
        if (std::exchange(head, false)) {
            if (cells.size() < 4 || cells[0] != "model" || cells[1] != "tp" || cells[2] != "pp")
                return fail("distserve.no-column", "the table does not begin with model, tp, pp, max_num_tokens",
                            "the columns model, tp, pp, max_num_tokens", "give DistServe's max_num_tokens.csv",
                            {path, file->line()});
            continue;
        }
        std::array<std::int64_t, 3> values{};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::string_view text = i + 1 < cells.size() ? cells[i + 1] : std::string_view{};
            values[i] = wholeIn(text).value_or(0);
            if (values[i] < 1)
                return fail("distserve.bad-value", fmt::format("column {} is \"{}\"", i + 2, text.substr(0, 40)),
                            "a whole number from 1 on", "repair the line", {path, file->line()});
        }
        if (cells[0] == model && values[0] == tensorParallel && values[1] == pipeline) return values[2];
    }
    return fail("distserve.no-rows", fmt::format("no capacity of {} on tp {} × pp {}", model, tensorParallel, pipeline),
                "a row for it", "choose a parallelism of the table", {path});
}

}  // namespace orrery
