// The numbers of a policy, as all policies share them: SchedulerSpec of schedulers/scheduler.h. What a policy makes of
// one stands on its card, which also lists what only it knows (`more`).

#include "serving/fields/field_rows.h"
#include "serving/schedulers/scheduler.h"

#include <array>

namespace orrery {

namespace {

using namespace fields;

std::vector<FieldOffer> policies() {
    std::vector<FieldOffer> all;
    for (const SchedulerCard& card : schedulers())
        all.push_back({std::string(card.id), std::string(card.title), std::string(card.summary)});
    return all;
}
std::vector<FieldOffer> schedulerCompatibilities() {
    return {{"vidur", "VIDUR", {}}, {"splitwise", "splitwise-sim", {}}, {"distserve", "DistServe's simulator", {}}};
}

constexpr FieldSpec schedulerRows[]{
    text<&SchedulerSpec::id>("id", "Scheduler", "The policy that chooses the requests of the next iteration.")
        .offering(policies)
        .called("Policy"),
    whole<&SchedulerSpec::maxSequences>(
        "max_sequences", "Sequences of an iteration",
        "Maximum number of sequences in one batch, or running, depending on the policy.")
        .from(1),
    whole<&SchedulerSpec::tokenBudget>("token_budget", "Tokens of an iteration",
                                       "Maximum number of tokens of one iteration.")
        .from(1),
    whole<&SchedulerSpec::chunk>("chunk", "Chunk",
                                 "Tokens of an iteration with prompts in it (Sarathi), or of one prompt (SGLang).")
        .from(1),
    whole<&SchedulerSpec::longPrompt>("long_prompt", "Prompt chunk", "Tokens of one prompt per iteration (vLLM V1).")
        .zeroIs("no limit"),
    whole<&SchedulerSpec::maxModelLength>("max_model_length", "Longest text", "Tokens of prompt and output together.")
        .zeroIs("no limit"),
    share<&SchedulerSpec::watermark>("watermark", "Watermark", "Share of blocks that admission leaves free.")
        .from(0)
        .below(1),
    flag<&SchedulerSpec::chunkedPrefill>("chunked_prefill", "Chunked prompts",
                                         "A prompt may be computed in several iterations."),
    flag<&SchedulerSpec::reserveWholePrompt>("reserve_whole_prompt", "Room for whole prompts",
                                             "Admission asks for blocks of the whole prompt."),
    flag<&SchedulerSpec::prefixCache>("prefix_cache", "Prefix cache", "Prompts that begin alike share blocks."),
    flag<&SchedulerSpec::byPriority>("by_priority", "By priority", "Queue and victims by priority, then arrival."),
    flag<&SchedulerSpec::swap>("swap", "Swap", "Preempted sequences go to host memory instead of starting again."),
    whole<&SchedulerSpec::lookahead>("lookahead", "Draft tokens to verify",
                                     "Draft tokens that need blocks beyond the next token.")
        .to(64),
    text<&SchedulerSpec::compatibility>("compatibility", "Scheduled as",
                                        "Reproduces a published simulator where it differs from the engine that it "
                                        "simulates.")
        .offering(schedulerCompatibilities)
        .zeroIs("the engine's own semantics")
        .fixed(),
    row<&SchedulerSpec::more>(FieldForm::Numbers, "more", "Numbers of the scheduler",
                              "Options of one policy only, by the names on its card."),
};

}  // namespace

template <>
const FieldTable& fieldTable<SchedulerSpec>() {
    // No section: forms show what the card of the chosen policy lists.
    static constexpr FieldTable table{"Scheduler", "", "serving.bad-scheduler", schedulerRows, usual<SchedulerSpec>};
    return table;
}

}  // namespace orrery
