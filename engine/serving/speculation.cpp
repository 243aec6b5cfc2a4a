#include "serving/speculation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace orrery {

std::int32_t committedTokens(const Speculation& speculation, std::int32_t planned, std::uint64_t step,
                             RandomStream& random) {
    if (!speculation.trace.empty())
        return 1 + std::clamp(speculation.trace[step % speculation.trace.size()], 0, planned);
    std::int32_t accepted = 0;
    while (accepted < planned && random.uniform() < speculation.acceptance)
        ++accepted;
    return 1 + accepted;
}

double expectedTokens(const Speculation& speculation) {
    if (!speculation.trace.empty()) {
        double sum = 0;
        for (const std::int32_t accepted : speculation.trace)
            sum += 1 + std::clamp(accepted, 0, speculation.drafts);
        return sum / static_cast<double>(speculation.trace.size());
    }
    double sum = 1, power = 1;
    for (std::int32_t i = 0; i < speculation.drafts; ++i)
        sum += power *= speculation.acceptance;
    return sum;
}

namespace {

class Drafting : public IterationTime {
public:
    Drafting(IterationTimePtr target, const Speculation& speculation)
        : target_(std::move(target)), draft_(speculation.draft), seconds_(speculation.draftSeconds) {}

    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price = target_->price(work);
        if (work.tokensPerDecode <= 1 || work.decodes.empty())
            return price;
        const double steps = work.tokensPerDecode - 1;
        double cost = seconds_ * steps;
        if (draft_) {
            IterationWork one;
            one.decodes = work.decodes;
            one.decodeContext = work.decodeContext;
            one.tokens = one.sampled = static_cast<std::int32_t>(work.decodes.size());
            const IterationPrice drafting = draft_->price(one);
            const int stages = draft_->stages();
            cost += steps * (drafting.seconds * (stages - 1) + drafting.lastSeconds + drafting.host);
            price.domain = std::max(price.domain, drafting.domain);
        }
        // Drafting follows sampling on the last stage, and the next iteration waits for it.
        price.lastSeconds += cost;
        if (stages() == 1)
            price.seconds = price.lastSeconds;
        return price;
    }
    int stages() const override { return target_->stages(); }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> all = target_->assumptions();
        all.push_back("Draft tokens are made one after the other on the replica's own devices before they are verified.");
        if (draft_)
            for (std::string& text : draft_->assumptions())
                all.push_back("Drafter: " + text);
        return all;
    }

private:
    IterationTimePtr target_, draft_;
    double seconds_;
};

constexpr DrafterPreset presets[] = {
    // Solved for `acceptance` from the tokens per step that each source reports at its number of drafts.
    {"n-gram", "Prompt lookup (n-gram)", 3, 0.335, 1.485, 0,
     "no published acceptance that holds across tasks: 0.335 is an assumption for chat; set your own from a trace"},
};

}  // namespace

IterationTimePtr withDrafts(IterationTimePtr target, const Speculation& speculation) {
    if (speculation.drafts <= 0 || (!speculation.draft && speculation.draftSeconds <= 0))
        return target;
    return std::make_shared<Drafting>(std::move(target), speculation);
}

}  // namespace orrery
