#include "evaluation/counters/code_features.h"

#include "simulation/gpu/occupancy.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

enum Class : std::size_t { Matrix, Vector, Special, Shared, Load, Store, Barrier, Rest, classes };

Class classOf(std::string_view opcode) {
    const auto starts = [&](std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return opcode.starts_with(word); });
    };
    if (starts({"BAR", "DEPBAR", "LDGDEPBAR"})) return Barrier;  // before loads: LDGDEPBAR is none
    if (starts({"HMMA", "HGMMA", "IMMA", "IGMMA", "QGMMA", "QMMA", "BMMA", "UTC"})) return Matrix;
    if (starts({"FFMA", "FADD", "FMUL", "HFMA", "HADD", "HMUL", "FMNMX", "FSETP"})) return Vector;
    if (starts({"MUFU"})) return Special;
    if (starts({"LDSM", "LDS.", "STS"})) return Shared;
    if (starts({"LDG", "UBLKCP", "UTMALDG"})) return Load;
    if (starts({"STG", "RED", "ATOM"})) return Store;
    return Rest;
}

// A warp's instructions by class, and the bytes of its accesses.
class Mix final : public gpusim::WarpSink {
public:
    explicit Mix(const gpusim::KernelTemplate& kernel) : kernel_(kernel) {
        for (const auto& one : kernel.instructions()) of_.push_back(classOf(one.opcode));
    }
    void op(int instruction, gpusim::LaneMask, unsigned) override { count(instruction); }
    void access(int instruction, gpusim::LaneMask lanes, std::span<const std::uint64_t> addresses) override {
        if (lanes == 0) return;
        count(instruction);
        const double bytes =
            static_cast<double>(addresses.size()) * kernel_.instructions()[static_cast<std::size_t>(instruction)].width;
        const Class own = of_[static_cast<std::size_t>(instruction)];
        if (own == Load) loaded += bytes;
        if (own == Store) stored += bytes;
    }
    std::array<double, classes> counts{};
    double loaded = 0, stored = 0;
    double all() const {
        double sum = 0;
        for (const double each : counts) sum += each;
        return sum;
    }

private:
    void count(int instruction) { ++counts[of_[static_cast<std::size_t>(instruction)]]; }
    const gpusim::KernelTemplate& kernel_;
    std::vector<Class> of_;
};

}  // namespace

const std::array<GpuCounterInfo, gpuCounters>& gpuCounterInfos() {
    static const std::array<GpuCounterInfo, gpuCounters> infos{
        {{"cycles", "Cycles", "of the core clock, without the launch"},
         {"dram_bytes", "DRAM bytes", "to and from main memory", false, true},
         {"l2_bytes", "L2 bytes", "in requests that reach L2", false, true},
         {"l2_hit_rate", "L2 hits", "share of L2's reads that it answers itself", true},
         {"l1_hit_rate", "L1 hits", "share of loaded sectors that L1 answers; copies that pass it by count", true},
         {"occupancy", "Occupancy", "resident warps over the most that a multiprocessor holds", true},
         {"issue_utilisation", "Issued", "share of the schedulers' slots that issue", true},
         {"wait_registers", "Waits for registers", "share of the slots in which registers were pending", true},
         {"unit_busy", "Unit busy", "share of the slots in which a unit was full", true}}};
    return infos;
}

const std::vector<std::string>& codeFeatureNames() {
    static const std::vector<std::string> names{"blocks",
                                                "warps",
                                                "registers",
                                                "shared bytes",
                                                "blocks held",
                                                "warps held",
                                                "L1 bytes",
                                                "waves",
                                                "share of waves filled",
                                                "steps",
                                                "tensor",
                                                "vector",
                                                "special",
                                                "shared",
                                                "loads",
                                                "stores",
                                                "barriers",
                                                "instructions",
                                                "loaded bytes",
                                                "stored bytes",
                                                "block bytes",
                                                "operand bytes",
                                                "result bytes",
                                                "asked over operands",
                                                "operands over L2",
                                                "wave bytes over L2",
                                                "multiprocessors",
                                                "most warps",
                                                "L2 bytes",
                                                "DRAM bytes per cycle",
                                                "issue cycles",
                                                "memory cycles",
                                                "tensor cycles",
                                                "memory over issue",
                                                "loads per warp held"};
    return names;
}

Expected<KernelCode> codeOf(const KernelProgram& program, const gpusim::Machine& machine, const GpuView& gpu) {
    const auto kernel = program.build(0);
    const auto fit = gpusim::occupancy(machine, kernel->header());
    if (fit.fits < 1) return gpusim::doesNotFit(machine, kernel->header().name, {});
    const auto blocks = static_cast<double>(kernel->header().blocks()),
               warps = static_cast<double>(kernel->header().warps());
    // A block in the middle stands for all: its first and its last warp.
    Mix mix(*kernel);
    const std::int64_t middle = kernel->header().blocks() / 2;
    kernel->warp(middle, 0, mix);
    double share = 1;
    if (kernel->header().warps() > 1)
        kernel->warp(middle, static_cast<int>(kernel->header().warps()) - 1, mix), share = 0.5;
    for (double& each : mix.counts) each *= share;
    mix.loaded *= share, mix.stored *= share;
    double read = 0, written = 0, operands = 0, results = 0;
    for (const auto& region : kernel->regions(middle))
        (region.written ? written : read) += static_cast<double>(region.rows * region.bytes);
    for (const auto& operand : kernel->operands())
        (operand.role == gpusim::TemplateOperand::Role::Output ? results : operands) += operand.bytes;
    if (read + written <= 0) read = mix.loaded * warps, written = mix.stored * warps;
    if (operands + results <= 0) operands = read * blocks, results = written * blocks;
    const double sms = machine.sms, wave = sms * fit.fits, waves = blocks / wave;
    const double held = std::min<double>(fit.fits, std::ceil(blocks / sms));
    const double clock = machine.coreMhz * 1e6, dram = gpu.dramBandwidth / clock;
    const double instructions = mix.all() * warps * blocks;
    const double issue = instructions / (std::min(sms, blocks) * machine.schedulers);
    const double memory = (operands + results) / dram;
    const double tensor = mix.counts[Matrix] * warps * blocks / (std::min(sms, blocks) * machine.schedulers);
    const double asked = blocks * (read + written), l2 = std::max(1.0, gpu.l2Bytes);
    KernelCode code;
    code.features = {blocks,
                     warps,
                     static_cast<double>(kernel->header().registers),
                     1 + static_cast<double>(kernel->header().sharedBytes),
                     static_cast<double>(fit.fits),
                     held * warps,
                     1 + static_cast<double>(fit.l1Bytes),
                     waves,
                     waves / std::ceil(waves),
                     static_cast<double>(std::max<std::int64_t>(1, program.steps))};
    for (const double each :
         {mix.counts[Matrix], mix.counts[Vector], mix.counts[Special], mix.counts[Shared], mix.counts[Load],
          mix.counts[Store], mix.counts[Barrier], mix.all(), mix.loaded, mix.stored})
        code.features.push_back(1 + each);
    for (const double each :
         {1 + read + written, 1 + operands, 1 + results, (1 + asked) / (1 + operands + results), (1 + operands) / l2,
          (1 + std::min(blocks, wave) * read) / l2, sms, static_cast<double>(machine.warps()), l2, dram, 1 + issue,
          1 + memory, 1 + tensor, (1 + memory) / (1 + issue), (1 + mix.counts[Load]) / (held * warps)})
        code.features.push_back(each);
    const double longest = std::max({issue, memory, tensor, 1.0});
    auto& plain = code.plain;
    const auto set = [&](GpuCounter counter, double value) { plain[static_cast<std::size_t>(counter)] = value; };
    set(GpuCounter::Cycles, longest);
    set(GpuCounter::DramBytes, std::max(32.0, operands + results));
    set(GpuCounter::L2Bytes, std::max(32.0, asked));
    set(GpuCounter::L2Hits, std::clamp(1 - operands / std::max(1.0, blocks * read), 0.0, 1.0));
    set(GpuCounter::L1Hits, 0);
    set(GpuCounter::Occupancy, std::min(1.0, held * warps / machine.warps()));
    set(GpuCounter::Issue, std::min(1.0, issue / longest));
    return code;
}

}  // namespace orrery
