#include "simulation/gpu/trace.h"

#include "base/text/words.h"
#include "simulation/gpu/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

namespace orrery::gpusim {

namespace {

namespace fs = std::filesystem;

struct Words {
    std::string_view rest;
    std::string_view next() {
        std::size_t at = 0;
        while (at < rest.size() && (rest[at] == ' ' || rest[at] == '\t' || rest[at] == '\r')) ++at;
        std::size_t end = at;
        while (end < rest.size() && rest[end] != ' ' && rest[end] != '\t' && rest[end] != '\r') ++end;
        const auto word = rest.substr(at, end - at);
        rest.remove_prefix(end);
        return word;
    }
};

std::optional<std::uint64_t> hexIn(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Limits of CUDA: the product of a grid's sides then fits into 63 bits.
constexpr std::array<std::int64_t, 3> largestGrid{(std::int64_t{1} << 31) - 1, 65535, 65535};
constexpr std::array<std::int64_t, 3> largestBlock{2048, 2048, 2048};
// What no GPU holds: 1 TB.
constexpr std::int64_t largestCopy = std::int64_t{1} << 40;

bool triple(std::string_view text, const std::array<std::int64_t, 3>& most, std::array<int, 3>& to) {
    text = trimmed(text);
    if (!text.starts_with('(') || !text.ends_with(')')) return false;
    const auto parts = splitTrimmed(text.substr(1, text.size() - 2), ',');
    if (parts.size() != 3) return false;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto got = wholeIn(parts[i]);
        if (!got || *got < 1 || *got > most[i]) return false;
        to[i] = static_cast<int>(*got);
    }
    return true;
}

}  // namespace

Expected<std::vector<TraceCommand>> readKernelList(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) {
        return fail("gpu.trace", "cannot read the list of kernels", "a kernelslist.g as Accel-Sim's tracer leaves it",
                    {}, {path, 0, 0, {}});
    }
    std::vector<TraceCommand> out;
    std::string_view line;
    while (true) {
        const auto got = stream->next(line);
        if (!got) return tl::unexpected(got.error());
        if (!*got) break;
        line = trimmed(line);
        const Place place{path, stream->line(), 0, {}};
        if (line.starts_with("MemcpyHtoD")) {
            const auto parts = splitTrimmed(line, ',');
            const auto address = parts.size() > 1 ? hexIn(parts[1]) : std::nullopt;
            const auto bytes = parts.size() > 2 ? wholeIn(parts[2]) : std::nullopt;
            if (!address || !bytes || *bytes < 0)
                return fail("gpu.trace", "a copy without address and size", "MemcpyHtoD,0xADDRESS,BYTES", {}, place);
            if (*bytes > largestCopy)
                return fail("gpu.trace", fmt::format("a copy of {} bytes", *bytes), "at most 1 TB",
                            "was the list copied whole?", place);
            out.push_back({TraceCommand::Kind::Copy, *address, static_cast<std::uint64_t>(*bytes), {}, place});
        } else if (line.starts_with("kernel")) {
            const fs::path file = fs::path(path).parent_path() / std::string(line);
            std::error_code ignored;
            std::string found;
            for (const auto* ending : {"", ".gz", ".zst", ".xz"}) {
                if (fs::exists(file.string() + ending, ignored)) {
                    found = file.string() + ending;
                    break;
                }
            }
            if (found.empty() &&
                (file.extension() == ".gz" || file.extension() == ".xz" || file.extension() == ".zst")) {
                auto plain = file;
                plain.replace_extension();
                if (fs::exists(plain, ignored)) found = plain.string();
            }
            if (found.empty())
                return fail("gpu.trace", fmt::format("there is no '{}'", file.string()), "a trace beside the list",
                            "the name may also end in .gz, .zst or .xz", place);
            out.push_back({TraceCommand::Kind::Kernel, 0, 0, found, place});
        }
    }
    if (out.empty())
        return fail("gpu.trace", "the list names no kernel", "lines such as kernel-1.traceg", {}, {path, 0, 0, {}});
    return out;
}

Unexpected KernelTrace::broken(std::string message, std::string expected, std::string hint) const {
    return fail("gpu.trace", std::move(message), std::move(expected), std::move(hint),
                {stream_.path(), stream_.line(), 0, {}});
}

Expected<KernelTrace> KernelTrace::open(const std::string& path, const Machine& machine) {
    auto stream = CsvStream::open(path);
    if (!stream) return fail("gpu.trace", "cannot read the trace", {}, {}, {path, 0, 0, {}});
    KernelTrace out(std::move(*stream), machine);
    if (auto header = out.readHeader(); !header) return tl::unexpected(header.error());
    return out;
}

Expected<bool> KernelTrace::readHeader() {
    std::string_view line;
    bool grid = false, block = false;
    while (true) {
        const auto got = stream_.next(line);
        if (!got) return tl::unexpected(got.error());
        if (!*got) return broken("the trace ends in its header", "#BEGIN_TB");
        line = trimmed(line);
        if (line.starts_with("#BEGIN_TB")) {
            inBlock_ = true;
            break;
        }
        if (!line.starts_with('-')) continue;
        const auto equal = line.find('=');
        if (equal == std::string_view::npos) continue;
        const auto key = trimmed(line.substr(1, equal - 1)), value = trimmed(line.substr(equal + 1));
        const auto whole = [&](int& to, int most) -> Expected<bool> {
            const auto number = wholeIn(value);
            if (!number || *number < 0 || *number > most)
                return broken(fmt::format("-{} is '{}'", key, value), fmt::format("a whole number up to {}", most));
            to = static_cast<int>(*number);
            return true;
        };
        Expected<bool> fine = true;
        if (key == "kernel name")
            header_.name = std::string(value);
        else if (key == "grid dim") {
            if (!(grid = triple(value, largestGrid, header_.grid)))
                return broken("a grid that is no (x,y,z)", "(x,y,z) from 1, at most (2147483647,65535,65535)");
        } else if (key == "block dim") {
            if (!(block = triple(value, largestBlock, header_.block)))
                return broken("a block that is no (x,y,z)", "(x,y,z) from 1, at most 2048 threads");
        } else if (key == "shmem")
            fine = whole(header_.sharedBytes, 1 << 28);
        else if (key == "nregs")
            fine = whole(header_.registers, 1024);
        else if (key == "binary version")
            fine = whole(header_.binaryVersion, 1000);
        else if (key == "accelsim tracer version")
            fine = whole(header_.traceVersion, 100);
        else if (key == "cluster dim") {
            std::array<int, 3> cluster{1, 1, 1};
            if (!triple(value, {16, 1, 1}, cluster))
                return broken("a cluster that is no (n,1,1)", "up to 16 blocks side by side along x");
            header_.cluster = cluster[0];
        } else if (key == "warp lanes")
            fine = whole(header_.lanes, 64);
        else if (key == "cuda stream id")
            header_.stream = hexIn(value).value_or(0);
        else if (key == "shmem base_addr")
            header_.sharedBase = hexIn(value).value_or(0);
        else if (key == "local mem base_addr")
            header_.localBase = hexIn(value).value_or(0);
        else if (key == "enable lineinfo")
            header_.lineInfo = value == "1";
        if (!fine) return fine;
    }
    if (!grid || !block)
        return broken("a header without grid or block", "-grid dim = (x,y,z) and -block dim = (x,y,z)");
    if (header_.grid[0] % header_.cluster != 0) {
        return broken(fmt::format("a grid of {} blocks in clusters of {}", header_.grid[0], header_.cluster),
                      "a grid that whole clusters fill along x");
    }
    if (header_.lanes != machine_->lanes) {
        return broken(fmt::format("warps of {} lanes; `{}` has {}", header_.lanes, machine_->name, machine_->lanes),
                      "a trace and a machine of the same kind of GPU",
                      "-warp lanes = 64 in the header of a trace of wavefronts");
    }
    if (std::int64_t{1} * header_.block[0] * header_.block[1] * header_.block[2] > 1024 * 2)
        return broken("a block of more than 2048 threads", "at most 2048 threads");
    return true;
}

Expected<bool> KernelTrace::next(TraceBlock& block, const LocalPlace& local) {
    block.instructions.clear(), block.accesses.clear();
    const auto warps = static_cast<std::size_t>(header_.warps());
    block.begin.assign(warps + 1, 0);
    std::string_view line;
    while (!inBlock_) {
        const auto got = stream_.next(line);
        if (!got) return tl::unexpected(got.error());
        if (!*got) return false;
        inBlock_ = trimmed(line).starts_with("#BEGIN_TB");
    }
    ++blocksRead_;
    std::size_t warp = 0;  // next one whose beginning is not yet known
    std::int64_t left = 0;
    while (true) {
        const auto got = stream_.next(line);
        if (!got) return tl::unexpected(got.error());
        if (!*got) return broken("the trace ends inside a thread block", "#END_TB", "was the file copied whole?");
        if (left > 0) {
            auto fine = readInstruction(line, block, local);
            if (!fine) return fine;
            --left;
            continue;
        }
        line = trimmed(line);
        if (line.starts_with("#END_TB")) break;
        if (line.starts_with("thread block")) continue;
        const auto equal = line.find('=');
        const auto number = equal == std::string_view::npos ? std::nullopt : wholeIn(trimmed(line.substr(equal + 1)));
        if (!number || *number < 0) return broken("a line that no thread block has", "warp = I, insts = N or #END_TB");
        if (line.starts_with("warp")) {
            const auto id = static_cast<std::size_t>(*number);
            if (id >= warps || id < warp)
                return broken(fmt::format("warp {} out of order or beyond the {} of the block", id, warps),
                              "each warp once, in order");
            const auto here = static_cast<std::uint32_t>(block.instructions.size());
            while (warp <= id) block.begin[warp++] = here;
            currentWarp_ = static_cast<unsigned>(id);
        } else if (line.starts_with("insts")) {
            left = *number;
        } else {
            return broken("a line that no thread block has", "warp = I, insts = N or #END_TB");
        }
    }
    const auto end = static_cast<std::uint32_t>(block.instructions.size());
    while (warp <= warps) block.begin[warp++] = end;
    inBlock_ = false;
    return true;
}

Expected<bool> KernelTrace::readInstruction(std::string_view line, TraceBlock& block, const LocalPlace& local) {
    Words words{line};
    if (header_.traceVersion < 3) words.next(), words.next(), words.next(), words.next();
    if (header_.lineInfo) words.next();
    const auto pc = hexIn(words.next()), mask = hexIn(words.next());
    if (!pc || !mask || (*mask & ~lanesUpTo(header_.lanes)) != 0)
        return broken("an instruction without program counter and mask",
                      "PC MASK DESTINATIONS [R] OPCODE SOURCES [R…] WIDTH …");
    Executed out;
    out.mask = *mask, out.pc = static_cast<std::uint32_t>(*pc >> 4);
    if (code_.end == 0) code_.first = out.pc;
    code_.first = std::min(code_.first, out.pc), code_.end = std::max(code_.end, out.pc + 1);
    const std::size_t slot = static_cast<std::size_t>(*pc >> 4) & 0xffff;
    if (slot >= memo_.size()) memo_.resize(slot + 1);
    Memo& memo = memo_[slot];
    // The text ends with a register or a count: `R2` is not the beginning of `R20`.
    const auto isSame = [&] {
        const auto& text = memo.text;
        return !text.empty() && words.rest.size() > text.size() && words.rest.starts_with(text) &&
               (words.rest[text.size()] == ' ' || words.rest[text.size()] == '\t');
    };
    if (isSame()) {
        out.what = memo.what;
        words.rest.remove_prefix(memo.text.size());
    } else {
        const auto before = words.rest;
        StaticInstruction one;
        const auto number = [&](std::string_view word, std::int64_t most) -> std::optional<int> {
            const auto got = wholeIn(word);
            return !got || *got < 0 || *got > most ? std::nullopt : std::optional(static_cast<int>(*got));
        };
        const auto registerIn = [&](std::string_view word) {
            return word.starts_with('R') ? number(word.substr(1), 255) : std::nullopt;
        };
        // Beyond Accel-Sim's words: `R14.reuse`, and operands in constant memory, `c[0x0][0x160]`.
        const auto constantIn = [&](std::string_view word) -> std::optional<std::int32_t> {
            const auto bankEnd = word.find("][");
            if (!word.starts_with("c[") || !word.ends_with(']') || bankEnd == std::string_view::npos)
                return std::nullopt;
            const auto bank = hexIn(word.substr(2, bankEnd - 2)),
                       offset = hexIn(word.substr(bankEnd + 2, word.size() - bankEnd - 3));
            if (!bank || !offset || *bank > 31 || *offset > 0xffff) return std::nullopt;
            return static_cast<std::int32_t>(*bank << 16 | *offset);
        };
        const auto destinations = number(words.next(), 4);
        if (!destinations) return broken("the number of destinations is missing", "0 to 4");
        for (int i = 0; i < *destinations; ++i) {
            const auto id = registerIn(words.next());
            if (!id) return broken("a destination that is no register", "R0 … R255");
            one.destination = static_cast<std::int16_t>(*id);
        }
        const auto name = words.next();
        const auto opcode = opcodeOf(name);
        if (!opcode)
            return broken(fmt::format("no instruction '{}' is known", name),
                          "a SASS opcode of Kepler to Hopper, or one of CDNA",
                          fmt::format("binary version {}", header_.binaryVersion));
        const auto sources = number(words.next(), 8);
        if (!sources) return broken("the number of sources is missing", "0 to 8");
        for (int i = 0; i < *sources; ++i) {
            auto word = words.next();
            if (word.starts_with('c')) {
                const auto address = constantIn(word);
                if (!address)
                    return broken(fmt::format("'{}' is no place in constant memory", word), "c[0xBANK][0xOFFSET]",
                                  "banks up to 0x1f, offsets up to 0xffff");
                one.constant = *address;
                continue;
            }
            const bool reused = word.ends_with(".reuse");
            if (reused) word.remove_suffix(6);
            const auto id = registerIn(word);
            if (!id) return broken("a source that is no register", "R0 … R255, R0.reuse or c[0x0][0x160]");
            ++one.sourcesWritten;
            addSource(one, static_cast<std::uint8_t>(*id), i, reused);
        }
        if (!fillStatic(*machine_, name, *opcode, one)) {
            return broken(fmt::format("the setting has no unit for '{}'", name), {},
                          "add the specialised unit to the setting, or trace for the GPU that it describes");
        }
        const std::string text(before.substr(0, before.size() - words.rest.size()));
        const auto [found, isNew] = known_.try_emplace(text, static_cast<std::uint32_t>(statics_.size()));
        if (isNew) statics_.push_back(one);
        out.what = found->second;
        memo.text = text, memo.what = out.what;
    }
    const StaticInstruction& one = statics_[out.what];
    const auto width = wholeIn(words.next());
    if (!width || *width < 0) return broken("the width of the access is missing", "0 for no access, else bytes");
    if (one.action == Action::AwaitGroup) {
        const auto groups = hexIn(words.next());
        out.count = static_cast<std::uint32_t>(groups.value_or(0));
    }
    if (*width == 0 || one.unit != Unit::Mem || one.action == Action::Fence) {
        out.first = static_cast<std::uint32_t>(block.accesses.size());
        block.instructions.push_back(out);
        return true;
    }
    // One address per active lane, by lane.
    const auto mode = words.next();
    addresses_.clear();
    const int active = std::popcount(out.mask);
    if (mode == "0") {
        for (int i = 0; i < active; ++i) {
            const auto address = hexIn(words.next());
            if (!address) return broken("an address is missing", fmt::format("{} hexadecimal addresses", active));
            addresses_.push_back(*address);
        }
    } else if (mode == "1") {
        const auto base = hexIn(words.next());
        const auto stride = wholeIn(words.next());
        if (!base || !stride) return broken("base and stride are missing", "1 0xBASE STRIDE");
        // Over all lanes of the run, which has no gaps.
        for (int i = 0; i < active; ++i)
            addresses_.push_back(*base + static_cast<std::uint64_t>(*stride) * static_cast<unsigned>(i));
    } else if (mode == "2") {
        const auto base = hexIn(words.next());
        if (!base) return broken("the base address is missing", "2 0xBASE DELTA…");
        if (active > 0) addresses_.push_back(*base);
        for (int i = 1; i < active; ++i) {
            const auto delta = wholeIn(words.next());
            if (!delta) return broken("a delta of an address is missing", fmt::format("{} decimal deltas", active - 1));
            addresses_.push_back(addresses_.back() + static_cast<std::uint64_t>(*delta));
        }
    } else {
        return broken(fmt::format("addresses in the unknown form '{}'", mode), "0, 1 or 2");
    }

    Action action = one.action;
    bool isLocal = one.local;
    if (action == Action::GenericLoad || action == Action::GenericStore) {
        const bool load = action == Action::GenericLoad;
        const auto a = addresses_.empty() ? 0 : addresses_.front();
        // 16 MB of the shared window for each block of the cluster, by rank (mapa).
        const std::uint64_t ranks = machine_->modernCore ? static_cast<std::uint64_t>(header_.cluster) : 1;
        isLocal = header_.localBase && a >= header_.localBase && a < header_.localBase + (1u << 24);
        if (!isLocal && header_.sharedBase && a >= header_.sharedBase && a < header_.sharedBase + (ranks << 24)) {
            const bool own = (a - header_.sharedBase) >> 24 == (blocksRead_ - 1) % ranks;
            action = load ? (own ? Action::SharedLoad : Action::RemoteLoad)
                          : (own ? Action::SharedStore : Action::RemoteStore);
        } else {
            action = load ? Action::Load : Action::Store;
        }
        if (action != statics_[out.what].action) {
            // The same words with another space are another instruction.
            StaticInstruction resolved = one;
            resolved.action = action, resolved.local = isLocal;
            const auto key = fmt::format("{}/{}", out.what, static_cast<int>(action) * 2 + isLocal);
            const auto [found, isNew] = known_.try_emplace(key, static_cast<std::uint32_t>(statics_.size()));
            if (isNew) statics_.push_back(resolved);
            out.what = found->second;
        }
    }
    addAccesses(*machine_, block,
                {.action = action, .local = isLocal, .bytes = one.bytes, .warp = currentWarp_, .place = local},
                addresses_, out);
    block.instructions.push_back(out);
    return true;
}

}  // namespace orrery::gpusim
