#include "serving/traffic/conversations.h"

#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// No session's text grows beyond this, whatever the spec says: lengths stay within 32 bits.
constexpr std::int64_t longestText = std::int64_t{1} << 24;
// Of hashes in one stream: 1 GiB.
constexpr std::size_t mostHashes = std::size_t{1} << 27;

}  // namespace

bool hasConversations(const TrafficSpec& spec) {
    return spec.sessions.turns > 1 || spec.agents.calls > 0 || spec.agents.samples > 1 || spec.agents.reasoning > 0 ||
           spec.sharedPrompt > 0;
}

Conversations::Conversations(const TrafficSpec& spec, RandomStream random, RequestStream& out)
    : spec_(spec),
      turns_(random.split(1)),
      pauses_(random.split(2)),
      tools_(random.split(3)),
      answers_(random.split(4)),
      people_(random.split(5)),
      out_(out),
      hashed_(hasConversations(spec)) {
    if (!hashed_) return;
    out_.hashTokens = spec.hashTokens;
    out_.hashBegin.assign(1, 0);
}

bool Conversations::full() const {
    return spec_.requests > 0 && static_cast<std::int64_t>(out_.size()) >= spec_.requests;
}

void Conversations::request(SimTime start, std::int64_t prompt, std::int64_t output, RequestIndex after, double think) {
    out_.arrival.push_back(start);
    out_.prompt.push_back(static_cast<std::int32_t>(prompt));
    out_.output.push_back(static_cast<std::int32_t>(output));
    if (spec_.tenants > 0) out_.tenant.push_back(tenant_);
    if (!hashed_) return;
    out_.after.push_back(after);
    out_.think.push_back(toTicks(think));
}

// The blocks of the prompt are there or new; those of the output are new, and stay if the text keeps them.
void Conversations::describeText(std::int64_t prompt, std::int64_t output, bool keepOutput) {
    if (!hashed_) return;
    const auto blocksOf = [&](std::int64_t tokens) { return static_cast<std::size_t>(tokens / spec_.hashTokens); };
    const auto grow = [&](std::size_t count) {
        while (blocks_.size() < count) blocks_.push_back(Hash().add(std::uint64_t{2}).add(blocksMade_++).value());
    };
    grow(blocksOf(prompt));
    const std::size_t ofPrompt = blocks_.size();
    grow(blocksOf(prompt + output));
    out_.hashes.insert(out_.hashes.end(), blocks_.begin(), blocks_.end());
    out_.hashBegin.push_back(static_cast<std::uint32_t>(out_.hashes.size()));
    if (!keepOutput) blocks_.resize(ofPrompt);
}

bool Conversations::step(SimTime start, std::int64_t output, std::int32_t samples, double think) {
    const std::int64_t thought = std::llround(static_cast<double>(output) * spec_.agents.reasoning);
    const std::int64_t limit =
        spec_.sessions.context > 0 ? std::min<std::int64_t>(spec_.sessions.context, longestText) : longestText;
    const bool first = previous_ == no_request;
    if (!first && text_ + output + thought > limit) return false;
    const RequestIndex after =
        first && !lastOfSession_.empty() ? lastOfSession_[sessions_ % lastOfSession_.size()] : previous_;
    RequestIndex longest = no_request;
    std::int64_t longestOutput = 0, kept = output;
    for (std::int32_t i = 0; i < samples && !full(); ++i) {
        // Answers to one prompt differ in length as exponential ones do, around the one that was drawn.
        const std::int64_t answer =
            samples == 1 ? output
                         : std::clamp<std::int64_t>(std::llround(exponential(answers_, static_cast<double>(output))), 1,
                                                    longestText);
        const std::int64_t all = std::min(answer + thought, longestText);
        request(start, std::min(text_, longestText), all, after, after == no_request ? 0 : think);
        // Where thoughts lie between, or several answers are weighed, the next prompt does not go on from this cache.
        describeText(std::min(text_, longestText), all, samples == 1 && thought == 0);
        if (longest == no_request || all > longestOutput) {
            longest = static_cast<RequestIndex>(out_.size() - 1);
            longestOutput = all;
            kept = answer;
        }
    }
    if (longest == no_request) return false;
    previous_ = longest;
    text_ += kept;
    return true;
}

Expected<void> Conversations::add(SimTime start, LengthSource& lengths) {
    text_ = spec_.sharedPrompt;
    previous_ = no_request;
    blocks_.clear();
    if (spec_.tenants > 0)
        tenant_ = static_cast<std::int32_t>(people_.below(static_cast<std::uint64_t>(spec_.tenants)));
    if (spec_.sharedPrompt > 0) {
        const std::uint64_t group = people_.below(static_cast<std::uint64_t>(spec_.promptGroups));
        for (std::int32_t i = 0; i < spec_.sharedPrompt / spec_.hashTokens; ++i) {
            blocks_.push_back(Hash().add(std::uint64_t{1}).add(group).add(static_cast<std::uint64_t>(i)).value());
        }
    }
    const SessionSpec& sessions = spec_.sessions;
    const AgentSpec& agents = spec_.agents;
    const bool closed = hashed_ && spec_.arrivals.kind == ArrivalKind::ClosedLoop;
    if (closed && lastOfSession_.empty()) {
        lastOfSession_.assign(static_cast<std::size_t>(spec_.arrivals.concurrency), no_request);
    }
    const std::int32_t turns = sessions.geometric ? 1 + geometric(turns_, sessions.turns - 1)
                                                  : static_cast<std::int32_t>(std::lround(sessions.turns));
    bool going = true;
    for (std::int32_t turn = 0; turn < turns && going && !full(); ++turn) {
        const Lengths drawn = lengths.next();
        text_ += drawn.prompt;
        double pause = turn > 0 ? exponential(pauses_, sessions.think) : 0;
        const std::int32_t calls =
            agents.geometric ? geometric(tools_, agents.calls) : static_cast<std::int32_t>(std::lround(agents.calls));
        for (std::int32_t call = 0; call < calls && going && !full(); ++call) {
            going = step(start, agents.callTokens, 1, pause);
            text_ += std::max<std::int64_t>(std::llround(exponential(tools_, agents.toolTokens)), 1);
            pause = exponential(tools_, agents.toolSeconds);
        }
        going = going && !full() && step(start, drawn.output, agents.samples, pause);
    }
    if (closed) lastOfSession_[sessions_ % lastOfSession_.size()] = previous_;
    ++sessions_;
    if (out_.hashes.size() > mostHashes) {
        return fail("traffic.too-much", fmt::format("the shared texts of {} requests need over 1 GiB", out_.size()),
                    "fewer requests, shorter texts, or more tokens per hash", "raise hash_tokens, or lower requests",
                    Place{{}, 0, 0, "traffic/hash_tokens"});
    }
    return {};
}

}  // namespace orrery
