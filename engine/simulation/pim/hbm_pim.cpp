#include "simulation/pim/hbm_pim.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::pim {

namespace {

constexpr std::int64_t ceilOf(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Multiplies of one head in one channel: `keys` outputs of `chunks` columns each, and the same columns for the values.
struct Head {
    std::int64_t keys = 0, chunks = 0, steps = 0, moves = 0;
    std::int64_t columns() const { return keys * chunks; }
};

// All banks at once open row after row: nothing can be opened ahead, so each row costs its whole cycle.
std::int64_t rowsInTurn(const HbmPim& s, std::int64_t columns, int interval) {
    const auto row = [&](std::int64_t n) {
        // One more clock: the next row is asked for when the last multiply has gone.
        return std::max<std::int64_t>(s.rcd + interval * (n - 1) + s.rtp, s.ras) + s.rp + 1;
    };
    const std::int64_t full = columns / s.columnsPerRow, rest = columns % s.columnsPerRow;
    return full * row(s.columnsPerRow) + (rest > 0 ? row(rest) : 0);
}

// What AttAcc's trace holds, all channels together. Moves beside multiplies are dealt out over the steps in whole
// shares, and what is left over is not sent; the second head of a pair computes its context in all channels.
PimCommands commandsOf(const HbmPim& s, UnitPlace place, const Attention& a, const Head& head, std::int64_t turns) {
    PimCommands c;
    const std::int64_t targets = place == UnitPlace::Buffer ? 1 : std::int64_t{s.ranks} * s.bankGroups;
    const std::int64_t results = place == UnitPlace::Buffer      ? 1
                                 : place == UnitPlace::BankGroup ? s.ranks
                                                                 : std::int64_t{s.ranks} * s.banks;
    const std::int64_t writes = place == UnitPlace::Bank ? s.banks * head.chunks : head.chunks;
    const auto dealt = [](std::int64_t all, std::int64_t steps, std::int64_t shares) {
        return std::min(all, all / steps * shares);
    };
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        const std::int64_t used = std::min<std::int64_t>(s.channels, a.heads - turn * s.channels);
        const bool alone = turn == turns - 1 && turns % 2 == 1, second = turn % 2 == 1;
        const std::int64_t context = second ? s.channels : used;
        c.multiply += (used + context) * head.columns();
        c.toSoftmax += used * head.steps * targets + context * head.chunks * results;
        c.softmax += used * (alone ? head.steps + 1 : 1);
        c.write += second ? dealt(used * writes, head.steps, head.steps) : used * writes;
        const std::int64_t length = second ? head.chunks : head.steps;
        c.toMultiplier += alone ? used * head.moves * (head.steps + 1)
                                : dealt(used * head.moves, ceilOf(length, 2), length - length / 2);
    }
    if (turns > 1) c.multiply += s.channels;  // one that opens the first row
    return c;
}

// Each refresh closes all rows; the next one is due an interval after it was, whatever it took.
void addRefresh(const HbmPim& s, PimAttention& out) {
    const std::int64_t busy = out.multiplying + out.openingRows + out.moving;
    const std::int64_t refresh = s.rp + 1 + s.refreshTime + s.rcd;
    const std::int64_t refreshes = std::max<std::int64_t>(0, (busy - refresh) / (s.refreshInterval - refresh));
    out.refreshing = refreshes * refresh;
    out.cycles = busy + out.refreshing;
    out.seconds = static_cast<double>(out.cycles) * s.clockNanoseconds * 1e-9;
}

}  // namespace

Expected<UnitPlace> placeOf(std::string_view name) {
    if (name == "bank" || name == "BA" || name == "ba") return UnitPlace::Bank;
    if (name == "bg" || name == "BG") return UnitPlace::BankGroup;
    if (name == "buffer" || name == "BUFFER") return UnitPlace::Buffer;
    return fail("pim.place", fmt::format("multipliers cannot stand at '{}'", name),
                "bank (BA), bg (BG) or buffer (BUFFER)");
}

std::string_view nameOf(UnitPlace place) {
    return place == UnitPlace::Bank ? "bank" : place == UnitPlace::BankGroup ? "bg" : "buffer";
}

Expected<PimAttention> attentionOn(const HbmPim& s, UnitPlace place, bool powerCapped, const Attention& a) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    for (const auto value : {a.length, a.heads, a.headSize, std::int64_t{a.elementBytes}})
        if (value < 1 || value > most)
            return fail("pim.attention",
                        fmt::format("attention of {} heads of {} over {} keys, {} bytes each", a.heads, a.headSize,
                                    a.length, a.elementBytes),
                        fmt::format("numbers from 1 to {}", most));
    if (a.elementBytes > s.columnBytes)
        return fail("pim.attention", fmt::format("an element has {} bytes", a.elementBytes),
                    fmt::format("at most {}", s.columnBytes));

    // Keys are spread over the units that work at once, the head's elements over the banks that add up.
    const std::int64_t perColumn = s.columnBytes / a.elementBytes;
    const std::int64_t groups = std::int64_t{s.pseudoChannels} * s.ranks * s.bankGroups;
    Head head;
    head.keys = ceilOf(a.length, place == UnitPlace::Buffer ? s.pseudoChannels : groups);
    head.chunks = place == UnitPlace::Bank ? ceilOf(a.headSize, s.banks * perColumn) : ceilOf(a.headSize, perColumn);
    head.steps = ceilOf(head.keys, s.headsOfSoftmaxStep);
    const std::int64_t scoresPerUnit =
        ceilOf(a.length, (place == UnitPlace::Buffer ? s.pseudoChannels : groups) * perColumn);
    const std::int64_t targets = place == UnitPlace::Buffer ? 1 : std::int64_t{s.ranks} * s.bankGroups;
    head.moves = targets * scoresPerUnit;

    // Heads go to channels in turns; two turns overlap: one's softmax and moves hide behind the other's multiplies.
    const std::int64_t turns = ceilOf(a.heads, s.channels);
    const bool lonely = turns % 2 == 1;
    const int interval = place == UnitPlace::Buffer ? s.bufferInterval
                         : powerCapped              ? s.multiplyIntervalCapped
                                                    : s.multiplyInterval;

    PimAttention out;
    const std::int64_t columns = turns * 2 * head.columns();
    out.multiplying = columns * interval;
    if (place == UnitPlace::Bank) {
        out.openingRows = turns * 2 * (rowsInTurn(s, head.columns(), interval) - head.columns() * interval);
    } else {
        // The next row stands in another bank and is opened ahead; only the first of a score or context phase is waited
        // for. On the buffer die every bank of the channel has its first row opened in turn.
        const std::int64_t first =
            place == UnitPlace::BankGroup ? s.rcd + s.bufferInterval : s.rcd + s.rp + s.bankGroups * s.banks;
        out.openingRows = turns * 2 * first;
    }
    // A turn without a partner moves its scores back between barriers, with nothing beside it, after each step.
    if (lonely) {
        const std::int64_t step =
            scoresPerUnit * (place == UnitPlace::Buffer ? s.moveIntervalSameGroup : targets * s.moveInterval);
        out.moving = (head.steps + 1) * step;
        // Meanwhile the next rows are opened.
        const std::int64_t opening = out.openingRows / (turns * 2);
        if (place == UnitPlace::Bank) out.openingRows -= std::min(opening, step * head.steps);
    }

    addRefresh(s, out);
    out.commands = commandsOf(s, place, a, head, turns);
    return out;
}

Expected<PimAttention> productOn(const HbmPim& s, UnitPlace place, bool powerCapped, const PimProduct& p) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (const auto value : {p.rows, p.depth, p.vectors, std::int64_t{p.elementBytes}})
        if (value < 1 || value > most || p.elementBytes > s.columnBytes)
            return fail("pim.product",
                        fmt::format("a matrix of {} x {} times {} vectors, {} bytes each", p.rows, p.depth, p.vectors,
                                    p.elementBytes),
                        fmt::format("numbers from 1 to {}, elements of at most {} bytes", most, s.columnBytes));
    const std::int64_t perColumn = s.columnBytes / p.elementBytes;
    const std::int64_t groups = std::int64_t{s.pseudoChannels} * s.ranks * s.bankGroups;
    const std::int64_t units = place == UnitPlace::Buffer ? s.pseudoChannels : groups;
    const std::int64_t rows = ceilOf(p.rows, units * s.channels);
    const std::int64_t chunks =
        place == UnitPlace::Bank ? ceilOf(p.depth, s.banks * perColumn) : ceilOf(p.depth, perColumn);
    const int interval = place == UnitPlace::Buffer ? s.bufferInterval
                         : powerCapped              ? s.multiplyIntervalCapped
                                                    : s.multiplyInterval;
    PimAttention out;
    const std::int64_t multiplies = rows * chunks * p.vectors;
    out.multiplying = multiplies * interval;
    if (place == UnitPlace::Bank) {
        HbmPim turned = s;
        turned.columnsPerRow = static_cast<int>(std::min<std::int64_t>(s.columnsPerRow * p.vectors, 1 << 30));
        out.openingRows = rowsInTurn(turned, multiplies, interval) - out.multiplying;
    } else {
        out.openingRows =
            place == UnitPlace::BankGroup ? s.rcd + s.bufferInterval : s.rcd + s.rp + s.bankGroups * s.banks;
    }
    const std::int64_t targets = place == UnitPlace::Buffer ? 1 : std::int64_t{s.ranks} * s.bankGroups;
    out.moving = p.vectors * (ceilOf(p.depth, perColumn) * s.moveInterval +
                              ceilOf(rows, perColumn) * targets * s.moveIntervalSameGroup);
    addRefresh(s, out);
    out.commands.multiply = multiplies * s.channels;
    return out;
}

}  // namespace orrery::pim
