#pragma once

// A kernel that is written, not recorded: its instructions by a rule, one warp at a time. It feeds the simulator
// directly (TemplateSource) or becomes a trace in Accel-Sim's form (exportTrace); both have the same instructions,
// registers and addresses.

#include "simulation/gpu/trace.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery::gpusim {

/// All that a warp has, whether it is of 32 or of 64.
inline constexpr LaneMask allLanes = ~LaneMask{0};

/// One place of the program: at 16 bytes per instruction, in the order of definition.
struct TemplateInstruction {
    std::string opcode;
    int destination = -1;  ///< register, -1 for none
    std::vector<int> sources;
    int width = 0;       ///< bytes of a lane's access, 0 where it touches no memory
    unsigned reuse = 0;  ///< a bit per source that the register-file cache keeps, as the assembler marks it
};

/// Takes what a warp executes.
class WarpSink {
public:
    virtual ~WarpSink() = default;
    /// `groups`: of DEPBAR, copies that may still be under way.
    virtual void op(int instruction, LaneMask lanes = allLanes, unsigned groups = 0) = 0;
    /// One address per set bit of `lanes`, by lane. Without any lane the instruction is left out.
    virtual void access(int instruction, LaneMask lanes, std::span<const std::uint64_t> addresses) = 0;
};

/// A matrix or vector of a kernel, where its template has put it.
struct TemplateOperand {
    enum class Role : std::uint8_t { Input, Weights, Output } role = Role::Input;
    std::uint64_t first = 0;
    double bytes = 0;
};

/// Places that a block touches, all of one operand: rows of `bytes`, `stride` bytes apart.
struct TemplateRegion {
    std::uint64_t first = 0;
    double stride = 0;
    std::int64_t rows = 1, bytes = 0;
    std::int64_t piece = 0;  ///< bytes of a row that one step of the main loop takes; all where there is no loop
    bool written = false;    ///< and not read: what is added to in L2 is read
};

class KernelTemplate {
public:
    virtual ~KernelTemplate() = default;
    const std::vector<TemplateOperand>& operands() const { return operands_; }
    const KernelHeader& header() const { return header_; }  ///< its grid has one dimension
    const std::vector<TemplateInstruction>& instructions() const { return instructions_; }
    virtual void warp(std::int64_t block, int warp, WarpSink& sink) const = 0;
    /// What the block touches in global memory, by operand, as many for every block. Empty where a template does not
    /// say it.
    virtual std::vector<TemplateRegion> regions(std::int64_t) const { return {}; }

protected:
    KernelTemplate() = default;
    /// Opcodes are SASS; of wavefronts they become those of CDNA (`cdnaOpcode`).
    int define(std::string opcode, int destination = -1, std::vector<int> sources = {}, int width = 0,
               unsigned reuse = 0);
    /// By the version of the ISA: 942 (gfx942) has wavefronts of 64 lanes.
    void setVersion(int version);
    int lanes() const { return header_.lanes; }
    KernelHeader header_;
    std::vector<TemplateOperand> operands_;

private:
    std::vector<TemplateInstruction> instructions_;
};
using KernelTemplatePtr = std::shared_ptr<const KernelTemplate>;

/// Blocks [first, first + count) of a template.
struct BlockRange {
    std::int64_t first = 0, count = 0;
};

/// Some blocks of a template, or all, as a kernel of its own.
class TemplateSource final : public KernelSource {
public:
    /// The machine outlives it. Fails with `gpu.template` where an opcode is unknown or the machine lacks its unit.
    static Expected<TemplateSource> open(KernelTemplatePtr kernel, const Machine& machine,
                                         std::vector<BlockRange> blocks = {});
    const KernelHeader& header() const override { return header_; }
    Expected<bool> next(TraceBlock& block, const LocalPlace& local) override;
    const std::vector<StaticInstruction>& statics() const override { return statics_; }
    std::string path() const override { return {}; }
    CodeExtent code() const override { return {0, static_cast<std::uint32_t>(statics_.size())}; }
    std::vector<InstructionText> texts() const override;

private:
    const Machine* machine_ = nullptr;
    KernelTemplatePtr kernel_;
    KernelHeader header_;
    std::vector<BlockRange> ranges_;
    std::size_t range_ = 0;
    std::int64_t at_ = 0;
    std::vector<StaticInstruction> statics_;
};

/// Instructions by opcode up to its first dot, of the whole kernel: its blocks are walked.
struct TemplateCount {
    std::string opcode;
    std::uint64_t warps = 0;  ///< warp instructions
    std::uint64_t bytes = 0;  ///< lanes × width of accesses
};
std::vector<TemplateCount> countTemplate(const KernelTemplate& kernel);

/// Text of a `.traceg` (tracer version 4), block by block.
void writeTrace(const KernelTemplate& kernel, int id, std::ostream& to);
/// `kernelslist.g` and `kernel-N.traceg` of each, into a folder that is made. Fails with `gpu.export`.
Expected<std::string> exportTraces(std::span<const KernelTemplatePtr> kernels, const std::string& folder);

}  // namespace orrery::gpusim
