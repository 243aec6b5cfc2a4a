#include "methods/model/kernel_list.h"

#include "methods/model/reuse_distances.h"
#include "workload/engine_kernels.h"

#include <deque>
#include <mutex>

namespace orrery {

namespace {

// An open-addressed table from identity to the first launch.
KernelList::Distinct distinctOf(const std::vector<Launch>& launches, const std::vector<std::uint64_t>& identity,
                                bool epilogues) {
    const auto same = [epilogues](const Kernel& a, Kernel b) {
        if (!epilogues) b.epilogue = a.epilogue;
        return a == b;
    };
    std::size_t slotCount = 16;
    while (slotCount < 2 * launches.size()) slotCount *= 2;
    std::vector<std::int32_t> table(slotCount, -1);
    KernelList::Distinct distinct;
    distinct.first.resize(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const Kernel& kernel = launches[i].kernel;
        std::size_t at = identity[i] & (slotCount - 1);
        while (table[at] >= 0 && !same(launches[static_cast<std::size_t>(table[at])].kernel, kernel)) {
            at = (at + 1) & (slotCount - 1);
        }
        if (table[at] < 0) {
            table[at] = static_cast<std::int32_t>(i);
            ++distinct.count;
        }
        distinct.first[i] = table[at];
    }
    return distinct;
}

// Compilers of arrays do not rewrite attention: where a model writes its scores out, they pass memory.
void writeOutScores(const Graph& graph, LaunchList& list) {
    for (Launch& launch : list.launches) {
        const bool attends =
            launch.kernel.kind == KernelKind::PrefillAttention || launch.kernel.kind == KernelKind::DecodeAttention;
        const auto& op = graph.operators[static_cast<std::size_t>(launch.op)];
        if (attends && op.kind != OperatorKind::Attention) launch.kernel.attention.flash = false;
    }
}

KernelListPtr make(const Workload& workload, const ModelOptions& options, bool rewritten) {
    auto made = std::make_shared<KernelList>();
    ModelOptions asked = options;
    asked.wholeExperts = options.wholeExperts && rewritten;
    made->list = launchesOf(workload, asked);
    if (!rewritten) writeOutScores(workload.graph, made->list);
    for (Launch& launch : made->list.launches) setFlashDecoding(launch.kernel, options.flashDecoding);
    const auto& launches = made->list.launches;
    std::vector<std::uint64_t> identity;
    identity.reserve(launches.size());
    for (const Launch& launch : launches) identity.push_back(kernelIdentity(launch.kernel));
    made->alone = distinctOf(launches, identity, false);
    made->withEpilogues = distinctOf(launches, identity, true);
    if (options.step == Step::Inference)
        made->reuse = reuseDistances(workload, made->list);
    else
        made->reuse.resize(launches.size());
    return made;
}

struct KeptList {
    std::weak_ptr<const Workload> workload;
    Fusion fusion;
    Step step;
    Optimizer optimizer;
    bool rewritten, flashDecoding;
    KernelListPtr list;
};

}  // namespace

KernelListPtr kernelListOf(const WorkloadPtr& workload, const ModelOptions& options, bool rewritten) {
    constexpr std::size_t most = 8;
    static std::mutex mutex;
    static std::deque<KeptList> kept;
    {
        const std::scoped_lock lock(mutex);
        for (const KeptList& each : kept) {
            const bool same = !each.workload.owner_before(workload) && !workload.owner_before(each.workload);
            if (same && each.fusion == options.fusion && each.step == options.step &&
                each.optimizer == options.optimizer && each.rewritten == rewritten &&
                each.flashDecoding == options.flashDecoding)
                return each.list;
        }
    }
    auto made = make(*workload, options, rewritten);
    const std::scoped_lock lock(mutex);
    std::erase_if(kept, [](const KeptList& each) { return each.workload.expired(); });
    if (kept.size() >= most) kept.pop_front();
    kept.push_back({workload, options.fusion, options.step, options.optimizer, rewritten, options.flashDecoding, made});
    return made;
}

}  // namespace orrery
