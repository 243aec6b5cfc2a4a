#include "simulation/dram/address_map.h"

#include <fmt/format.h>

#include <bit>
#include <vector>

namespace orrery {

namespace {

enum Field { Channel, PseudoChannel, Rank, Group, Bank, Row, Column, FieldCount };
constexpr std::string_view fieldNames[] = {"Ch", "Pc", "Ra", "Bg", "Ba", "Ro", "Co"};
constexpr auto hintOfMap = "for example RoBaRaCoCh, ChRaBaRoCo or RoCoBaRaBgCh, most significant field first";

struct Mention {
    int field;
    std::int64_t values;  ///< 0: the rest
};

Expected<std::vector<Mention>> mentions(std::string_view text) {
    std::vector<Mention> result;
    const auto bad = [&](std::size_t at) {
        return fail("dram.bad-mapping", fmt::format("'{}' is no field of an address mapping", text.substr(at, 8)),
                    "Ch, Pc, Ra, Bg, Ba, Ro or Co, each with a count or not", hintOfMap, {.path = std::string(text)});
    };
    for (std::size_t at = 0; at < text.size();) {
        int field = 0;
        while (field < FieldCount && text.substr(at, 2) != fieldNames[field]) ++field;
        if (field == FieldCount || result.size() == 16) return bad(at);
        const auto start = at;
        at += 2;
        std::int64_t values = 0;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
            values = values * 10 + (text[at++] - '0');
            if (values > (std::int64_t(1) << 40)) return bad(start);
        }
        if (at > start + 2 && values == 0) return bad(start);
        result.push_back({field, values});
    }
    return result;
}

// Fields that a short name leaves out stand where controllers put them: pseudo-channels beside ranks, groups below
// banks.
void addImplied(std::vector<Mention>& list, int absent, int beside) {
    std::size_t place = list.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].field == absent) return;
        if (list[i].field == beside) place = i;
    }
    if (place < list.size()) list.insert(list.begin() + std::ptrdiff_t(place) + 1, {absent, 0});
}

}  // namespace

Expected<DramAddressMap> DramAddressMap::parse(std::string_view text, const DramOrganisation& organisation,
                                               int channels, bool permuteBanks) {
    auto list = mentions(text);
    if (!list) return tl::unexpected(list.error());
    addImplied(*list, PseudoChannel, Rank);
    addImplied(*list, Group, Bank);
    const Place place{.path = std::string(text)};
    if (list->size() > 16)
        return fail("dram.bad-mapping", "the address mapping has more than 16 fields", "at most 16", hintOfMap, place);

    const std::array<std::int64_t, FieldCount> sizes{channels,
                                                     organisation.pseudoChannels,
                                                     organisation.ranks,
                                                     organisation.bankGroups,
                                                     organisation.banksPerGroup,
                                                     organisation.rows,
                                                     organisation.burstsPerRow()};
    std::array<std::int64_t, FieldCount> taken;
    taken.fill(1);
    std::array<int, FieldCount> named{};
    DramAddressMap map;
    map.organisation_ = organisation;
    map.channels_ = channels;
    map.permuteBanks_ = permuteBanks;
    map.text_ = text;
    map.bursts_ = 1;
    for (auto it = list->rbegin(); it != list->rend(); ++it) {
        const auto f = std::size_t(it->field);
        const std::int64_t rest = sizes[f] / taken[f];
        const std::int64_t values = it->values == 0 ? rest : it->values;
        if (rest % values != 0)
            return fail("dram.bad-mapping",
                        fmt::format("{}{} does not divide the {} values that are left of {}", fieldNames[f], values,
                                    rest, sizes[f]),
                        "counts whose product is the size of the field", hintOfMap, place);
        if (it->field == Channel) map.belowChannel_ = map.bursts_;
        if (++named[f] > 1 && it->field == Channel)
            return fail("dram.bad-mapping", "Ch is named twice", "one place for the channel", hintOfMap, place);
        auto& digit = map.digits_[std::size_t(map.digitCount_++)];
        digit = {it->field, values, taken[f],
                 std::has_single_bit(std::uint64_t(values)) ? std::countr_zero(std::uint64_t(values)) : -1};
        taken[f] *= values;
        map.bursts_ *= values;
    }
    for (std::size_t f = 0; f < FieldCount; ++f)
        if (taken[f] != sizes[f])
            return fail(
                "dram.bad-mapping",
                fmt::format("{} of {} values of {} have a place in the mapping", taken[f], sizes[f], fieldNames[f]),
                "every field that has more than one value", hintOfMap, place);
    if (permuteBanks && !std::has_single_bit(unsigned(organisation.banksPerRank())))
        return fail("dram.bad-mapping",
                    fmt::format("{} banks cannot be permuted by row bits", organisation.banksPerRank()),
                    "a power of two", "turn the permutation off", place);
    return map;
}

DramAddress DramAddressMap::decode(std::int64_t burst) const {
    if (burst >= bursts_) burst %= bursts_;
    std::array<std::int64_t, FieldCount> value{};
    for (int i = 0; i < digitCount_; ++i) {
        const auto& digit = digits_[std::size_t(i)];
        std::int64_t part;
        if (digit.shift >= 0) {
            part = burst & (digit.size - 1);
            burst >>= digit.shift;
        } else {
            part = burst % digit.size;
            burst /= digit.size;
        }
        value[std::size_t(digit.field)] += part * digit.weight;
    }
    const auto& o = organisation_;
    std::int64_t inRank = value[Group] * o.banksPerGroup + value[Bank];
    if (permuteBanks_) inRank ^= value[Row] & (o.banksPerRank() - 1);
    const std::int64_t rank = value[PseudoChannel] * o.ranks + value[Rank];
    return {int(value[Channel]), int(rank * o.banksPerRank() + inRank), std::int32_t(value[Column]), value[Row]};
}

std::int64_t DramAddressMap::encode(const DramAddress& address) const {
    const auto& o = organisation_;
    std::int64_t inRank = address.bank % o.banksPerRank();
    const std::int64_t rank = address.bank / o.banksPerRank();
    if (permuteBanks_) inRank ^= address.row & (o.banksPerRank() - 1);
    const std::array<std::int64_t, FieldCount> value{
        address.channel,          rank / o.ranks, rank % o.ranks, inRank / o.banksPerGroup,
        inRank % o.banksPerGroup, address.row,    address.column};
    std::int64_t burst = 0;
    for (int i = digitCount_ - 1; i >= 0; --i) {
        const auto& digit = digits_[std::size_t(i)];
        burst = burst * digit.size + value[std::size_t(digit.field)] / digit.weight % digit.size;
    }
    return burst;
}

std::int64_t DramAddressMap::burstOfChannel(int channel, std::int64_t ordinal) const {
    return (ordinal / belowChannel_ * channels_ + channel) * belowChannel_ + ordinal % belowChannel_;
}

std::int64_t DramAddressMap::ordinalsBefore(int channel, std::int64_t burst) const {
    const std::int64_t period = belowChannel_ * channels_;
    const std::int64_t rest = burst % period - channel * belowChannel_;
    return burst / period * belowChannel_ + (rest < 0 ? 0 : rest > belowChannel_ ? belowChannel_ : rest);
}

std::int64_t DramAddressMap::countOfChannel(int channel, std::int64_t first, std::int64_t count) const {
    return ordinalsBefore(channel, first + count) - ordinalsBefore(channel, first);
}

}  // namespace orrery
