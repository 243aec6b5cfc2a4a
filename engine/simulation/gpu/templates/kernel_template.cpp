#include "simulation/gpu/templates/kernel_template.h"

#include "simulation/gpu/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace orrery::gpusim {

namespace {

class BlockSink final : public WarpSink {
public:
    BlockSink(const Machine& machine, TraceBlock& block, const std::vector<StaticInstruction>& statics,
              const LocalPlace& local)
        : machine_(machine), block_(block), statics_(statics), local_(local) {}
    unsigned warp = 0;

    void op(int instruction, LaneMask lanes, unsigned groups) override {
        Executed out;
        out.what = out.pc = static_cast<std::uint32_t>(instruction), out.mask = lanes & all_;
        out.first = static_cast<std::uint32_t>(block_.accesses.size());
        out.count = groups;
        block_.instructions.push_back(out);
    }
    void access(int instruction, LaneMask lanes, std::span<const std::uint64_t> addresses) override {
        if (lanes == 0) return;
        Executed out;
        out.what = out.pc = static_cast<std::uint32_t>(instruction), out.mask = lanes & all_;
        addresses_.assign(addresses.begin(), addresses.end());
        const StaticInstruction& one = statics_[out.what];
        addAccesses(machine_, block_,
                    {.action = one.action, .local = one.local, .bytes = one.bytes, .warp = warp, .place = local_},
                    addresses_, out);
        block_.instructions.push_back(out);
    }

private:
    const Machine& machine_;
    TraceBlock& block_;
    const std::vector<StaticInstruction>& statics_;
    const LocalPlace& local_;
    LaneMask all_ = lanesUpTo(machine_.lanes);
    std::vector<std::uint64_t> addresses_;
};

class CountSink final : public WarpSink {
public:
    explicit CountSink(const KernelTemplate& kernel) : kernel_(kernel), counts(kernel.instructions().size()) {}
    void op(int instruction, LaneMask, unsigned) override { ++counts[static_cast<std::size_t>(instruction)].warps; }
    void access(int instruction, LaneMask lanes, std::span<const std::uint64_t>) override {
        if (lanes == 0) return;
        const auto at = static_cast<std::size_t>(instruction);
        ++counts[at].warps;
        counts[at].bytes += static_cast<std::uint64_t>(std::popcount(lanes & lanesUpTo(kernel_.header().lanes))) *
                            static_cast<std::uint64_t>(kernel_.instructions()[at].width);
    }

private:
    const KernelTemplate& kernel_;

public:
    std::vector<TemplateCount> counts;
};

}  // namespace

int KernelTemplate::define(std::string opcode, int destination, std::vector<int> sources, int width, unsigned reuse) {
    if (header_.lanes > 32) opcode = cdnaOpcode(opcode), reuse = 0;
    instructions_.push_back({std::move(opcode), destination, std::move(sources), width, reuse});
    return static_cast<int>(instructions_.size()) - 1;
}

void KernelTemplate::setVersion(int version) {
    header_.binaryVersion = version;
    header_.lanes = lanesOfVersion(version);
}

Expected<TemplateSource> TemplateSource::open(KernelTemplatePtr kernel, const Machine& machine,
                                              std::vector<BlockRange> blocks) {
    if (kernel->header().lanes != machine.lanes) {
        return fail("gpu.template", fmt::format("the kernel has warps of {} lanes, `{}` of {}", kernel->header().lanes,
                                                machine.name, machine.lanes));
    }
    TemplateSource out;
    out.header_ = kernel->header();
    if (blocks.empty()) blocks.push_back({0, out.header_.blocks()});
    std::int64_t all = 0;
    for (const BlockRange& range : blocks) all += range.count;
    out.header_.grid = {static_cast<int>(all), 1, 1};
    out.ranges_ = std::move(blocks);
    for (const TemplateInstruction& each : kernel->instructions()) {
        const auto opcode = opcodeOf(each.opcode);
        StaticInstruction one;
        if (!opcode || !fillStatic(machine, each.opcode, *opcode, one)) {
            return fail("gpu.template", fmt::format("`{}` has no unit for {}", machine.name, each.opcode), {},
                        "choose a data type that the drawing's units take");
        }
        one.destination = static_cast<std::int16_t>(each.destination);
        one.sourcesWritten = static_cast<std::uint8_t>(each.sources.size());
        for (std::size_t i = 0; i < each.sources.size(); ++i)
            addSource(one, static_cast<std::uint8_t>(each.sources[i]), static_cast<int>(i), (each.reuse >> i & 1) != 0);
        out.statics_.push_back(one);
    }
    out.kernel_ = std::move(kernel);
    out.machine_ = &machine;
    return out;
}

Expected<bool> TemplateSource::next(TraceBlock& block, const LocalPlace& local) {
    while (range_ < ranges_.size() && at_ >= ranges_[range_].count) ++range_, at_ = 0;
    block.instructions.clear(), block.accesses.clear(), block.begin.clear();
    if (range_ >= ranges_.size()) return false;
    const std::int64_t which = ranges_[range_].first + at_++;
    BlockSink sink(*machine_, block, statics_, local);
    for (int w = 0; w < header_.warps(); ++w) {
        block.begin.push_back(static_cast<std::uint32_t>(block.instructions.size()));
        sink.warp = static_cast<unsigned>(w);
        kernel_->warp(which, w, sink);
    }
    block.begin.push_back(static_cast<std::uint32_t>(block.instructions.size()));
    return true;
}

std::vector<TemplateCount> countTemplate(const KernelTemplate& kernel) {
    CountSink sink(kernel);
    for (std::int64_t block = 0; block < kernel.header().blocks(); ++block) {
        for (int w = 0; w < kernel.header().warps(); ++w) kernel.warp(block, w, sink);
    }
    std::map<std::string, TemplateCount> byName;
    for (std::size_t i = 0; i < sink.counts.size(); ++i) {
        const std::string& opcode = kernel.instructions()[i].opcode;
        TemplateCount& count = byName[opcode.substr(0, opcode.find('.'))];
        count.warps += sink.counts[i].warps, count.bytes += sink.counts[i].bytes;
    }
    std::vector<TemplateCount> out;
    for (auto& [name, count] : byName) count.opcode = name, out.push_back(count);
    return out;
}

}  // namespace orrery::gpusim
