#include "serving/fleet/speculation.h"

#include <algorithm>

namespace orrery {

std::int32_t committedTokens(const Speculation& speculation, std::int32_t planned, std::uint64_t step,
                             RandomStream& random) {
    if (!speculation.trace.empty())
        return 1 + std::clamp(speculation.trace[step % speculation.trace.size()], 0, planned);
    std::int32_t accepted = 0;
    while (accepted < planned && random.uniform() < speculation.acceptance) ++accepted;
    return 1 + accepted;
}

double expectedTokens(const Speculation& speculation) {
    if (!speculation.trace.empty()) {
        double sum = 0;
        for (const std::int32_t accepted : speculation.trace) sum += 1 + std::clamp(accepted, 0, speculation.drafts);
        return sum / static_cast<double>(speculation.trace.size());
    }
    double sum = 1, power = 1;
    for (std::int32_t i = 0; i < speculation.drafts; ++i) sum += power *= speculation.acceptance;
    return sum;
}

namespace {

class Drafting : public IterationTime {
public:
    Drafting(IterationTimePtr target, const Speculation& speculation)
        : target_(std::move(target)), draft_(speculation.draft), seconds_(speculation.draftSeconds) {}

    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price = target_->price(work);
        if (work.tokensPerDecode <= 1 || work.decodes.empty()) return price;
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
        if (stages() == 1) price.seconds = price.lastSeconds;
        return price;
    }
    int stages() const override { return target_->stages(); }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> all = target_->assumptions();
        all.push_back(
            "Draft tokens are made one after the other on the replica's own devices before they are verified.");
        if (draft_)
            for (std::string& text : draft_->assumptions()) all.push_back("Drafter: " + text);
        return all;
    }

private:
    IterationTimePtr target_, draft_;
    double seconds_;
};

constexpr DrafterPreset presets[] = {
    {"draft-model", "Small draft model", 7, 0.75, 0.02,
     "Leviathan et al., ICML 2023, table 2: T5-small drafts for T5-XXL, translation, greedy"},
    {"eagle", "EAGLE, a chain of drafts", 5, 0.73, 0.06,
     "Li et al., “EAGLE”, ICML 2024: mean of the acceptances 0-α to 4-α of Vicuna 7B on MT-bench, greedy; the cost is "
     "one decoder layer and a head of 32 layers and a head (assumption)"},
    {"medusa", "Medusa heads", 5, 0.75, 0.044,
     "Cai et al., “Medusa”, ICML 2024: Medusa-2 on Vicuna 7B keeps 3.47 tokens a step of a tree at 1.22 times the cost "
     "of a step; as a chain that is this acceptance, and 0.22 over five drafts"},
    {"n-gram", "Prompt lookup (n-gram)", 3, 0.4, 0,
     "assumption: how often text repeats its prompt depends on the task; give a trace if there is one"},
};

}  // namespace

IterationTimePtr withDrafts(IterationTimePtr target, const Speculation& speculation) {
    if (speculation.drafts <= 0 || (!speculation.draft && speculation.draftSeconds <= 0)) return target;
    return std::make_shared<Drafting>(std::move(target), speculation);
}

std::span<const DrafterPreset> drafterPresets() {
    return presets;
}

Speculation speculationOf(const DrafterPreset& preset, double iteration) {
    Speculation speculation;
    speculation.drafts = preset.drafts;
    speculation.acceptance = preset.acceptance;
    speculation.draftSeconds = preset.cost * iteration;
    return speculation;
}

}  // namespace orrery
