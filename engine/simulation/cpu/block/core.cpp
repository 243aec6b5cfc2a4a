#include "simulation/cpu/block/core.h"

#include "base/text/csv_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace orrery::block {

namespace {

using Kind = OperandKind;

// The number that the text begins with: "0.50/0.53" is 0.5.
double leading(std::string_view text, double otherwise) {
    double value = otherwise;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end != text.data() ? value : otherwise;
}

// Single letters after `p` are ports of their own: "p015", "p78", "pA"; with a prefix of several letters, "FP01".
std::uint16_t maskOf(std::string_view word, const std::vector<std::string>& names) {
    std::size_t letters = 0;
    while (letters < word.size() && std::isalpha(static_cast<unsigned char>(word[letters])) && letters < 4) ++letters;
    std::uint16_t mask = 0;
    const std::string prefix(word.substr(0, letters));
    for (const char c : word.substr(letters)) {
        const auto at = std::find(names.begin(), names.end(), prefix + c);
        if (at == names.end()) return 0;
        mask = static_cast<std::uint16_t>(mask | 1u << (at - names.begin()));
    }
    return mask;
}

bool readPorts(std::string_view text, const std::vector<std::string>& names, std::vector<PortUse>& ports) {
    while (!text.empty()) {
        const auto plus = text.find('+');
        const auto part = text.substr(0, plus);
        const auto star = part.find('*');
        if (star == std::string_view::npos) return false;
        const double count = leading(part.substr(0, star), -1);
        const std::uint16_t mask = maskOf(part.substr(star + 1), names);
        if (count < 0 || !mask) return false;
        ports.push_back({mask, count});
        text = plus == std::string_view::npos ? std::string_view{} : text.substr(plus + 1);
    }
    return true;
}

int endOf(std::string_view word) {
    if (word.starts_with("REG") && word.size() == 4) return word[3] - '0';
    if (word == "MEM0.addr" || word == "AGEN.addr") return AddressBase;
    if (word == "MEM0.addrI" || word == "AGEN.addrI") return AddressIndex;
    if (word == "MEM0.mem" || word == "MEM0") return StoredData;
    return -1;
}

void readLatencies(std::string_view text, Form& form) {
    while (!text.empty()) {
        const auto blank = text.find(' ');
        const auto part = text.substr(0, blank);
        const auto arrow = part.find('>'), colon = part.rfind(':');
        if (arrow != std::string_view::npos && colon != std::string_view::npos && arrow < colon) {
            const int from = endOf(part.substr(0, arrow)), to = endOf(part.substr(arrow + 1, colon - arrow - 1));
            if (from >= 0 && to >= 0) {
                form.latencies.push_back({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
                                          static_cast<float>(leading(part.substr(colon + 1), 1))});
            }
        }
        text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
    }
    form.latenciesStated = !form.latencies.empty();
}

// Kinds to look under next, in order, when a form has no row of its own.
std::array<Kind, 4> kinOf(Kind kind) {
    switch (kind) {
        case Kind::Zero:
            return {Kind::I8, Kind::I32, Kind::I16};
        case Kind::One:
            return {Kind::I8};
        case Kind::I8:
            return {Kind::I32, Kind::I16};
        case Kind::I16:
        case Kind::I64:
            return {Kind::I32, Kind::I8};
        case Kind::I32:
            return {Kind::I8, Kind::I64};
        case Kind::CL:
        case Kind::AL:
            return {Kind::R8l};
        case Kind::R8h:
            return {Kind::R8l};
        case Kind::AX:
            return {Kind::R16};
        case Kind::EAX:
            return {Kind::R32};
        case Kind::RAX:
            return {Kind::R64};
        case Kind::R8l:
            return {Kind::R32};
        case Kind::R16:
            return {Kind::R32, Kind::R64};
        case Kind::R32:
            return {Kind::R64, Kind::R8l};
        case Kind::R64:
            return {Kind::R32};
        case Kind::M8:
            return {Kind::M16, Kind::M32, Kind::M64};
        case Kind::M16:
            return {Kind::M32, Kind::M64, Kind::M8};
        case Kind::M32:
            return {Kind::M64, Kind::M128, Kind::M16};
        case Kind::M64:
            return {Kind::M32, Kind::M128, Kind::MOther};
        case Kind::M128:
            return {Kind::M64, Kind::M256, Kind::M32};
        case Kind::M256:
            return {Kind::M128};
        case Kind::MOther:
            return {Kind::M512, Kind::M64, Kind::M128};
        case Kind::M512:
            return {Kind::MOther};
        case Kind::A_B_D8:
            return {Kind::A_B_D32};
        case Kind::A_B_D32:
            return {Kind::A_B_D8};
        case Kind::A_D8:
            return {Kind::A_D32};
        case Kind::A_R_D32:
            return {Kind::A_R, Kind::A_R_D8, Kind::A_D32};
        default:
            return {};
    }
}

}  // namespace

const Latency* Form::find(std::uint8_t from, std::uint8_t to) const {
    for (const auto& one : latencies) {
        if (one.from == from && one.to == to) return &one;
    }
    return nullptr;
}

const Form* Core::find(const FormKey& key) const {
    const auto look = [&](const FormKey& wanted) -> const Form* {
        const auto found = byKey.find(wanted.packed());
        return found == byKey.end() ? nullptr : &forms[static_cast<std::size_t>(found->second)];
    };
    if (const Form* exact = look(key)) return exact;
    // One kind exchanged, then two.
    for (std::size_t i = 0; i < key.kinds.size(); ++i) {
        for (const Kind kind : kinOf(key.kinds[i])) {
            if (kind == Kind::None) break;
            FormKey other = key;
            other.kinds[i] = kind;
            if (const Form* kin = look(other)) return kin;
        }
    }
    for (std::size_t i = 0; i < key.kinds.size(); ++i) {
        for (const Kind first : kinOf(key.kinds[i])) {
            if (first == Kind::None) break;
            for (std::size_t j = i + 1; j < key.kinds.size(); ++j) {
                for (const Kind second : kinOf(key.kinds[j])) {
                    if (second == Kind::None) break;
                    FormKey other = key;
                    other.kinds[i] = first;
                    other.kinds[j] = second;
                    if (const Form* kin = look(other)) return kin;
                }
            }
        }
    }
    if (key.prefix) {
        FormKey other = key;
        other.prefix = 0;
        return find(other);
    }
    return nullptr;
}

Expected<void> readPortTable(const std::string& path, Core& core) {
    auto stream = CsvStream::open(path);
    if (!stream) return tl::unexpected(stream.error());
    if (const auto first = stream->next(); !first || !*first) {
        if (!first) return tl::unexpected(first.error());
        return fail("block.table", "the port table is empty", "columns instruction and ports", {}, {.file = path});
    }
    std::array<int, 9> at;
    at.fill(-1);
    static constexpr std::array<std::string_view, 9> names{"instruction",     "ports",        "uops",
                                                           "retire_slots",    "uops_decoded", "uops_microcode",
                                                           "complex_decoder", "throughput",   "latency"};
    const auto head = stream->cells();
    for (std::size_t i = 0; i < head.size(); ++i) {
        for (std::size_t n = 0; n < names.size(); ++n) {
            if (head[i] == names[n]) at[n] = static_cast<int>(i);
        }
    }
    if (at[0] < 0 || at[1] < 0) {
        return fail("block.table", "the port table lacks a column", "columns instruction and ports",
                    "the columns of a table from uops.info", {.file = path, .line = stream->line()});
    }
    core.forms.clear();
    core.byKey.clear();
    for (;;) {
        const auto more = stream->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) break;
        const auto cells = stream->cells();
        const auto cell = [&](std::size_t n) {
            return at[n] >= 0 && static_cast<std::size_t>(at[n]) < cells.size() ? cells[static_cast<std::size_t>(at[n])]
                                                                                : std::string_view{};
        };
        FormKey key;
        if (!readForm(cell(0), key)) continue;
        Form form;
        form.name = std::string(cell(0));
        if (!readPorts(cell(1), core.rules.portNames, form.ports)) {
            return fail("block.ports", fmt::format("`{}` are no ports of {}", cell(1), core.rules.title),
                        fmt::format("such as 1*{}", core.rules.portNames.empty() ? "p0" : core.rules.portNames.front()),
                        "is the table one of this core?", {.file = path, .line = stream->line()});
        }
        form.uops = leading(cell(2), 1);
        form.fusedSlots = std::max(leading(cell(3), form.uops), 0.0);
        form.decoded = leading(cell(4), form.fusedSlots);
        form.microcode = leading(cell(5), 0);
        form.complexDecoder = cell(6) == "1" || form.decoded > 1;
        readLatencies(cell(8), form);
        // The first row of a key stands: suffixes name other encodings of the same.
        if (core.byKey.emplace(key.packed(), static_cast<int>(core.forms.size())).second)
            core.forms.push_back(std::move(form));
    }
    if (core.forms.empty()) {
        return fail("block.table", "the port table has no row that names an instruction form", "such as ADD (R64, R64)",
                    {}, {.file = path});
    }
    return {};
}

}  // namespace orrery::block
