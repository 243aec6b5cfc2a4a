#pragma once

// Instruction traces in the text form of Accel-Sim (`kernelslist.g`, `.traceg`, plain or packed), one thread block at a
// time. What depends on the lanes alone (sectors, bank conflicts) is worked out here, once.

#include "base/text/csv_stream.h"
#include "simulation/gpu/opcodes.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace orrery::gpusim {

struct TraceCommand {
    enum class Kind : std::uint8_t { Copy, Kernel };
    Kind kind = Kind::Kernel;
    std::uint64_t address = 0, bytes = 0;  ///< of a copy to the device
    std::string file;                      ///< of a kernel, found
    Place place;
};

/// The commands of a list, in order. Other lines are ignored, as by Accel-Sim. Fails with `gpu.trace…`.
Expected<std::vector<TraceCommand>> readKernelList(const std::string& path);

struct KernelHeader {
    std::string name;
    std::array<int, 3> grid{1, 1, 1}, block{1, 1, 1};
    int sharedBytes = 0, registers = 0, binaryVersion = 0, traceVersion = 3;
    std::uint64_t stream = 0, sharedBase = 0, localBase = 0;
    bool lineInfo = false;
    int lanes = 32;   ///< of a warp
    int cluster = 1;  ///< blocks that run together, side by side in the grid
    std::int64_t blocks() const { return std::int64_t{1} * grid[0] * grid[1] * grid[2]; }
    int threads() const { return block[0] * block[1] * block[2]; }
    int warps() const { return (threads() + lanes - 1) / lanes; }
};

/// What all executions of an instruction share.
struct StaticInstruction {
    Unit unit = Unit::Int;
    Action action = Action::Compute;
    Energy energy = Energy::Other;
    std::uint8_t bytes = 4;
    bool local = false, bypassesL1 = false;
    std::uint8_t sources = 0;  ///< distinct ones
    std::uint8_t sourcesWritten = 0;
    std::array<std::uint8_t, 4> source{};
    std::array<std::uint8_t, 4> slot{};  ///< of each source: its place among the operands
    std::uint8_t reuse = 0;              ///< a bit per source: the register-file cache keeps it
    bool loadsConstant = false;          ///< LDC
    bool multicast = false;              ///< a copy for all blocks of the cluster
    std::int32_t constant = -1;          ///< address of an operand in constant memory: bank × 65,536 + offset
    std::int16_t destination = -1;
    std::int16_t latency = 1, initiation = 1;
};

/// One sector that a warp asks for.
struct Access {
    std::uint64_t address = 0;  ///< of the sector
    std::uint32_t bytes = 0;    ///< which of its 32
    std::uint32_t lanes = 0;    ///< how many take part
};

/// One instruction of one warp. `first` and `count` tell its accesses; shared memory has passes in `count`, and
/// DEPBAR its number of groups.
struct Executed {
    std::uint32_t what = 0;  ///< index of the static part
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t pc = 0;  ///< in instructions of 16 bytes
    LaneMask mask = 0;
};

/// How an instruction reads, for people: `HMMA.16816.F32 R0, R4, R8`.
struct InstructionText {
    std::uint64_t pc = 0;
    std::string text;
};

/// Instructions of a program, by their place: 16 bytes each.
struct CodeExtent {
    std::uint32_t first = 0, end = 0;
    std::int64_t bytes() const { return 16 * (std::int64_t{end} - first); }
};

struct TraceBlock {
    std::vector<Executed> instructions;
    std::vector<std::uint32_t> begin;  ///< per warp; one more than there are warps
    std::vector<Access> accesses;
    bool passes = false;  ///< is not simulated: its accesses pass through L2, in no time
};

/// Where a block runs: thread-local memory is interleaved over all threads of the device.
struct LocalPlace {
    std::uint64_t threadBase = 0;  ///< first hardware thread of the block, counted over the device
    std::uint64_t stride = 0;      ///< hardware threads of the device
};

/// Where a kernel's instructions come from, one block after the other: a file, or a template.
class KernelSource {
public:
    virtual ~KernelSource() = default;
    virtual const KernelHeader& header() const = 0;
    /// False after the last.
    virtual Expected<bool> next(TraceBlock& block, const LocalPlace& local) = 0;
    virtual const std::vector<StaticInstruction>& statics() const = 0;
    virtual std::string path() const = 0;  ///< empty where it is no file
    /// Of the program, as far as it has been read; empty where nothing is known.
    virtual CodeExtent code() const { return {}; }
    virtual std::vector<InstructionText> texts() const = 0;  ///< of the static instructions met so far

protected:
    KernelSource() = default;
    KernelSource(const KernelSource&) = default;
    KernelSource(KernelSource&&) = default;
    KernelSource& operator=(const KernelSource&) = default;
    KernelSource& operator=(KernelSource&&) = default;
};

class KernelTrace final : public KernelSource {
public:
    static Expected<KernelTrace> open(const std::string& path, const Machine& machine);
    const KernelHeader& header() const override { return header_; }
    /// The next block in the order of the file. Fails with `gpu.trace…` where the file ends too early or says what no
    /// reader of it could mean.
    Expected<bool> next(TraceBlock& block, const LocalPlace& local) override;
    const std::vector<StaticInstruction>& statics() const override { return statics_; }
    std::string path() const override { return stream_.path(); }
    CodeExtent code() const override { return code_; }
    std::vector<InstructionText> texts() const override;

private:
    KernelTrace(CsvStream stream, const Machine& machine) : stream_(std::move(stream)), machine_(&machine) {}
    Expected<bool> readHeader();
    Expected<bool> readInstruction(std::string_view line, TraceBlock& block, const LocalPlace& local);
    Unexpected broken(std::string message, std::string expected = {}, std::string hint = {}) const;

    CsvStream stream_;
    const Machine* machine_;
    KernelHeader header_;
    bool inBlock_ = false;
    unsigned currentWarp_ = 0;
    std::uint64_t blocksRead_ = 0;  ///< also the one that is being read: the place of the next in the grid
    CodeExtent code_;
    std::vector<StaticInstruction> statics_;
    std::unordered_map<std::string, std::uint32_t> known_;
    struct Memo {
        std::string text;
        std::uint32_t what = 0;
    };
    std::vector<Memo> memo_;  // by program counter
    std::vector<std::uint64_t> addresses_;
};

}  // namespace orrery::gpusim
