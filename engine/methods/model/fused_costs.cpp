#include "methods/model/fused_costs.h"

#include "methods/model/kernel_list.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

namespace orrery {

namespace {

// Bytes of one execution by column, filled from what the kernel reads and writes.
struct Columns {
    double weight = 0, kvRead = 0, kvWrite = 0, input = 0, output = 0;
};

double taken(double& left, double wanted) {
    const double some = std::clamp(wanted, 0.0, left);
    left -= some;
    return some;
}

void store(CostTable& costs, std::size_t i, const Columns& columns, double scratch) {
    costs.weightBytes[i] = columns.weight;
    costs.kvReadBytes[i] = columns.kvRead;
    costs.kvWriteBytes[i] = columns.kvWrite;
    costs.inputBytes[i] = columns.input;
    costs.outputBytes[i] = columns.output;
    costs.scratchBytes[i] = scratch;
}

void clear(CostTable& costs, std::size_t i) {
    costs.macs[i] = costs.flops[i] = 0;
    costs.gemm[i] = {};
    store(costs, i, {}, 0);
}

bool attention(const Kernel& kernel) {
    return kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention;
}

// The row of a group: `members` beside its leader.
void addGroup(const CostTable& from, std::size_t leader, std::span<const std::int32_t> members, const Launch& launch,
              CostTable& costs) {
    double weight = from.weightBytes[leader], kvRead = from.kvReadBytes[leader], kvWrite = from.kvWriteBytes[leader];
    double valueDim = 0, innerDim = 0;
    for (const std::int32_t member : members) {
        const auto m = static_cast<std::size_t>(member);
        costs.macs[leader] += from.macs[m];
        costs.flops[leader] += from.flops[m];
        weight += from.weightBytes[m];
        kvRead += from.kvReadBytes[m];
        kvWrite += from.kvWriteBytes[m];
        if (from.gemm[m].k > 0) valueDim = from.gemm[m].n, innerDim = from.gemm[m].k;
        clear(costs, m);
    }
    double read = launch.kernel.readBytes + launch.kernel.epilogue.bytes, written = launch.kernel.writeBytes;
    Columns columns;
    columns.weight = taken(read, weight);
    columns.kvRead = taken(read, kvRead);
    columns.input = read;
    columns.kvWrite = taken(written, kvWrite);
    columns.output = written;
    store(costs, leader, columns, 0);
    costs.type[leader] = launch.kernel.type;
    if (launch.kernel.kind == KernelKind::Experts) costs.gemm[leader].n += innerDim;  // both products as one
    if (attention(launch.kernel)) {
        costs.kind[leader] = OperatorKind::Attention;
        costs.gemm[leader].k += valueDim;  // as costs.h counts attention: keys and values in one
    }
}

// An operator that is several kernels. Work of the model stays, bytes are theirs.
void setBytes(CostTable& costs, std::size_t i, double bytes) {
    const double operands = costs.bytes(i) - costs.scratchBytes[i];
    costs.scratchBytes[i] = std::max(0.0, bytes - operands);
    if (bytes < operands) costs.inputBytes[i] = std::max(0.0, costs.inputBytes[i] - (operands - bytes));
}

Lowering lower(const WorkloadPtr& asked, Fusion fusion) {
    const Workload& workload = *asked;
    Lowering lowering;
    if (workload.graph.operators.size() != workload.costs.size()) return lowering;
    ModelOptions options;
    options.fusion = fusion;
    const KernelListPtr kernels = kernelListOf(asked, options);
    const LaunchList& list = kernels->list;
    lowering.parts.reserve(list.launches.size());
    for (const Launch& launch : list.launches) {
        lowering.parts.push_back({launch.op, launch.count * launch.scale, workOf(launch)});
    }
    lowering.assumptions = list.assumptions;
    if (fusion == Fusion::Apart) return lowering;
    lowering.costs = fusedCosts(workload, list);
    lowering.leader = list.leader;
    return lowering;
}

struct Kept {
    std::weak_ptr<const Workload> workload;
    Fusion fusion;
    LoweringPtr lowering;
};

class Shelf {
public:
    LoweringPtr find(const WorkloadPtr& workload, Fusion fusion) {
        const std::scoped_lock lock(mutex_);
        for (const Kept& each : kept_) {
            const bool same = !each.workload.owner_before(workload) && !workload.owner_before(each.workload);
            if (same && each.fusion == fusion) return each.lowering;
        }
        return nullptr;
    }
    void keep(const WorkloadPtr& workload, Fusion fusion, LoweringPtr lowering) {
        constexpr std::size_t most = 8;
        const std::scoped_lock lock(mutex_);
        std::erase_if(kept_, [](const Kept& each) { return each.workload.expired(); });
        if (kept_.size() >= most) kept_.pop_front();
        kept_.push_back({workload, fusion, std::move(lowering)});
    }

private:
    std::mutex mutex_;
    std::deque<Kept> kept_;
};

}  // namespace

CostTable fusedCosts(const Workload& workload, const LaunchList& list) {
    CostTable costs = workload.costs;
    const std::size_t rows = costs.size();
    std::vector<std::vector<std::int32_t>> members(rows);
    for (std::size_t i = 0; i < std::min(rows, list.leader.size()); ++i) {
        const auto leader = static_cast<std::size_t>(list.leader[i]);
        if (leader != i) members[leader].push_back(static_cast<std::int32_t>(i));
    }
    for (std::size_t at = 0; at < list.launches.size();) {
        const Launch& launch = list.launches[at];
        const auto i = static_cast<std::size_t>(launch.op);
        std::size_t end = at;
        double bytes = 0;
        for (; end < list.launches.size() && list.launches[end].op == launch.op; ++end) {
            bytes += list.launches[end].kernel.bytes() + list.launches[end].kernel.epilogue.bytes;
        }
        if (!members[i].empty()) {
            addGroup(workload.costs, i, members[i], launch, costs);
        } else if (end - at > 1) {
            setBytes(costs, i, bytes);
        }
        at = end;
    }
    return costs;
}

LoweringPtr loweringOf(const WorkloadPtr& workload, Fusion fusion) {
    static Shelf shelf;
    if (auto found = shelf.find(workload, fusion)) return found;
    auto made = std::make_shared<const Lowering>(lower(workload, fusion));
    shelf.keep(workload, fusion, made);
    return made;
}

std::vector<double> leastPerOperator(const Lowering& lowering, const DeviceView& device, std::size_t operators) {
    std::array<double, dtypeCount> perOperation{};
    for (std::size_t t = 0; t < dtypeCount; ++t) perOperation[t] = secondsPerOperation(device, static_cast<DType>(t));
    std::vector<double> least(operators, 0.0);
    for (const Lowering::Part& part : lowering.parts) {
        const double one = leastSeconds(device, part.work, perOperation[static_cast<std::size_t>(part.work.type)]);
        least[static_cast<std::size_t>(part.op)] += part.times * one;
    }
    return least;
}

}  // namespace orrery
