#include "hardware/files/catalogue.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// `key: value` lines until `sources` or `system`: the whole file need not be read to list it.
CatalogueEntry headOf(const fs::path& file) {
    CatalogueEntry entry{file.stem().string(), file.stem().string(), {}, {}, file.string()};
    std::ifstream stream(file);
    std::string head, line;
    while (head.size() < 8192 && std::getline(stream, line)) {
        if (line.starts_with("sources:") || line.starts_with("system:")) break;
        head += line + "\n";
    }
    const auto tree = parseYaml(head);
    if (!tree) return entry;
    const auto read = [&tree](std::string_view key, std::string& into) {
        if (const YamlNode* node = tree->find(key); node && node->isScalar()) into = node->scalar;
    };
    read("name", entry.name);
    read("group", entry.group);
    read("description", entry.description);
    return entry;
}

}  // namespace

std::vector<CatalogueEntry> hardwareCatalogue() {
    std::vector<CatalogueEntry> entries;
    std::error_code error;
    const fs::path folder = fs::path(presetsFolder()) / "hardware";
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".yaml") entries.push_back(headOf(it->path()));
    }
    std::sort(entries.begin(), entries.end(), [](const CatalogueEntry& a, const CatalogueEntry& b) {
        return std::tie(a.group, a.name, a.id) < std::tie(b.group, b.name, b.id);
    });
    return entries;
}

Expected<LoadedHardware> loadHardware(std::string_view idOrFile) {
    std::error_code ignored;
    const std::string wanted(idOrFile);
    // The usual case, a preset's id, must not read the whole catalogue.
    const fs::path preset = fs::path(presetsFolder()) / "hardware" / (wanted + ".yaml");
    if (wanted.find('/') == std::string::npos && !wanted.empty() && fs::is_regular_file(preset, ignored)) {
        return readHardwareFile(preset.string());
    }
    if (fs::is_regular_file(wanted, ignored)) return readHardwareFile(wanted);
    const auto entries = hardwareCatalogue();
    for (const CatalogueEntry& entry : entries) {
        if (lower(entry.id) == lower(wanted) || lower(entry.name) == lower(wanted)) return readHardwareFile(entry.file);
    }
    std::vector<std::string> ids, names;
    for (const CatalogueEntry& entry : entries) {
        ids.push_back(entry.id);
        names.push_back(entry.name);
    }
    const auto close = nearest(wanted, ids);
    std::string hint = close.empty() ? didYouMean(wanted, names) : "did you mean " + quotedList(close, "or") + "?";
    if (hint.empty()) hint = "`orrery-cli hardware` lists the presets";
    return fail("hardware.not-found", fmt::format("there is no preset and no file `{}`", wanted),
                "a preset's id such as `h100-sxm`, or a file", std::move(hint));
}

}  // namespace orrery
