#include "simulation/cpu/block/code.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>

namespace orrery::block {

namespace {

using Kind = OperandKind;

constexpr std::array<std::string_view, static_cast<std::size_t>(Kind::Other) + 1> kindNames{
    "",      "R8l",    "R8h",    "R16",     "R32",      "R64",      "MM",   "XMM",   "YMM",   "ZMM",
    "K",     "M8",     "M16",    "M32",     "M64",      "M80",      "M128", "M256",  "M512",  "MOther",
    "I8",    "I16",    "I32",    "I64",     "0",        "1",        "CL",   "AL",    "AX",    "EAX",
    "RAX",   "ST",     "SEG",    "Rel",     "VSIB_XMM", "VSIB_YMM", "R",    "R_D8",  "R_D32", "B",
    "I",     "IS",     "D8",     "D32",     "B_I",      "B_IS",     "B_D8", "B_D32", "I_D8",  "IS_D8",
    "I_D32", "IS_D32", "B_I_D8", "B_IS_D8", "B_I_D32",  "B_IS_D32", "Other"};

const std::unordered_map<std::string, std::uint16_t>& mnemonics() {
    static const std::unordered_map<std::string, std::uint16_t> all = [] {
        std::unordered_map<std::string, std::uint16_t> made;
        for (int i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i) {
            std::string name = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i));
            for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            made.emplace(std::move(name), static_cast<std::uint16_t>(i));
        }
        return made;
    }();
    return all;
}

Kind kindOf(std::string_view word) {
    if (word == "FS" || word == "GS") return Kind::SEG;
    if (word.starts_with("Rel")) return Kind::Rel;
    if (word == "R8") return Kind::R8l;
    for (std::size_t i = 1; i < kindNames.size(); ++i) {
        if (kindNames[i] == word) return static_cast<Kind>(i);
    }
    return word.starts_with("M") ? Kind::MOther : Kind::Other;
}

// Names of uops.info that are two instructions of one mnemonic, or the other way round.
std::string_view renamed(std::string_view name) {
    static const std::unordered_map<std::string_view, std::string_view> other{
        {"MOVSD_XMM", "MOVSD"}, {"CMPSD_XMM", "CMPSD"},    {"CALL_NEAR", "CALL"},
        {"RET_NEAR", "RET"},    {"PEXTRW_SSE4", "PEXTRW"}, {"CMPXCHG16B", "CMPXCHG16B"}};
    const auto found = other.find(name);
    return found == other.end() ? name : found->second;
}

}  // namespace

std::uint64_t FormKey::packed() const {
    std::uint64_t all = mnemonic;
    all = all << 2 | prefix;
    for (const Kind kind : kinds) all = all << 6 | static_cast<std::uint64_t>(kind);
    return all;
}

std::string toText(const FormKey& key) {
    std::string name = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(key.mnemonic));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    static constexpr std::array<std::string_view, 4> prefixes{"", "_LOCK", "_REPE", "_REPNE"};
    name += prefixes[key.prefix & 3];
    std::string list;
    for (const Kind kind : key.kinds) {
        if (kind == Kind::None) break;
        const auto word = kindNames[static_cast<std::size_t>(kind)];
        if (kind >= Kind::A_R && kind <= Kind::A_B_IS_D32) {
            name += '_';
            name += word;
            continue;
        }
        if (!list.empty()) list += ", ";
        list += word;
    }
    return list.empty() ? name : fmt::format("{} ({})", name, list);
}

bool readForm(std::string_view text, FormKey& key) {
    key = {};
    const auto open = text.find(" (");
    std::string_view name = text.substr(0, open);
    if (name.ends_with("_LOCK")) key.prefix = 1, name.remove_suffix(5);
    if (name.ends_with("_REPNE")) key.prefix = 3, name.remove_suffix(6);
    if (name.ends_with("_REPE")) key.prefix = 2, name.remove_suffix(5);
    Kind address = Kind::None;
    if (name.starts_with("LEA_")) {
        address = kindOf(name.substr(4));
        name = "LEA";
    }
    const auto& known = mnemonics();
    auto found = known.find(std::string(renamed(name)));
    while (found == known.end()) {
        const auto cut = name.rfind('_');
        if (cut == std::string_view::npos) return false;
        // Forms with masks or rounding are others than the plain one.
        const auto suffix = name.substr(cut);
        if (suffix == "_EVEX" || suffix == "_ER" || suffix == "_SAE") return false;
        name = name.substr(0, cut);
        found = known.find(std::string(renamed(name)));
    }
    key.mnemonic = found->second;
    std::size_t count = 0;
    if (open != std::string_view::npos) {
        std::string_view list = text.substr(open + 2);
        if (list.ends_with(')')) list.remove_suffix(1);
        while (!list.empty()) {
            const auto comma = list.find(", ");
            const auto word = list.substr(0, comma);
            if (count >= key.kinds.size()) return false;
            key.kinds[count++] = kindOf(word);
            list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 2);
        }
    }
    if (address != Kind::None) {
        if (count >= key.kinds.size()) return false;
        key.kinds[count] = address;
    }
    return true;
}

}  // namespace orrery::block
