#include "simulation/cpu/block/values.h"

#include "base/hash.h"

namespace orrery::block {

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    return mixedBits(a * 31 + mixedBits(b));
}

std::uint64_t maskOf(unsigned bytes) {
    return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

std::int64_t signedOf(std::uint64_t value, unsigned bytes) {
    if (bytes >= 8) return static_cast<std::int64_t>(value);
    const unsigned shift = 64 - 8 * bytes;
    return static_cast<std::int64_t>(value << shift) >> shift;
}

}  // namespace

void Values::reset() {
    general_.fill(startValue);
    other_.fill(startValue);
    general_[StackPointer] = startStack;
    stores_ = 0;
}

std::uint64_t Values::address(const Instruction& one, const MemoryUse& memory) const {
    std::uint64_t at = static_cast<std::uint64_t>(memory.displacement);
    if (memory.relative) return at + 0x7f0000000000ULL + one.offset;
    if (memory.segment) at += 0x7e0000000000ULL;
    if (memory.base < 16) at += general_[memory.base];
    if (memory.index < 16) at += general_[memory.index] * memory.scale;
    if (memory.index != NoRegister && memory.index >= 16) at = mixed(at, other_[memory.index]);
    return at;
}

std::uint64_t Values::read(const RegisterUse& use) const {
    if (use.reg >= 16) return other_[use.reg];
    const std::uint64_t whole = general_[use.reg];
    return use.high ? whole >> 8 & 0xff : whole & maskOf(use.bytes);
}

void Values::write(const RegisterUse& use, std::uint64_t value) {
    if (use.reg >= 16) {
        other_[use.reg] = value;
        return;
    }
    std::uint64_t& whole = general_[use.reg];
    if (use.high) {
        whole = (whole & ~std::uint64_t{0xff00}) | (value & 0xff) << 8;
    } else if (use.bytes >= 4) {
        whole = value & maskOf(use.bytes);
    } else {
        whole = (whole & ~maskOf(use.bytes)) | (value & maskOf(use.bytes));
    }
}

std::uint64_t Values::loaded(const Access& access) const {
    const std::size_t oldest = stores_ > memory_.size() ? stores_ - memory_.size() : 0;
    for (std::size_t i = stores_; i > oldest; --i) {
        const Stored& one = memory_[(i - 1) % memory_.size()];
        if (one.address == access.address && one.bytes >= access.bytes) return one.value & maskOf(access.bytes);
        if (one.address < access.address + access.bytes && access.address < one.address + one.bytes)
            return mixed(one.value, access.address) & maskOf(access.bytes);
    }
    return startValue & maskOf(access.bytes);
}

void Values::stored(const Access& access, std::uint64_t value) {
    memory_[stores_++ % memory_.size()] = {access.address, value, access.bytes};
}

void Values::step(const Instruction& one, Access& load, Access& store) {
    load = store = {};
    std::uint64_t fromMemory = 0;
    const bool push = one.meaning == Meaning::Push, pop = one.meaning == Meaning::Pop;
    if (push) general_[StackPointer] -= one.operandBytes == 2 ? 2 : 8;
    for (const MemoryUse* memory : {&one.memory, &one.memory2}) {
        if (memory->bytes == 0) continue;
        // The decoder names the stack by its pointer before the push; it is below by now.
        const Access access{address(one, *memory), memory->bytes};
        if (memory->read) load = access, fromMemory = loaded(access);
        if (memory->write) store = access;
    }
    if (pop) general_[StackPointer] += one.operandBytes == 2 ? 2 : 8;
    if (one.stack && !push && !pop) general_[StackPointer] = mixed(general_[StackPointer], one.offset);

    // Sources in the order of the operands: registers, the memory, the immediate.
    const RegisterUse* target = nullptr;
    const RegisterUse* second = nullptr;
    std::uint64_t unknown = one.key.packed();
    for (std::uint8_t i = 0; i < one.uses; ++i) {
        const RegisterUse& use = one.use[i];
        if (use.read) unknown = mixed(unknown, read(use));
        if (use.reg >= CarryFlag) continue;
        if (!target)
            target = &use;
        else if (!second)
            second = &use;
    }
    if (load.bytes) unknown = mixed(unknown, fromMemory);
    if (one.hasImmediate) unknown = mixed(unknown, static_cast<std::uint64_t>(one.immediate));
    const bool toMemory = store.bytes != 0;
    const unsigned bytes = toMemory ? store.bytes : target ? target->bytes : 8;
    const std::uint64_t left = toMemory ? fromMemory : target ? read(*target) : 0;
    std::uint64_t right = 0;
    unsigned rightBytes = bytes;
    const RegisterUse* source = toMemory ? target : second;
    if (one.hasImmediate)
        right = static_cast<std::uint64_t>(one.immediate);
    else if (!toMemory && load.bytes)
        right = fromMemory, rightBytes = load.bytes;
    else if (source)
        right = read(*source), rightBytes = source->bytes;

    std::uint64_t result = 0;
    bool known = !target || target->reg < 16;
    switch (one.meaning) {
        case Meaning::Move:
            result = right;
            break;
        case Meaning::MoveSigned:
            result = static_cast<std::uint64_t>(signedOf(right, rightBytes));
            break;
        case Meaning::Lea:
            result = address(one, one.memory);
            break;
        case Meaning::Add:
            result = left + right;
            break;
        case Meaning::Sub:
            result = left - right;
            break;
        case Meaning::And:
            result = left & right;
            break;
        case Meaning::Or:
            result = left | right;
            break;
        case Meaning::Xor:
            result = left ^ right;
            break;
        case Meaning::Inc:
            result = left + 1;
            break;
        case Meaning::Dec:
            result = left - 1;
            break;
        case Meaning::Neg:
            result = 0 - left;
            break;
        case Meaning::Not:
            result = ~left;
            break;
        case Meaning::ShiftLeft:
            result = left << (right & (bytes == 8 ? 63 : 31));
            break;
        case Meaning::ShiftRight:
            result = left >> (right & (bytes == 8 ? 63 : 31));
            break;
        case Meaning::ShiftSigned:
            result = static_cast<std::uint64_t>(signedOf(left, bytes) >> (right & (bytes == 8 ? 63 : 31)));
            break;
        case Meaning::Multiply:
            if (one.visible == 2)
                result = left * right;
            else if (one.visible == 3)
                result = (load.bytes ? fromMemory : second ? read(*second) : 0) * right;
            else
                known = false;
            break;
        case Meaning::SignToD: {
            const unsigned width = one.operandBytes;
            general_[2] = signedOf(general_[0], width) < 0 ? maskOf(width) : 0;
            return;
        }
        case Meaning::Widen:
            general_[0] =
                static_cast<std::uint64_t>(signedOf(general_[0], one.operandBytes / 2)) & maskOf(one.operandBytes);
            return;
        case Meaning::Divide:
        case Meaning::DivideSigned: {
            const unsigned width = one.visible && one.memory.read ? one.memory.bytes : one.use[0].bytes;
            const std::uint64_t by = one.memory.read ? fromMemory : read(one.use[0]);
            const std::uint64_t low = general_[0] & maskOf(width), high = general_[2] & maskOf(width);
            if (width < 4 || by == 0) {
                known = false;
                break;
            }
            if (one.meaning == Meaning::Divide && high == 0) {
                general_[0] = low / by;
                general_[2] = low % by;
                return;
            }
            const std::int64_t divisor = signedOf(by, width);
            if (one.meaning == Meaning::DivideSigned && divisor != -1 &&
                high == (signedOf(low, width) < 0 ? maskOf(width) : 0)) {
                general_[0] = static_cast<std::uint64_t>(signedOf(low, width) / divisor) & maskOf(width);
                general_[2] = static_cast<std::uint64_t>(signedOf(low, width) % divisor) & maskOf(width);
                return;
            }
            known = false;
            break;
        }
        case Meaning::Exchange:
            if (target && second && !toMemory) {
                const std::uint64_t keep = read(*target);
                write(*target, read(*second));
                write(*second, keep);
                return;
            }
            if (target && toMemory) {
                stored(store, read(*target));
                write(*target, fromMemory);
                return;
            }
            known = false;
            break;
        case Meaning::Push:
            stored(store, one.hasImmediate ? right : load.bytes ? fromMemory : target ? read(*target) : 0);
            return;
        case Meaning::Pop:
            if (target) write(*target, fromMemory);
            return;
        case Meaning::Unknown:
            known = false;
            break;
    }
    if (known && !(target && target->reg >= 16 && !toMemory)) {
        if (toMemory)
            stored(store, result & maskOf(store.bytes));
        else if (target && target->write)
            write(*target, result);
        return;
    }
    if (toMemory) stored(store, unknown);
    std::uint64_t salt = 0;
    for (std::uint8_t i = 0; i < one.uses; ++i) {
        const RegisterUse& use = one.use[i];
        if (use.write) write(use, one.zeroIdiom ? 0 : mixed(unknown, salt++));
    }
}

}  // namespace orrery::block
