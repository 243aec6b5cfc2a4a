#include "base/text/nearest.h"
#include "simulation/systolic/scalesim_files.h"
#include "simulation/systolic/scalesim_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::systolic {

namespace {

struct Entry {
    std::string_view value;
    int line = 0;
};
using Section = std::map<std::string, Entry, std::less<>>;
using Sections = std::map<std::string, Section, std::less<>>;

// Section and key of everything that is known; those that are only tolerated say why.
struct Known {
    std::string_view section, key, ignored;
};
constexpr Known known[] = {
    {"general", "run_name", {}},
    {"architecture_presets", "arrayheight", {}},
    {"architecture_presets", "arraywidth", {}},
    {"architecture_presets", "ifmapsramszkb", {}},
    {"architecture_presets", "filtersramszkb", {}},
    {"architecture_presets", "ofmapsramszkb", {}},
    {"architecture_presets", "ifmapoffset", {}},
    {"architecture_presets", "filteroffset", {}},
    {"architecture_presets", "ofmapoffset", {}},
    {"architecture_presets", "bandwidth", {}},
    {"architecture_presets", "dataflow", {}},
    {"architecture_presets", "memorybanks", {}},
    {"architecture_presets", "readrequestbuffer", "request queues belong to traces of an outer DRAM simulator"},
    {"architecture_presets", "writerequestbuffer", "request queues belong to traces of an outer DRAM simulator"},
    {"layout", "ifmapcustomlayout", {}},
    {"layout", "filtercustomlayout", {}},
    {"layout", "ifmapsrambankbandwidth", {}},
    {"layout", "filtersrambankbandwidth", {}},
    {"layout", "ifmapsrambanknum", {}},
    {"layout", "ifmapsrambankport", {}},
    {"layout", "filtersrambanknum", {}},
    {"layout", "filtersrambankport", {}},
    {"sparsity", "sparsitysupport", {}},
    {"sparsity", "sparserep", {}},
    {"sparsity", "optimizedmapping", {}},
    {"sparsity", "blocksize", {}},
    {"sparsity", "randomnumbergeneratorseed", {}},
    {"run_presets", "interfacebandwidth", {}},
    {"run_presets", "useramulatortrace", {}},
    {"network_presets", "topologycsvloc", "the topology is given beside the configuration"},
};

Expected<Sections> parseSections(std::string_view text, const std::string& file) {
    Sections sections;
    Section* section = nullptr;
    int number = 0;
    for (std::string_view line : splitTrimmed(text, '\n')) {
        ++number;
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        const Place place{.file = file, .line = number};
        if (line.front() == '[') {
            if (line.back() != ']') {
                return fail("scalesim.syntax", fmt::format("the section's name `{}` is not closed", line), "[name]",
                            "add the closing bracket", place);
            }
            section = &sections[std::string(trimmed(line.substr(1, line.size() - 2)))];
            continue;
        }
        const std::size_t at = line.find_first_of(":=");
        if (at == std::string_view::npos || section == nullptr) {
            return fail("scalesim.syntax",
                        section ? fmt::format("`{}` has no value", line) : "a value stands before the first section",
                        "key : value below a [section]", {}, place);
        }
        const std::string key = lower(trimmed(line.substr(0, at)));
        if (!section->try_emplace(key, Entry{trimmed(line.substr(at + 1)), number}).second) {
            return fail("scalesim.repeated", fmt::format("`{}` is given twice in its section", key), "one value",
                        "remove one of them", place);
        }
    }
    return sections;
}

class Reader {
public:
    Reader(const Sections& sections, const std::string& file) : sections_(sections), file_(file) {}

    const Entry* find(std::string_view section, std::string_view key) const {
        const auto in = sections_.find(section);
        if (in == sections_.end()) return nullptr;
        const auto found = in->second.find(key);
        return found == in->second.end() ? nullptr : &found->second;
    }
    bool has(std::string_view section) const { return sections_.find(section) != sections_.end(); }
    Place place(const Entry& entry, std::string_view key) const {
        return {.file = file_, .line = entry.line, .path = std::string(key)};
    }
    Expected<Entry> text(std::string_view section, std::string_view key) const {
        if (const Entry* entry = find(section, key)) return *entry;
        return fail("scalesim.missing", fmt::format("`{}` is missing", key),
                    fmt::format("`{} : value` in the section [{}]", key, section), "copy the line from a stock file",
                    {.file = file_, .path = std::string(section)});
    }
    Expected<void> number(std::string_view section, std::string_view key, std::int64_t least, std::int64_t most,
                          std::int64_t& out) const {
        const auto entry = text(section, key);
        if (!entry) return tl::unexpected(entry.error());
        return number(*entry, key, least, most, out);
    }
    Expected<void> number(const Entry& entry, std::string_view key, std::int64_t least, std::int64_t most,
                          std::int64_t& out) const {
        const auto value = wholeIn(entry.value);
        if (!value || *value < least || *value > most) {
            return fail("scalesim.value", fmt::format("`{}` is `{}`", key, entry.value),
                        fmt::format("a whole number from {} to {}", least, most), {}, place(entry, key));
        }
        out = *value;
        return {};
    }
    Expected<bool> truth(std::string_view section, std::string_view key) const {
        const Entry* entry = find(section, key);
        if (!entry) return false;
        const std::string value = lower(entry->value);
        if (value == "true" || value == "yes" || value == "on" || value == "1") return true;
        if (value == "false" || value == "no" || value == "off" || value == "0") return false;
        return fail("scalesim.value", fmt::format("`{}` is `{}`", key, entry->value), "true or false", {},
                    place(*entry, key));
    }
    Diagnostics unknownKeys() const {
        Diagnostics out;
        for (const auto& [name, section] : sections_) {
            std::vector<std::string> keys;
            for (const Known& one : known) {
                if (one.section == name) keys.emplace_back(one.key);
            }
            for (const auto& [key, entry] : section) {
                const auto* found = std::find_if(std::begin(known), std::end(known), [&](const Known& one) {
                    return one.section == name && one.key == key;
                });
                if (found == std::end(known)) {
                    out.push_back(warning("scalesim.unknown-key", fmt::format("`{}` in [{}] is not known", key, name),
                                          didYouMean(key, keys), place(entry, key)));
                } else if (!found->ignored.empty()) {
                    out.push_back(warning("scalesim.ignored", fmt::format("`{}` changes nothing", key),
                                          std::string(found->ignored), place(entry, key)));
                }
            }
        }
        return out;
    }

private:
    const Sections& sections_;
    const std::string& file_;
};

constexpr std::string_view architecture = "architecture_presets";

Expected<void> readBandwidth(const Reader& reader, Array& array, Diagnostics& warnings) {
    const auto mode = reader.text("run_presets", "interfacebandwidth");
    if (!mode) return tl::unexpected(mode.error());
    if (mode->value != "CALC" && mode->value != "USER") {
        return fail("scalesim.value", fmt::format("`InterfaceBandwidth` is `{}`", mode->value), "CALC or USER", {},
                    reader.place(*mode, "interfacebandwidth"));
    }
    array.idealBandwidth = mode->value == "CALC";
    if (array.idealBandwidth) return {};
    const auto bandwidth = reader.text(architecture, "bandwidth");
    if (!bandwidth) return tl::unexpected(bandwidth.error());
    // A list has one entry per memory bank; the tool uses the first.
    const Entry first{splitTrimmed(bandwidth->value, ',').front(), bandwidth->line};
    if (auto good = reader.number(first, "bandwidth", 1, 1 << 30, array.ofmapBandwidth); !good) return good;
    array.ifmapBandwidth = array.filterBandwidth = array.ofmapBandwidth;
    if (!reader.has("layout")) {
        warnings.push_back(warning("scalesim.ignored", "there is no section [layout]",
                                   fmt::format("inputs and filters are read at the {} words per cycle of `Bandwidth`; "
                                               "SCALE-Sim 3 reads them at 10 then",
                                               array.ofmapBandwidth),
                                   reader.place(first, "bandwidth")));
        return {};
    }
    for (const auto& [key, target] : {std::pair{"ifmapsrambankbandwidth", &array.ifmapBandwidth},
                                      std::pair{"filtersrambankbandwidth", &array.filterBandwidth}}) {
        if (!reader.find("layout", key)) continue;
        if (auto good = reader.number("layout", key, 1, 1 << 30, *target); !good) return good;
    }
    return {};
}

Expected<void> readBanks(const Reader& reader, const std::string& operand, std::int64_t bandwidth, const Array& array,
                         std::optional<Banks>& banks, Diagnostics& warnings) {
    const std::string wanted = operand + "customlayout", number = operand + "srambanknum",
                      port = operand + "srambankport";
    const auto custom = reader.truth("layout", wanted);
    if (!custom) return tl::unexpected(custom.error());
    if (!*custom) return {};
    const Place place = reader.place(*reader.find("layout", wanted), wanted);
    if (array.idealBandwidth) {
        warnings.push_back(warning("scalesim.ignored", fmt::format("`{}` changes nothing", wanted),
                                   "SRAM banks count with InterfaceBandwidth : USER only", place));
        return {};
    }
    Banks read;
    if (auto good = reader.number("layout", number, 1, 1 << 20, read.count); !good) return good;
    if (auto good = reader.number("layout", port, 1, 1 << 20, read.ports); !good) return good;
    if (bandwidth % read.count != 0) {
        return fail("scalesim.value", fmt::format("{} banks do not share {} words per cycle", read.count, bandwidth),
                    "a number of banks that divides the bandwidth of the SRAM", {},
                    reader.place(*reader.find("layout", number), number));
    }
    banks = read;
    return {};
}

Expected<void> readSparsity(const Reader& reader, Array& array) {
    const auto sparse = reader.truth("sparsity", "sparsitysupport");
    if (!sparse) return tl::unexpected(sparse.error());
    array.sparse = *sparse;
    if (!array.sparse) return {};
    const auto optimized = reader.truth("sparsity", "optimizedmapping");
    if (!optimized) return tl::unexpected(optimized.error());
    if (*optimized) {
        return fail("scalesim.unsupported", "`OptimizedMapping` draws a random N per column",
                    "OptimizedMapping : false", "give N:M per layer in the topology",
                    reader.place(*reader.find("sparsity", "optimizedmapping"), "optimizedmapping"));
    }
    const auto form = reader.text("sparsity", "sparserep");
    if (!form) return tl::unexpected(form.error());
    for (const SparseFormat one : {SparseFormat::EllpackBlock, SparseFormat::Csr, SparseFormat::Csc}) {
        if (form->value != toText(one)) continue;
        array.sparseFormat = one;
        return {};
    }
    return fail("scalesim.value", fmt::format("`SparseRep` is `{}`", form->value), "ellpack_block, csr or csc", {},
                reader.place(*form, "sparserep"));
}

Expected<void> refuse(const Reader& reader, std::string_view section, std::string_view key, std::string why) {
    const auto value = reader.truth(section, key);
    if (!value) return tl::unexpected(value.error());
    if (!*value) return {};
    return fail("scalesim.unsupported", fmt::format("`{}` is true", key), fmt::format("{} : false", key),
                std::move(why), reader.place(*reader.find(section, key), key));
}

}  // namespace

Expected<ScaleSimConfig> parseScaleSimConfig(std::string_view text, const std::string& file) {
    const auto sections = parseSections(text, file);
    if (!sections) return tl::unexpected(sections.error());
    const Reader reader(*sections, file);
    ScaleSimConfig config;
    Array& array = config.array;
    array.waitsCountTwice = true;
    if (const Entry* name = reader.find("general", "run_name")) config.runName = std::string(name->value);
    array.name = config.runName.empty() ? "array" : config.runName;

    std::int64_t kilobytes[3] = {};
    struct Field {
        std::string_view key;
        std::int64_t most;
        std::int64_t* target;
    };
    const Field fields[] = {{"arrayheight", 1 << 14, &array.rows},
                            {"arraywidth", 1 << 14, &array.cols},
                            {"ifmapsramszkb", 1 << 30, &kilobytes[0]},
                            {"filtersramszkb", 1 << 30, &kilobytes[1]},
                            {"ofmapsramszkb", 1 << 30, &kilobytes[2]}};
    for (const Field& field : fields) {
        if (auto good = reader.number(architecture, field.key, 1, field.most, *field.target); !good)
            return tl::unexpected(good.error());
    }
    array.ifmapWords = kilobytes[0] * 1024;
    array.filterWords = kilobytes[1] * 1024;
    array.ofmapWords = kilobytes[2] * 1024;
    for (const std::string_view key : {"ifmapoffset", "filteroffset", "ofmapoffset", "memorybanks"}) {
        std::int64_t unused = 0;
        if (!reader.find(architecture, key)) continue;
        if (auto good = reader.number(architecture, key, 0, std::int64_t{1} << 40, unused); !good)
            return tl::unexpected(good.error());
    }

    const auto dataflow = reader.text(architecture, "dataflow");
    if (!dataflow) return tl::unexpected(dataflow.error());
    const auto known = orrery::dataflow(dataflow->value);
    if (!known || dataflow->value != abbreviation(*known) || *known == Dataflow::RowStationary) {
        return fail("scalesim.value", fmt::format("`Dataflow` is `{}`", dataflow->value), "os, ws or is", {},
                    reader.place(*dataflow, "dataflow"));
    }
    array.dataflow = *known;
    config.warnings = reader.unknownKeys();
    if (auto good = readBandwidth(reader, array, config.warnings); !good) return tl::unexpected(good.error());
    if (auto good = readSparsity(reader, array); !good) return tl::unexpected(good.error());
    if (auto good = readBanks(reader, "ifmap", array.ifmapBandwidth, array, array.ifmapBanks, config.warnings); !good)
        return tl::unexpected(good.error());
    if (auto good = readBanks(reader, "filter", array.filterBandwidth, array, array.filterBanks, config.warnings);
        !good)
        return tl::unexpected(good.error());
    if (auto good =
            refuse(reader, "run_presets", "useramulatortrace", "give InterfaceBandwidth : USER and a Bandwidth");
        !good)
        return tl::unexpected(good.error());
    return config;
}

Expected<ScaleSimConfig> readScaleSimConfig(const std::string& file) {
    const auto text = readScaleSimText(file);
    if (!text) return tl::unexpected(text.error());
    return parseScaleSimConfig(*text, file);
}

}  // namespace orrery::systolic
