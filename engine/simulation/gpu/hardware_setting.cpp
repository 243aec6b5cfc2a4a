#include "simulation/gpu/hardware_setting.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::gpusim {

namespace {

// Multiplications of `HMMA.16816.F32`: m, n and k in digits, of which n is always 8.
double multiplicationsOf(std::string_view text) {
    struct Shape {
        std::string_view digits;
        double multiplications;
    };
    // A step of HMMA.884 is a quarter of a quadpair's product: 256 over the warp.
    static constexpr std::array<Shape, 10> shapes{{{".884", 256},
                                                   {".1684", 16 * 8 * 4},
                                                   {".1688", 16 * 8 * 8},
                                                   {".16816", 16 * 8 * 16},
                                                   {".16832", 16 * 8 * 32},
                                                   {".16864", 16 * 8 * 64},
                                                   {".8816", 8 * 8 * 16},
                                                   {".8832", 8 * 8 * 32},
                                                   {".88128", 8 * 8 * 128},
                                                   {".168256", 16 * 8 * 256}}};
    // Of CDNA: `v_mfma_f32_16x16x16_f16`.
    if (const auto at = text.starts_with("v_mfma") ? text.find_first_of('x') : std::string_view::npos;
        at != std::string_view::npos) {
        double product = 1;
        const auto from = text.rfind('_', at);
        for (std::size_t i = from + 1, number = 0; i <= text.size(); ++i) {
            if (i < text.size() && text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + static_cast<std::size_t>(text[i] - '0');
                continue;
            }
            product *= static_cast<double>(std::max<std::size_t>(1, number));
            number = 0;
            if (i < text.size() && text[i] != 'x') break;
        }
        return product;
    }
    double found = 16 * 8 * 16;
    std::size_t longest = 0;
    for (const Shape& shape : shapes) {
        if (shape.digits.size() > longest && text.find(shape.digits) != std::string_view::npos)
            found = shape.multiplications, longest = shape.digits.size();
    }
    return found;
}

}  // namespace

UnitTiming hardwareTiming(std::string_view text, const Opcode& opcode, const GpuGeneration& g) {
    const auto name = text.substr(0, text.find('.'));
    const auto of = [](const GpuGeneration::Pipe& pipe) { return UnitTiming{pipe.latency, pipe.initiation, true}; };
    if (opcode.energy == Energy::Tensor) {
        // Rates relative to half precision: integers of 8 and floats of 8 bits twice, TF32 half, FP64 a sixteenth.
        double rate = std::max(1.0, g.tensorMacs);
        if (name.starts_with("I") || name.starts_with("Q")) rate *= 2;
        if (name.starts_with("B")) rate *= 8;
        if (name.starts_with("D")) rate /= 16;
        if (text.find("TF32") != std::string_view::npos) rate /= 2;
        const int initiation = std::max(1, static_cast<int>(std::lround(multiplicationsOf(text) / rate)));
        return {std::max(g.tensorLatency, initiation), initiation, true};
    }
    if (opcode.half) return of(g.half);
    if (name == "SHFL" || name.starts_with("ds_bpermute") || name.starts_with("ds_permute") ||
        name.starts_with("ds_swiz"))
        return of(g.shuffle);
    if (name.starts_with("v_cvt")) return of(g.conversion);
    // Through the scalar cache, which answers as the vector L1 does.
    if (name.starts_with("s_load")) return {static_cast<int>(std::lround(g.l1.cycles)), g.uniform.initiation, true};
    if (name == "HMUL2") return of(g.half);
    if ((name == "LDC" || name == "ULDC") && g.constants.loadLatency > 0)
        return {g.constants.loadLatency, (name == "LDC" ? g.alu : g.uniform).initiation, true};
    static constexpr std::array<std::string_view, 6> conversions{"F2F", "F2I", "I2F", "FRND", "POPC", "FLO"};
    if (std::find(conversions.begin(), conversions.end(), name) != conversions.end()) return of(g.conversion);
    switch (opcode.unit) {
        case Unit::Sp:
            return of(g.fp32);
        case Unit::Dp:
            return of(g.fp64);
        case Unit::Sfu:
            return of(g.special);
        case Unit::Special1:
            return of(g.branch);
        case Unit::Special4:
            return of(g.uniform);
        default:
            return of(g.alu);
    }
}

void useHardwareSetting(Machine& m, const GpuGeneration& g) {
    m.modernCore = true;
    m.generation = g;
    if (m.askedCode) m.generation.code = *m.askedCode;
    if (m.askedConstants) m.generation.constants = *m.askedConstants;
    if (m.askedGpc && g.clusters.sms > 0) m.generation.clusters.sms = *m.askedGpc;
    m.origin += "/" + g.name;
    m.scheduler = g.oldestFirst ? Scheduler::OldestFirst : Scheduler::GreedyThenYoungest;
    m.lanes = g.lanes, m.issueEvery = g.issueEvery;
    m.ordersMemory = g.ordersMemory, m.fillsLines = g.fillsLines;
    m.launchLatency = static_cast<int>(g.launchCycles);
    // Grids that a device holds at a time: CUDA C++ Programming Guide, technical specifications per compute capability
    // (128 from 7.0 on, but for 7.2, of which no generation is here). Of AMD's GPUs no such number was found, so they
    // run one at a time unless the files say otherwise; so do dies with an L2 each, which is emptied between kernels.
    if (m.dies == 1 && m.lanes == 32) m.concurrentKernels = 128;
    for (auto& unit : m.units) unit.present = true;
    // The stages around each level (README): a chain of loads costs the level's latency and these.
    const double core = m.coreMhz;
    const auto whole = [](double cycles) { return std::max(1, static_cast<int>(std::lround(cycles))); };
    m.sharedLatency = whole(g.shared.at(core) - 5);
    m.l1Latency = whole(g.l1.at(core) - 4);
    m.ropLatency = whole(g.l2.at(core) - m.l1Latency - 13);
    const auto& t = m.dram;
    // A row in place of another, and the stages on both sides of the channel.
    const double dramCycles = (t.rp + t.rcd + t.cl + t.burst + 2) * m.coreMhz / m.dramMhz;
    m.dramLatency = whole(g.dram.at(core) - g.l2.at(core) - dramCycles);
    // Eight more between the slice and the cache behind it.
    if (m.lastLevel.bytes > 0)
        m.lastLevel.latency = whole(std::max(g.lastLevel.at(core), g.l2.at(core)) - g.l2.at(core) - 8);
    m.l1Banks = std::max(1, whole(g.l1Bytes / 32));
}

}  // namespace orrery::gpusim
