#include "simulation/gpu/simulate.h"

#include "base/hash.h"
#include "simulation/gpu/gpu.h"
#include "simulation/gpu/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

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
          options_(options),
          gpu_(std::make_unique<Gpu>(machine, options)),
          entries_(std::move(entries)),
          most_(options.recorder ? 1 : static_cast<std::size_t>(std::max(1, machine.concurrentKernels))) {}

    Expected<std::vector<KernelResult>> run() {
        if (options_.untilKernel > 0 || options_.snapshot || !options_.resume.empty()) {
            if (auto sound = prepare(); !sound) return tl::unexpected(sound.error());
        }
        const std::size_t first = kernels_;
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
                out.resize(std::max(out.size(), one->index - first + 1));
                out[one->index - first] = gpu_->resultOf(at);
                window_.erase(one);
            }
            // The blocks of a kernel that was stopped are still there.
            if (std::any_of(out.begin(), out.end(), [](const KernelResult& one) { return one.stopped; })) return out;
        }
        if (options_.snapshot) {
            auto state = gpu_->save();
            if (!state) return tl::unexpected(state.error());
            const auto list = listDigest(next_);
            if (!list) return tl::unexpected(list.error());
            *options_.snapshot = writeSnapshot({snapshotMachine(machine_), *list, next_, kernels_, {}}, *state);
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

    static bool isCopy(const Entry& entry) { return entry.command && entry.command->kind == TraceCommand::Kind::Copy; }
    static Unexpected wrong(std::string message, std::string expected, std::string hint) {
        return fail("gpu.snapshot", std::move(message), std::move(expected), std::move(hint));
    }

    Expected<KernelHeader> headerOf(const Entry& entry) const {
        if (!entry.command) return entry.source->header();
        auto trace = KernelTrace::open(entry.command->file, machine_);
        if (!trace) return tl::unexpected(trace.error());
        return trace->header();
    }

    // Of the copies and kernels that come first: the files' names and what they begin with, not where they lie.
    Expected<std::string> listDigest(std::size_t entries) const {
        Hash all;
        const auto whole = [&](auto... numbers) { (all.add(static_cast<std::uint64_t>(numbers)), ...); };
        whole(options_.cutsCopyAddresses);
        for (std::size_t i = 0; i < entries; ++i) {
            const Entry& entry = entries_[i];
            if (isCopy(entry)) {
                whole(entry.command->address, entry.command->bytes);
                continue;
            }
            const auto header = headerOf(entry);
            if (!header) return tl::unexpected(header.error());
            all.add(std::filesystem::path(entry.command->file).filename().string()).add(header->name);
            for (const auto& shape : {header->grid, header->block}) whole(shape[0], shape[1], shape[2]);
            whole(header->sharedBytes, header->registers, header->binaryVersion, header->traceVersion, header->stream,
                  header->sharedBase, header->localBase, header->lanes);
        }
        return all.hex();
    }

    // Ends of kernels that others run across are no place to stop at.
    Expected<bool> haveEndsBetween() const {
        if (most_ == 1) return true;
        const std::string alone = "a machine that runs one kernel at a time", hint = "-gpgpu_concurrent_kernel_sm 0";
        if (!machine_.modernCore)
            return wrong(
                "with Accel-Sim's option for kernels side by side, copies from the host are made as the list "
                "is read, ahead of the kernels, so there is no moment between two",
                alone + ", or --setting hardware", hint);
        std::optional<std::uint64_t> stream;
        std::size_t number = 0;
        for (const Entry& entry : entries_) {
            if (isCopy(entry)) continue;
            ++number;
            const auto header = headerOf(entry);
            if (!header) return tl::unexpected(header.error());
            if (stream.value_or(header->stream) != header->stream) {
                if (options_.untilKernel > 0 && number > options_.untilKernel)
                    return wrong(fmt::format("kernel {} is of another stream and may begin before kernel {} has ended, "
                                             "so there is no moment between the two",
                                             number, options_.untilKernel),
                                 "kernels of one stream, or " + alone, hint);
                return wrong("kernels of several streams may run side by side, so there is no moment between two",
                             "kernels of one stream, or " + alone, hint);
            }
            stream = header->stream;
        }
        return true;
    }

    // What a file could not be held against must not go into one.
    Expected<bool> mayKeep() const {
        if (!options_.snapshot && options_.resume.empty()) return true;
        if (machine_.origin.empty() ||
            std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.command; }))
            return wrong("a snapshot is of recorded kernels on a machine that was read from option files",
                         "--traces with --config", {});
        if (!options_.resident.empty())
            return wrong("a snapshot does not hold what is said to stand in L2", "a run without it", {});
        return true;
    }

    // Then goes on where a snapshot was taken.
    Expected<bool> prepare() {
        if (auto may = mayKeep(); !may) return may;
        if (auto may = haveEndsBetween(); !may) return may;
        const auto all = static_cast<std::size_t>(
            std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !isCopy(entry); }));
        if (options_.untilKernel > all)
            return wrong(fmt::format("there is no kernel {}", options_.untilKernel), fmt::format("1 to {}", all), {});
        if (options_.resume.empty()) return true;
        const auto snapshot = readSnapshot(options_.resume);
        if (!snapshot) return tl::unexpected(snapshot.error());
        if (snapshot->machine != snapshotMachine(machine_))
            return wrong("the snapshot is of another machine", "the configuration and settings that it was taken with",
                         "say --config, --setting and --set as then");
        const auto list = snapshot->entries <= entries_.size() ? listDigest(snapshot->entries) : std::string();
        if (!list) return tl::unexpected(list.error());
        if (snapshot->list != *list)
            return wrong("the snapshot is of another list of kernels", "the list that it was taken with", {});
        if (snapshot->kernels >= (options_.untilKernel > 0 ? options_.untilKernel : all))
            return wrong(fmt::format("the snapshot was taken after kernel {}", snapshot->kernels),
                         "a kernel of the list that comes later", "leave --resume out");
        if (!gpu_->restore(snapshot->state))
            return wrong("the snapshot cannot be read", "a file that --snapshot has written", "write it again");
        next_ = snapshot->entries, kernels_ = snapshot->kernels;
        return true;
    }

    Expected<bool> fill() {
        while (window_.size() < most_ && next_ < entries_.size()) {
            const Entry& entry = entries_[next_];
            if (options_.untilKernel > 0 && kernels_ == options_.untilKernel) break;
            // Accel-Sim copies as it reads the list; a real copy from the host waits for the kernels before it.
            if (isCopy(entry) && machine_.modernCore && !window_.empty()) break;
            ++next_;
            if (isCopy(entry)) {
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
    const SimulateOptions& options_;
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
