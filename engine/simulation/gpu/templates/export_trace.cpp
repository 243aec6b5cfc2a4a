// Templates as traces that Accel-Sim and our own reader take (accel-sim-framework, util/tracer_nvbit, version 4).

#include "simulation/gpu/templates/kernel_template.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace orrery::gpusim {

namespace {

class TextSink final : public WarpSink {
public:
    explicit TextSink(const KernelTemplate& kernel) {
        all_ = lanesUpTo(kernel.header().lanes), digits_ = kernel.header().lanes / 4;
        int pc = 0;
        for (const TemplateInstruction& one : kernel.instructions()) {
            std::string text;
            text += one.destination >= 0 ? fmt::format("1 R{}", one.destination) : "0";
            text += fmt::format(" {} {}", one.opcode, one.sources.size());
            for (std::size_t i = 0; i < one.sources.size(); ++i)
                text += fmt::format(" R{}{}", one.sources[i], (one.reuse >> i & 1) != 0 ? ".reuse" : "");
            words_.push_back(fmt::format(" {} ", text));
            widths_.push_back(one.width);
            pcs_.push_back(fmt::format("{:04x}", pc));
            pc += 16;
        }
    }
    std::string lines;
    std::size_t count = 0;

    void op(int instruction, LaneMask lanes, unsigned groups) override {
        begin(instruction, lanes);
        lines += fmt::format("0 {:x}\n", groups);
    }
    void access(int instruction, LaneMask lanes, std::span<const std::uint64_t> addresses) override {
        if (lanes == 0) return;
        lanes &= all_;
        begin(instruction, lanes);
        lines += fmt::format("{} ", widths_[static_cast<std::size_t>(instruction)]);
        const std::uint64_t step = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
        const LaneMask from = lanes / (lanes & (~lanes + 1));  // the lanes, from the lowest
        bool even = (from & (from + 1)) == 0;                  // one run without gaps
        for (std::size_t i = 1; i < addresses.size() && even; ++i) even = addresses[i] - addresses[i - 1] == step;
        if (even) {
            lines += fmt::format("1 0x{:x} {} 0\n", addresses[0], static_cast<std::int64_t>(step));
            return;
        }
        lines += '0';
        for (const std::uint64_t address : addresses) lines += fmt::format(" 0x{:016x}", address);
        lines += " 0\n";
    }

private:
    void begin(int instruction, LaneMask lanes) {
        const auto at = static_cast<std::size_t>(instruction);
        ++count;
        lines += pcs_[at];
        lines += fmt::format(" {:0{}x}", lanes & all_, digits_);
        lines += words_[at];
    }
    std::vector<std::string> words_, pcs_;
    std::vector<int> widths_;
    LaneMask all_ = 0;
    int digits_ = 8;
};

}  // namespace

void writeTrace(const KernelTemplate& kernel, int id, std::ostream& to) {
    const KernelHeader& h = kernel.header();
    to << fmt::format(
        "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = {}\n"
        "-nregs = {}\n-binary version = {}\n-cuda stream id = 0\n-shmem base_addr = 0x{:016x}\n"
        "-local mem base_addr = 0x{:016x}\n-nvbit version = none\n-accelsim tracer version = 4\n"
        "-enable lineinfo = 0\n{}\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
        "mem_width [adrrescompress?] [mem_addresses] immediate\n\n",
        h.name, id, h.grid[0], h.grid[1], h.grid[2], h.block[0], h.block[1], h.block[2], h.sharedBytes, h.registers,
        h.binaryVersion, h.sharedBase, h.localBase,
        (h.lanes != 32 ? fmt::format("-warp lanes = {}\n", h.lanes) : "") +
            (h.cluster > 1 ? fmt::format("-cluster dim = ({},1,1)\n", h.cluster) : ""));
    TextSink sink(kernel);
    for (std::int64_t block = 0; block < h.blocks(); ++block) {
        to << fmt::format("#BEGIN_TB\n\nthread block = {},0,0\n\n", block);
        for (int w = 0; w < h.warps(); ++w) {
            sink.lines.clear(), sink.count = 0;
            kernel.warp(block, w, sink);
            to << fmt::format("warp = {}\ninsts = {}\n", w, sink.count) << sink.lines << '\n';
        }
        to << "#END_TB\n\n";
    }
}

Expected<std::string> exportTraces(std::span<const KernelTemplatePtr> kernels, const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(folder, error);
    const auto broken = [&](const fs::path& file) {
        return fail("gpu.export", fmt::format("`{}` cannot be written", file.string()), {},
                    "choose a folder that may be written, with room for the trace");
    };
    const fs::path list = fs::path(folder) / "kernelslist.g";
    std::ofstream names(list);
    int id = 0;
    for (const KernelTemplatePtr& kernel : kernels) {
        const std::string name = fmt::format("kernel-{}.traceg", ++id);
        std::ofstream file(fs::path(folder) / name);
        writeTrace(*kernel, id, file);
        if (!file.flush()) return broken(fs::path(folder) / name);
        names << name << '\n';
    }
    if (!names.flush()) return broken(list);
    return list.string();
}

}  // namespace orrery::gpusim
