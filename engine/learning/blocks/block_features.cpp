#include "learning/blocks/block_features.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::block {

namespace {

// What the loop over the instructions counts, in the order of the names.
enum Counted : std::size_t {
    Loads,
    Stores,
    LoadStores,
    Branches,
    Fusing,
    ZeroIdioms,
    ChainBreakers,
    Moves,
    VectorMoves,
    Nops,
    StackMoves,
    Addresses,
    Indexed,
    IndexedStores,
    Narrow,
    HighBytes,
    Immediates,
    LengthChanging,
    Vex,
    Legacy,
    Wide,
    Old,
    Locked,
    Repeated,
    Multiplies,
    Divides,
    Shifts,
    Exchanges,
    FlagReads,
    NarrowLoads,
    WideAccesses,
    Relative,
    Complex,
    Microcode,
    Unfused,
    LatencySum,
    LatencyMost,
    Unnamed,
    countedCount
};

constexpr std::array<std::string_view, countedCount> countedNames{"loads",
                                                                  "stores",
                                                                  "loads and stores",
                                                                  "branches",
                                                                  "fusing",
                                                                  "zero idioms",
                                                                  "broken chains",
                                                                  "eliminated moves",
                                                                  "vector moves",
                                                                  "nops",
                                                                  "stack moves",
                                                                  "address sums",
                                                                  "indexed",
                                                                  "indexed stores",
                                                                  "narrow writes",
                                                                  "high bytes",
                                                                  "immediates",
                                                                  "length-changing",
                                                                  "vex",
                                                                  "legacy vector",
                                                                  "256 bit",
                                                                  "x87 and mmx",
                                                                  "locked",
                                                                  "repeated",
                                                                  "multiplies",
                                                                  "divides",
                                                                  "shifts",
                                                                  "exchanges",
                                                                  "flag reads",
                                                                  "narrow loads",
                                                                  "wide accesses",
                                                                  "relative",
                                                                  "complex decoder",
                                                                  "microcode",
                                                                  "unfused uops",
                                                                  "latency sum",
                                                                  "latency most",
                                                                  "mnemonics without a column"};

enum Shared : std::size_t {
    LnCycles,
    FirstBound,
    SecondBound = FirstBound + boundCount,
    Instructions,
    Bytes,
    BytesInLine,
    Slots,
    Uops,
    Path,
    PortsFrom,
    sharedCount = PortsFrom + mostPorts
};

std::vector<std::string> madeNames() {
    std::vector<std::string> names{"ln cycles"};
    for (std::size_t b = 0; b < boundCount; ++b)
        names.push_back(std::string(toText(static_cast<Bound>(b))) + " by cycles");
    for (const char* each : {"second bound by cycles", "instructions", "bytes", "bytes in the last line",
                             "slots by cycles", "uops by cycles", "path by cycles"})
        names.emplace_back(each);
    for (std::size_t p = 0; p < mostPorts; ++p) names.push_back("port " + std::to_string(p) + " by cycles");
    for (const auto each : countedNames) names.emplace_back(each);
    return names;
}

void count(const Instruction& one, const Form* form, double* counted) {
    const bool load = one.memory.read || one.memory2.read, store = one.memory.write || one.memory2.write;
    counted[Loads] += load;
    counted[Stores] += store;
    counted[LoadStores] += load && store;
    counted[Branches] += one.branch;
    counted[Fusing] += one.fusesFirst;
    counted[ZeroIdioms] += one.zeroIdiom;
    counted[ChainBreakers] += one.breaksChain;
    counted[Moves] += one.registerMove && !one.vectorMove;
    counted[VectorMoves] += one.registerMove && one.vectorMove;
    counted[Nops] += one.nop;
    counted[StackMoves] += one.stack;
    counted[Addresses] += one.meaning == Meaning::Lea;
    const bool indexed = one.memory.index != NoRegister;
    counted[Indexed] += indexed && load;
    counted[IndexedStores] += indexed && store;
    bool narrow = false, high = false, wide = false, old = false, vector = false;
    for (std::uint8_t i = 0; i < one.uses; ++i) {
        const RegisterUse& use = one.use[i];
        narrow |= use.write && use.reg < VectorRegister && use.bytes < 4;
        high |= use.high;
        wide |= use.bytes >= 32;
        vector |= use.reg >= VectorRegister && use.reg < StackRegister;
        old |= use.reg >= StackRegister && use.reg < MaskRegister;
    }
    counted[Narrow] += narrow;
    counted[HighBytes] += high;
    counted[Immediates] += one.hasImmediate;
    counted[LengthChanging] += one.changesLength;
    counted[Vex] += one.vex;
    counted[Legacy] += vector && !one.vex;
    counted[Wide] += wide;
    counted[Old] += old;
    counted[Locked] += one.key.prefix == 1;
    counted[Repeated] += one.key.prefix >= 2;
    counted[Multiplies] += one.meaning == Meaning::Multiply;
    counted[Divides] += one.meaning == Meaning::Divide || one.meaning == Meaning::DivideSigned;
    counted[Shifts] +=
        one.meaning == Meaning::ShiftLeft || one.meaning == Meaning::ShiftRight || one.meaning == Meaning::ShiftSigned;
    counted[Exchanges] += one.meaning == Meaning::Exchange;
    counted[FlagReads] += one.flagsRead;
    counted[NarrowLoads] += load && one.memory.bytes < 4;
    counted[WideAccesses] += (load || store) && one.memory.bytes > 16;
    counted[Relative] += one.memory.relative;
    if (!form) return;
    counted[Complex] += form->complexDecoder;
    counted[Microcode] += form->microcode;
    counted[Unfused] += form->uops - form->fusedSlots;
    double most = 0;
    for (const Latency& each : form->latencies) most = std::max(most, static_cast<double>(each.cycles));
    counted[LatencySum] += most;
    counted[LatencyMost] = std::max(counted[LatencyMost], most);
}

}  // namespace

std::span<const std::string_view> plainFeatureNames() {
    static const std::vector<std::string> made = madeNames();
    static const std::vector<std::string_view> names(made.begin(), made.end());
    return names;
}

std::string mnemonicOf(const FormKey& key) {
    FormKey bare;
    bare.mnemonic = key.mnemonic;
    bare.prefix = key.prefix;
    return toText(bare);
}

MnemonicColumns::MnemonicColumns(std::vector<std::string> names) : names_(std::move(names)) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
        FormKey key;
        if (!readForm(names_[i], key)) continue;
        const std::size_t at = std::size_t{key.mnemonic} * 4 + key.prefix;
        if (at >= column_.size()) column_.resize(at + 1, -1);
        if (column_[at] < 0) column_[at] = static_cast<std::int16_t>(i);
    }
}

int MnemonicColumns::columnOf(const FormKey& key) const {
    const std::size_t at = std::size_t{key.mnemonic} * 4 + key.prefix;
    return at < column_.size() ? column_[at] : -1;
}

void blockFeatures(const Analyser& analyser, const Code& code, const Prediction& prediction,
                   const MnemonicColumns& mnemonics, std::span<double> into) {
    std::fill(into.begin(), into.end(), 0.0);
    double* shared = into.data();
    double* counted = shared + sharedCount;
    double* named = counted + countedCount;
    const double cycles = std::max(prediction.cycles, 1e-3);
    const double width = analyser.core().rules.issueWidth;
    const auto forms = analyser.forms();
    shared[LnCycles] = std::log(cycles);
    double first = 0, second = 0;
    for (std::size_t b = 0; b < boundCount; ++b) {
        const double its = prediction.bounds[b];
        shared[FirstBound + b] = its / cycles;
        second = std::max(second, std::min(first, its));
        first = std::max(first, its);
    }
    shared[SecondBound] = second / cycles;
    shared[Instructions] = static_cast<double>(code.instructions.size());
    shared[Bytes] = static_cast<double>(code.bytes.size());
    shared[BytesInLine] = static_cast<double>(code.bytes.size() % 16);
    shared[Slots] = prediction.fusedSlots / width / cycles;
    shared[Uops] = prediction.uops / width / cycles;
    shared[Path] = prediction.path / cycles;
    for (std::size_t p = 0; p < mostPorts; ++p) shared[PortsFrom + p] = prediction.portCycles[p] / cycles;
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const Instruction& one = code.instructions[i];
        count(one, forms[i], counted);
        const int column = mnemonics.columnOf(one.key);
        (column >= 0 ? named[column] : counted[Unnamed]) += 1;
    }
}

}  // namespace orrery::block
