// The machine's state between two kernels: what stands in caches and open rows, what is still on its way to memory,
// clocks, and whose turn it is.

#include "simulation/gpu/snapshot.h"

#include "base/hash.h"
#include "base/text/words.h"
#include "simulation/gpu/gpu.h"
#include "simulation/gpu/snapshot_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace orrery::gpusim {

namespace {

constexpr std::string_view begins = "orrery-gpu-snapshot ";
// To be raised whenever what is kept, or what it means to the machine, changes.
constexpr int format = 4;

// What the bytes look like: another build's members would be read as ours.
std::string layout() {
    return fmt::format("{}-{}-{}-{}-{}", format, sizeof(Request), sizeof(Sm), sizeof(Slice), sizeof(DramChannel));
}

constexpr std::uint32_t nobody = 0xffffffffu;  // waits for the sector

}  // namespace

std::string snapshotMachine(const Machine& machine) {
    if (machine.origin.empty()) return {};
    Hash all;
    all.add(machine.origin).add(machine.name).add(std::uint64_t{machine.modernCore});
    if (machine.modernCore) {
        const GpuGeneration& g = machine.generation;
        const auto whole = [&](auto... numbers) { (all.add(static_cast<std::uint64_t>(numbers)), ...); };
        const auto distance = [&](const GpuGeneration::Distance& d) { all.add(d.cycles).add(d.nanoseconds); };
        all.add(g.name);
        for (const auto& [name, pipe] : namedPipes) whole((g.*pipe).latency, (g.*pipe).initiation);
        distance(g.shared), distance(g.l1), distance(g.l2), distance(g.dram), distance(g.lastLevel);
        all.add(g.tensorMacs).add(g.l1Bytes).add(g.l2Bytes).add(g.launchCycles);
        whole(g.computeCapability, g.tensorLatency, g.unifiedBytes, g.copiesPast, g.matrixLoads, g.groups, g.groupRows,
              g.lanes, g.issueEvery, g.ordersMemory, g.fillsLines, g.oldestFirst);
        for (const int bytes : g.carveBytes) whole(bytes);
        for (const GpuGeneration::LineCache& cache :
             {g.code.l0, g.code.l1, g.code.shared, g.constants.operands, g.constants.loads})
            whole(cache.bytes, cache.ways, cache.latency);
        all.add(g.clusters.sms).add(g.clusters.bytes);
        whole(g.clusters.most, g.clusters.barrier, g.clusters.pairLatency, g.clusters.remoteLatency);
        whole(g.code.l2Latency, g.code.ahead, g.constants.loadLatency, machine.coldCode);
    }
    return all.hex();
}

std::string writeSnapshot(const Snapshot& of, std::string_view state) {
    const std::string about = fmt::format("{} {} {} {} {} ", layout(), of.machine, of.list, of.entries, of.kernels);
    return fmt::format("{}{}{}\n", begins, about, Hash().add(about).add(state).hex()).append(state);
}

Expected<Snapshot> readSnapshot(std::string_view bytes) {
    const auto wrong = [](std::string message) {
        return fail("gpu.snapshot", std::move(message), "a file that --snapshot of this version has written",
                    "write it again");
    };
    const auto end = bytes.find('\n');
    if (!bytes.starts_with(begins) || end == std::string_view::npos) return wrong("this is no snapshot");
    const auto words = split(bytes.substr(begins.size(), end - begins.size()), ' ');
    const auto entries = words.size() == 6 ? wholeIn(words[3]) : std::nullopt,
               kernels = words.size() == 6 ? wholeIn(words[4]) : std::nullopt;
    if (!entries || !kernels || *entries < 0 || *kernels < 0) return wrong("the snapshot is damaged");
    const std::string_view state = bytes.substr(end + 1);
    const auto about = bytes.substr(begins.size(), end - begins.size() - words[5].size());
    if (Hash().add(about).add(state).hex() != words[5]) return wrong("the snapshot is damaged or cut short");
    if (words[0] != layout()) return wrong("the snapshot is of another version");
    return Snapshot{std::string(words[1]), std::string(words[2]), static_cast<std::size_t>(*entries),
                    static_cast<std::size_t>(*kernels), state};
}

template <class Archive>
void Gpu::keep(Archive& archive) {
    archive(core_, network_, l2_, dram_, copied_, lastPlaced_, lastPlacedAtStart_, lastIssued_, requests_, replies_,
            requestsAt_, repliesAt_);
    for (Slice& slice : slices_) archive(slice);
    for (DramChannel& channel : channels_) archive(channel);
    for (Sm& sm : sms_) archive(sm);
}

Expected<std::string> Gpu::save() {
    if (!std::all_of(sms_.begin(), sms_.end(), [](const Sm& sm) { return sm.quiet(); })) {
        return fail("gpu.snapshot", "loads are still under way that no warp of the kernel waited for",
                    "kernels that wait for their copies into shared memory", "end at another kernel");
    }
    SnapshotArchive archive;
    keep(archive);
    const std::uint64_t count = archive.requests().size();
    std::string out(reinterpret_cast<const char*>(&count), sizeof count);
    for (const Request* one : archive.requests()) {
        Request request = *one;
        request.nextL1 = request.nextL2 = nullptr;
        out.append(reinterpret_cast<const char*>(&request), sizeof request);
    }
    return out + archive.bytes();
}

// Requests go back to where they were taken from: lines written back to their slice, all others to their SM.
Request* Gpu::spareFor(const Request& like) {
    return like.kind == Request::Kind::WriteBack ? slices_[like.slice].pool.take() : sms_[like.sm].spare();
}

// Between two kernels nothing is under way but lines that are written back, and sectors that no load waits for.
bool Gpu::mayBeUnderWay(const Request& request) const {
    std::uint8_t bypasses = 0;
    std::memcpy(&bypasses, &request.bypasses, 1);
    const bool isWritten = request.kind == Request::Kind::WriteBack;
    return bypasses == 0 && (isWritten || (request.kind == Request::Kind::Read && request.load == nobody)) &&
           request.sm < machine_.sms && request.slice < machine_.slices() && request.bank < machine_.dram.banks &&
           request.warp < machine_.warps() && request.kernel == 0 && request.bursts >= 1 && request.bursts <= 4;
}

// The next edges of all clocks lie beside one another.
bool Gpu::clocksAgree() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 53;
    const double now = static_cast<double>(core_) * coreStep_;
    const auto agrees = [&](std::uint64_t count, double step) {
        return count < most && std::abs(static_cast<double>(count) * step - now) <= 2 * (step + coreStep_);
    };
    return core_ < most && agrees(network_, networkStep_) && agrees(l2_, l2Step_) && agrees(dram_, dramStep_);
}

bool Gpu::restore(std::string_view bytes) {
    std::uint64_t count = 0;
    if (bytes.size() < sizeof count) return false;
    std::memcpy(&count, bytes.data(), sizeof count);
    bytes.remove_prefix(sizeof count);
    if (count > bytes.size() / sizeof(Request)) return false;
    std::vector<Request> table(count);
    if (count > 0) std::memcpy(static_cast<void*>(table.data()), bytes.data(), count * sizeof(Request));
    bytes.remove_prefix(count * sizeof(Request));
    std::vector<Request*> requests;
    for (Request& one : table) {
        if (!mayBeUnderWay(one)) return false;
        one.load = nobody, one.nextL1 = one.nextL2 = nullptr;
        requests.push_back(spareFor(one));
        *requests.back() = one;
    }
    SnapshotArchive archive(bytes, std::move(requests));
    keep(archive);
    if (!archive.sound() || archive.left() > 0 || !clocksAgree()) return false;
    if (lastPlaced_ < 0 || lastPlaced_ >= machine_.sms || lastPlacedAtStart_ < -1 || lastPlacedAtStart_ >= machine_.sms)
        return false;
    for (std::size_t i = 0; i < requestsAt_.size(); ++i) requestsAt_[i] = !requests_.output(i).empty();
    for (char& at : repliesAt_) at = at != 0;
    for (std::size_t i = 0; i < sms_.size(); ++i) wakes_[seatOf_[i]] = sms_[i].wakesAt();
    return true;
}

}  // namespace orrery::gpusim
