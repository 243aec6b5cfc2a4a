#include "simulation/gpu/simulate.h"

#include "simulation/gpu/gpu.h"

#include <algorithm>

namespace orrery::gpusim {

namespace {

// One entry of a list: a copy, a kernel that is yet to be opened, or one that is open.
struct Entry {
    const TraceCommand* command = nullptr;
    KernelSource* source = nullptr;
};

// The kernels that are read and have not ended, as Accel-Sim keeps them: those whose stream has none before them start.
class Streams {
public:
    Streams(const Machine& machine, std::vector<Entry> entries, const SimulateOptions& options)
        : machine_(machine),
          gpu_(std::make_unique<Gpu>(machine, options)),
          entries_(std::move(entries)),
          most_(options.recorder ? 1 : static_cast<std::size_t>(std::max(1, machine.concurrentKernels))) {}

    Expected<std::vector<KernelResult>> run() {
        std::vector<KernelResult> out;
        while (true) {
            if (auto read = fill(); !read) return tl::unexpected(read.error());
            if (auto started = start(); !started) return tl::unexpected(started.error());
            if (!gpu_->running()) break;
            auto ended = gpu_->untilOneEnds();
            if (!ended) return tl::unexpected(ended.error());
            for (const std::size_t at : *ended) {
                const auto one = std::find_if(window_.begin(), window_.end(),
                                              [&](const Waiting& w) { return w.started && w.at == at; });
                out.resize(std::max(out.size(), one->index + 1));
                out[one->index] = gpu_->resultOf(at);
                window_.erase(one);
            }
        }
        return out;
    }

private:
    struct Waiting {
        std::unique_ptr<KernelTrace> own;
        KernelSource* source = nullptr;
        std::size_t index = 0, at = 0;
        bool started = false;
    };

    Expected<bool> fill() {
        while (window_.size() < most_ && next_ < entries_.size()) {
            const Entry& entry = entries_[next_++];
            if (entry.command && entry.command->kind == TraceCommand::Kind::Copy) {
                gpu_->copy(entry.command->address, entry.command->bytes);
                continue;
            }
            Waiting waiting{nullptr, entry.source, kernels_++, 0, false};
            if (entry.command) {
                auto trace = KernelTrace::open(entry.command->file, machine_);
                if (!trace) return tl::unexpected(trace.error());
                waiting.own = std::make_unique<KernelTrace>(std::move(*trace));
                waiting.source = waiting.own.get();
            }
            window_.push_back(std::move(waiting));
        }
        return true;
    }

    Expected<bool> start() {
        std::vector<std::uint64_t> busy;
        for (const Waiting& one : window_) {
            if (one.started) busy.push_back(one.source->header().stream);
        }
        for (Waiting& one : window_) {
            const auto stream = one.source->header().stream;
            if (one.started || std::find(busy.begin(), busy.end(), stream) != busy.end()) continue;
            busy.push_back(stream);
            auto at = gpu_->launch(*one.source);
            if (!at) return tl::unexpected(at.error());
            one.at = *at, one.started = true;
        }
        return true;
    }

    const Machine& machine_;
    std::unique_ptr<Gpu> gpu_;
    std::vector<Entry> entries_;
    std::vector<Waiting> window_;
    std::size_t most_, next_ = 0, kernels_ = 0;
};

}  // namespace

Expected<KernelResult> simulate(const Machine& machine, KernelSource& kernel, const SimulateOptions& options) {
    auto out = Streams(machine, {{nullptr, &kernel}}, options).run();
    if (!out) return tl::unexpected(out.error());
    return std::move(out->front());
}

Expected<std::vector<KernelResult>> simulate(const Machine& machine, std::span<KernelSource* const> kernels,
                                             const SimulateOptions& options) {
    std::vector<Entry> entries;
    for (KernelSource* kernel : kernels) entries.push_back({nullptr, kernel});
    return Streams(machine, std::move(entries), options).run();
}

Expected<std::vector<KernelResult>> simulate(const Machine& machine, const std::vector<TraceCommand>& commands,
                                             const SimulateOptions& options) {
    std::vector<Entry> entries;
    for (const TraceCommand& command : commands) entries.push_back({&command, nullptr});
    return Streams(machine, std::move(entries), options).run();
}

}  // namespace orrery::gpusim
