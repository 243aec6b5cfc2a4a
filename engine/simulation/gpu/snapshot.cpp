// The machine's state between two kernels: what stands in caches and open rows, what is still on its way to memory,
// clocks, and whose turn it is.

#include "simulation/gpu/snapshot.h"

#include "base/hash.h"
#include "base/text/words.h"
#include "simulation/gpu/gpu.h"
#include "simulation/gpu/snapshot_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace orrery::gpusim {

namespace {

// Of a request in the file: those that wait behind it by number.
struct Entry {
    Request request;
    std::uint32_t nextL1 = 0, nextL2 = 0;
};

constexpr std::string_view begins = "orrery-gpu-snapshot 1 ";

// What the bytes look like: another build's members would be read as ours.
std::string layout() {
    return fmt::format("{}-{}-{}-{}", sizeof(Request), sizeof(Sm), sizeof(Slice), sizeof(DramChannel));
}

}  // namespace

std::string writeSnapshot(const Snapshot& of, std::string_view state) {
    const std::string about = fmt::format("{} {} {} {} {} ", layout(), of.machine.empty() ? "-" : of.machine, of.list,
                                          of.entries, of.kernels);
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
    return Snapshot{words[1] == "-" ? std::string() : std::string(words[1]), std::string(words[2]),
                    static_cast<std::size_t>(*entries), static_cast<std::size_t>(*kernels), state};
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
        return fail("gpu.snapshot", "copies are still under way that no warp of the kernel waited for",
                    "kernels that wait for their copies into shared memory", "end at another kernel");
    }
    SnapshotArchive archive;
    keep(archive);
    std::string table;
    std::uint64_t count = 0;
    // The table grows by those that wait behind others.
    for (; count < archive.requests().size(); ++count) {
        const Request& request = *archive.requests()[count];
        Entry entry{request, archive.numberOf(request.nextL1), archive.numberOf(request.nextL2)};
        entry.request.nextL1 = entry.request.nextL2 = nullptr;
        table.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    }
    std::string out(reinterpret_cast<const char*>(&count), sizeof count);
    return out + table + archive.bytes();
}

// Requests go back to where they were taken from: lines written back to their slice, all others to their SM.
Request* Gpu::spareFor(const Request& like) {
    if (like.kind == Request::Kind::WriteBack)
        return like.slice < slices_.size() ? slices_[like.slice].pool.take() : nullptr;
    return like.sm < sms_.size() ? sms_[like.sm].spare() : nullptr;
}

bool Gpu::restore(std::string_view bytes) {
    std::uint64_t count = 0;
    if (bytes.size() < sizeof count) return false;
    std::memcpy(&count, bytes.data(), sizeof count);
    bytes.remove_prefix(sizeof count);
    if (count > bytes.size() / sizeof(Entry)) return false;
    std::vector<Entry> entries(count);
    if (count > 0) std::memcpy(entries.data(), bytes.data(), count * sizeof(Entry));
    bytes.remove_prefix(count * sizeof(Entry));
    std::vector<Request*> requests;
    for (const Entry& entry : entries) {
        requests.push_back(spareFor(entry.request));
        if (!requests.back()) return false;
        *requests.back() = entry.request;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto at = [&](std::uint32_t number) { return number == 0 ? nullptr : requests[number - 1]; };
        if (entries[i].nextL1 > count || entries[i].nextL2 > count) return false;
        requests[i]->nextL1 = at(entries[i].nextL1), requests[i]->nextL2 = at(entries[i].nextL2);
    }
    SnapshotArchive archive(bytes, std::move(requests));
    keep(archive);
    for (std::size_t i = 0; i < sms_.size(); ++i) wakes_[seatOf_[i]] = sms_[i].wakesAt();
    return archive.sound();
}

}  // namespace orrery::gpusim
