#pragma once

// What a core is to the block model: widths and rules of its front end, its ports, and the port table of its
// instruction forms. Read from presets/cores/NAME.yaml and the CSV file that it names, or from a table of the user's.

#include "base/diagnostic.h"
#include "simulation/cpu/block/code.h"
#include "simulation/cpu/block/mix.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery::block {

inline constexpr std::size_t mostPorts = 16;

/// Micro-operations of one form that may run on the same set of ports.
struct PortUse {
    std::uint16_t ports = 0;  ///< bit i is port i
    double uops = 0;          ///< cycles that they hold a port, in sum
};

/// Where a latency begins or ends, beside register slots 0..9.
inline constexpr std::uint8_t AddressBase = 20, AddressIndex = 21, StoredData = 22;

struct Latency {
    std::uint8_t from, to;
    float cycles;
};

struct Form {
    std::string name;
    std::vector<PortUse> ports;
    double uops = 1;        ///< unfused
    double fusedSlots = 1;  ///< fused domain, at issue and retirement
    double decoded = 1;     ///< by the decoders
    double microcode = 0;   ///< from the microcode sequencer
    bool complexDecoder = false;
    std::vector<Latency> latencies;
    bool latenciesStated = false;
    const Latency* find(std::uint8_t from, std::uint8_t to) const;
};

struct CoreRules {
    std::string id, title;
    std::vector<std::string> portNames;
    double issueWidth = 4;   ///< fused micro-operations per cycle
    int predecodeWidth = 5;  ///< instructions per 16-byte line and cycle; 0: not modelled
    int fetchBytes = 16;
    int lengthPenalty = 3;  ///< cycles of a length-changing prefix
    int decoders = 4;
    int decoderSlots = 4;   ///< micro-operations that the decoders yield together
    bool fusesLast = true;  ///< a macro-fusible instruction may use the last decoder
    bool eliminatesGeneral = true, eliminatesVector = true;
    bool splitsIndexed = false;      ///< indexed operands are never micro-fused
    bool splitsIndexedThree = true;  ///< of VEX forms with another source they are not
    double microcodeSwitch = 2;      ///< cycles lost around the sequencer
    double forward = 4;              ///< least cycles from a store's data to a load of it
    double forwardVector = 5;
    double blocked = 13;  ///< cycles from a store to a load that overlaps it in part
    /// Of the cycles that predecoding alone would add to blocks of fewer than `shortBytes` bytes, the share that is
    /// measured: the rest of the copies come from the cache of decoded instructions.
    double shortShare = 1;
    int shortBytes = 0;
    double locked = 18;  ///< cycles from a locked operation to the next on the same memory
    /// Measured by predicted cycles, by the bound that binds: nine of ten blocks lie between.
    std::array<std::array<double, 2>, 5> interval{{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}};
    double loadLatency = 5, loadLatencyVector = 6;
    double chaseGain = 1;  ///< cycles saved by a load of [base + 0..2047] whose base was loaded
    std::uint16_t loadPorts = 0, storeAddressPorts = 0, indexedStorePorts = 0, storeDataPorts = 0, aluPorts = 0;
    bool bankConflicts =
        false;  ///< two loads of one cycle meet where bits 2 to 5 of their addresses agree, in other lines
};

struct Core {
    CoreRules rules;
    std::vector<Form> forms;
    std::unordered_map<std::uint64_t, int> byKey;
    std::string source;  ///< of the port table
    MixTable mixes;      ///< empty where there is none
    /// The form of an instruction, or of its nearest kin (another size of memory, a register for a fixed one); null if
    /// none.
    const Form* find(const FormKey& key) const;
};

/// A table in the columns of uops.info: `instruction`, `ports` ("2*p01+1*p23"), and where there are some `uops`,
/// `retire_slots`, `uops_decoded`, `uops_microcode`, `complex_decoder`, `latency`. Codes `block.table`,
/// `block.ports`, with file and line. Rows of forms that no decoder yields are passed over.
Expected<void> readPortTable(const std::string& path, Core& core);
/// `presets/cores/<id>.yaml`, or a file; with `table` the port table is that one. A core may have a port table, a table
/// of mixes, or both.
Expected<std::shared_ptr<const Core>> loadCore(const std::string& id, const std::string& table = {});
std::vector<std::string> coreIds();

}  // namespace orrery::block
