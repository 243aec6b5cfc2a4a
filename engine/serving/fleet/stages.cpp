#include "serving/fleet/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double longest = 1 << 30;

class AffineTime final : public IterationTime {
public:
    AffineTime(double base, double perPromptToken, double perDecode)
        : base_(base), perPromptToken_(perPromptToken), perDecode_(perDecode) {}
    IterationPrice price(const IterationWork& work) const override {
        double seconds = base_ + perDecode_ * static_cast<double>(work.decodes.size());
        for (const PromptChunk& chunk : work.prompts) seconds += perPromptToken_ * chunk.tokens;
        IterationPrice price;
        price.seconds = price.lastSeconds = seconds;
        return price;
    }
    std::vector<std::string> assumptions() const override {
        return {
            fmt::format("A stage takes {:.4g} s, {:.4g} s per prompt token and {:.4g} s per decode, as stated by hand",
                        base_, perPromptToken_, perDecode_)};
    }

private:
    double base_, perPromptToken_, perDecode_;
};

Expected<void> check(const PipelineStage& stage, std::size_t index) {
    const bool good = stage.ofPrompt >= 0 && stage.ofPrompt <= 1e6 && stage.added >= 0 && stage.output >= 0 &&
                      stage.added <= longest && stage.output <= longest && stage.pause >= 0 && stage.pause <= 1e6;
    if (good) return {};
    return fail("serving.stages", fmt::format("stage {} ({}) has numbers that make no sense", index, stage.name),
                "shares, tokens and pauses from 0 on", "correct the stage",
                Place{{}, 0, 0, fmt::format("stages[{}]", index + 1)});
}

}  // namespace

Expected<PipelineStream> inStages(const RequestStream& questions, std::span<const PipelineStage> stages) {
    if (stages.empty())
        return fail("serving.stages", "the pipeline has no stage", "one stage or more", "name a stage that generates");
    if (questions.concurrency > 0)
        return fail("serving.stages", "a closed loop counts questions, not their stages",
                    "questions with times of arrival", "give arrivals, or sessions that wait for each other",
                    Place{.path = "traffic/arrivals/kind"});
    for (std::size_t s = 0; s < stages.size(); ++s)
        if (auto good = check(stages[s], s); !good) return tl::unexpected(good.error());
    const std::size_t count = questions.size();
    if (count * stages.size() >= no_request)
        return fail("serving.stages", fmt::format("{} questions of {} stages", count, stages.size()),
                    "fewer than 2^32 requests");
    PipelineStream out;
    out.stages = static_cast<std::int32_t>(stages.size());
    RequestStream& stream = out.stream;
    stream.name = questions.name;
    stream.source = questions.source;
    stream.stages = out.stages;
    stream.tenantNames = questions.tenantNames;
    for (const PipelineStage& stage : stages) stream.stageNames.push_back(stage.name);
    const auto last = static_cast<RequestIndex>(stages.size() - 1);
    for (std::size_t q = 0; q < count; ++q) {
        const auto first = static_cast<RequestIndex>(stream.size());
        for (std::size_t s = 0; s < stages.size(); ++s) {
            const PipelineStage& stage = stages[s];
            const double prompt = std::round(stage.ofPrompt * questions.prompt[q]) + stage.added;
            if (prompt > longest)
                return fail("serving.stages", fmt::format("question {} is {} tokens long in {}", q, prompt, stage.name),
                            "at most 2^30 tokens");
            stream.arrival.push_back(questions.arrival[q]);
            stream.prompt.push_back(std::max(1, static_cast<std::int32_t>(prompt)));
            stream.output.push_back(stage.output > 0 ? stage.output : questions.output[q]);
            stream.tenant.push_back(stage.tenant + (questions.tenant.empty() ? 0 : questions.tenant[q]));
            if (!questions.adapter.empty()) stream.adapter.push_back(s == last ? questions.adapter[q] : -1);
            if (!questions.id.empty()) stream.id.push_back(questions.id[q]);
            if (!questions.priority.empty()) stream.priority.push_back(questions.priority[q]);
            if (s > 0) {
                stream.after.push_back(first + static_cast<RequestIndex>(s) - 1);
                stream.think.push_back(toTicks(stage.pause));
                continue;
            }
            const RequestIndex before = questions.after.empty() ? no_request : questions.after[q];
            stream.after.push_back(before == no_request ? no_request : before * (last + 1) + last);
            stream.think.push_back(questions.think.empty() ? 0 : questions.think[q]);
        }
    }
    if (auto good = stream.check(); !good) return tl::unexpected(good.error());
    return out;
}

std::vector<PipelineOutcome> outcomes(const PipelineStream& pipeline, const RequestTable& requests) {
    std::vector<PipelineOutcome> out;
    const auto stages = static_cast<std::size_t>(pipeline.stages);
    for (std::size_t q = 0; q < pipeline.questions(); ++q) {
        const std::size_t first = q * stages;
        const std::size_t last = first + stages - 1;
        PipelineOutcome one;
        one.done = true;
        for (std::size_t r = first; r <= last; ++r) one.done &= requests.state[r] == RequestState::Done;
        const SimTime arrived = requests.arrived[first];
        one.arrived = toSeconds(arrived);
        if (requests.firstToken[last] >= 0) one.firstToken = toSeconds(requests.firstToken[last] - arrived);
        if (one.done) one.endToEnd = toSeconds(requests.ended[last] - arrived);
        out.push_back(one);
    }
    return out;
}

IterationTimePtr affineTime(double base, double perPromptToken, double perDecode) {
    return std::make_shared<const AffineTime>(base, perPromptToken, perDecode);
}

}  // namespace orrery
